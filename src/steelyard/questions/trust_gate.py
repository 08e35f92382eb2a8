"""A gate on a metric or judge: is it worth enough, and does it favour no system by too much."""

from collections.abc import Iterator, Sequence

from steelyard.questions.diagnosis import Diagnosis, JudgeDiagnosis
from steelyard.questions.judge_moments import Value
from steelyard.questions.more import more_by_the_root
from steelyard.questions.pairs import Answer

__all__ = ["trust_answer"]


def trust_answer(
    found: Sequence[Diagnosis], *, worth: float | None, offset: float | None
) -> tuple[Answer, str]:
    """Return whether all metrics can be trusted, and say so in one line.

    Parameters
    ----------
    found : sequence of Diagnosis
        What `Study.diagnose` gave.
    worth : float or None
        The least share of judgments that a metric must save.
    offset : float or None
        By how much it may favour a system at most, in units of the human scores.

    Returns
    -------
    str, str
        "holds" if every interval lies inside what is asked, "fails" if one lies outside, else "undecided".
    """
    checked = [
        (one, judge, what, value, limit, inside)
        for one in found
        for judge in one.judges
        for what, value, limit, inside in _checks(judge, worth, offset)
    ]
    if not checked:
        return "undecided", "gate is undecided: there is no metric to look at"
    for one, judge, what, value, _, inside in checked:
        if _answer(value, inside) == "fails":
            return (
                "fails",
                f"gate fails: prompt {one.prompt}, {judge.metric}: {_said(what, value)}",
            )
    for one, judge, what, value, limit, inside in checked:
        if _answer(value, inside) == "undecided":
            where = f"prompt {one.prompt}, {judge.metric}: {_said(what, value)}"
            return "undecided", f"gate is undecided: {where}{_more(one, value, limit)}"
    return (
        "holds",
        f"gate holds for {', '.join(dict.fromkeys(j.metric for _, j, *_ in checked))}",
    )


def _checks(
    judge: JudgeDiagnosis, worth: float | None, offset: float | None
) -> Iterator[tuple[str, Value, float, tuple[float, float]]]:
    """Return what is asked of a metric: in words, its value, the limit next to it, and what is allowed."""
    if worth is not None:
        yield "its worth is", judge.worth, worth, (worth, 1.0)
    if offset is None:
        return
    allowed = (-offset, offset)
    for one in judge.offsets:
        if one.offset is not None:
            limit = offset if one.offset.value >= 0 else -offset
            yield f"it favours {one.system} by", one.offset, limit, allowed
    if judge.self_preference is not None:
        limit = offset if judge.self_preference.value >= 0 else -offset
        yield "it favours its own family by", judge.self_preference, limit, allowed


def _answer(value: Value, allowed: tuple[float, float]) -> Answer:
    low, high = allowed
    if not value.is_known:
        return "undecided"
    if low <= value.low and value.high <= high:
        return "holds"
    return "fails" if value.high < low or value.low > high else "undecided"


def _said(what: str, value: Value) -> str:
    if not value.is_known:
        return f"{what} not known"
    return f"{what} {value.value:.2g} [{value.low:.2g}, {value.high:.2g}]"


def _more(one: Diagnosis, value: Value, limit: float) -> str:
    """Say how many more judgments would decide, if the value stays as it is."""
    if not value.is_known:
        return "; judge some outputs twice"
    gap = abs(limit - value.value)
    reach = (value.high - value.low) / 2
    more = more_by_the_root(reach, gap, one.n_judgments)
    if more is None:
        return "; it is so near the limit that no number of judgments can be named"
    return f"; about {more:,} more judgments of all systems would decide"
