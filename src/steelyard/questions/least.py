"""A gate on means: each must be at least so good."""

from collections.abc import Sequence

from steelyard.questions.estimates import Estimate
from steelyard.questions.pairs import Answer

__all__ = ["least_answer"]


def least_answer(
    found: Sequence[Estimate], least: float, *, lower_is_better: frozenset[str] = frozenset()
) -> tuple[Answer, str]:
    """Return whether all means are at least so good, and say so in one line.

    Parameters
    ----------
    found : sequence of Estimate
        What `Study.estimate` gave.
    least : float
        The least mean that will do; the greatest, under a prompt whose lower scores are better.
    lower_is_better : frozenset of str
        Such prompts.

    Returns
    -------
    str, str
        "holds" if every interval lies on the good side, "fails" if one lies on the other, else "undecided".
    """
    answers = [(_answer(one, least, lower_is_better), one) for one in found]
    for kind in ("fails", "undecided"):
        for answer, one in answers:
            if answer == kind:
                name = one.system if one.slice is None else f"{one.system}, {one.slice}"
                where = f"prompt {one.prompt}: {name} {one.estimate:.3g} [{one.low:.3g}, {one.high:.3g}]"
                more = _go_on(one, least) if kind == "undecided" else ""
                verb = "is undecided" if kind == "undecided" else "fails"
                return answer, f"gate at least {least:g} {verb}: {where}{more}"
    return (
        "holds",
        f"gate at least {least:g} holds for {', '.join({one.system: 0 for one in found})}",
    )


def _answer(one: Estimate, least: float, lower_is_better: frozenset[str]) -> Answer:
    low, high = one.low - least, one.high - least
    if one.prompt in lower_is_better:
        low, high = -high, -low
    if low >= 0:
        return "holds"
    return "fails" if high < 0 else "undecided"


def _go_on(one: Estimate, least: float) -> str:
    """Say at which half-width it would be decided, if the mean stays as it is."""
    gap = abs(one.estimate - least)
    if gap == 0:
        return "; the estimate is just there: no interval decides"
    return (
        f"; an interval of \u00b1{gap:.3g} would decide: go on with `steelyard monitor --half-width {gap:.3g}`, which "
        "says how many more judgments that takes"
    )
