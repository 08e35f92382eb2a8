"""What is said of a metric or judge in one sentence, and what holds back."""

from collections.abc import Sequence

from steelyard.questions.diagnosis import JudgeDiagnosis
from steelyard.questions.judge_moments import Value

__all__ = ["holding_back", "judge_sentence"]

# More systems and pairs than this are counted.
_LISTED = 2
# A correlation of the metric with people below this is no ground for gating.
_LOW = 0.5


def judge_sentence(one: JudgeDiagnosis, own: Sequence[str] = ()) -> str:
    """Return what a metric comes to.

    Parameters
    ----------
    one : JudgeDiagnosis
        Its diagnosis, whose own sentence is not looked at.
    own : sequence of str
        The systems of its family, where they are named.
    """
    faults = [*_favourites(one), *_self_preference(one, own), *_columns(one), *_other(one)]
    lead = f"`{one.metric}` " + ("; it ".join(faults) if faults else _no_bias(one))
    parts = [lead, _worth(one)]
    low = one.correlation.is_known and one.correlation.high < _LOW
    if faults or low or not one.correlation.excludes_zero:
        parts.append("do not gate on it alone")
    return "; ".join(parts) + "."


def signed(found: Value) -> str:
    """Return a size with its interval, turned so that it is positive."""
    low, high = sorted((abs(found.low), abs(found.high)))
    return f"{abs(found.value):.2g} [{low:.2g}, {high:.2g}]"


def _favourites(one: JudgeDiagnosis) -> list[str]:
    said = []
    for each in one.favours[:_LISTED]:
        assert each.offset is not None
        does = "favours" if each.offset.value > 0 else "is too strict with"
        said.append(f"{does} {each.system} by {signed(each.offset)}")
    more = len(one.favours) - _LISTED
    if more > 0:
        said.append(f"is off for {more} more system{'s' if more > 1 else ''}")
    return said


def _self_preference(one: JudgeDiagnosis, own: Sequence[str]) -> list[str]:
    found = one.self_preference
    if found is None or not found.excludes_zero:
        return []
    does = "prefers" if found.value > 0 else "is too strict with"
    return [f"{does} its own family ({', '.join(own)}) by {signed(found)}"]


def _columns(one: JudgeDiagnosis) -> list[str]:
    return [
        f"gives {'more' if each.bias.value > 0 else 'less'} for {each.column} than people do, by "
        f"{signed(each.bias)} for a standard deviation"
        for each in one.biases
        if each.is_clear
    ]


def _other(one: JudgeDiagnosis) -> list[str]:
    said = []
    if one.is_compressed and one.scale is not None:
        scale = one.scale
        said.append(
            f"compresses the scale: 1 point among people is {scale.value:.2g} "
            f"[{scale.low:.2g}, {scale.high:.2g}] for it"
        )
    if one.ranks is not None and one.ranks.wrong:
        wrong = one.ranks.wrong
        named = ", ".join(f"{a} over {b}" for a, b in wrong[:_LISTED])
        more = f" and {len(wrong) - _LISTED} more" if len(wrong) > _LISTED else ""
        said.append(f"ranks systems wrongly: people clearly prefer {named}{more}")
    return said


def _no_bias(one: JudgeDiagnosis) -> str:
    if not one.correlation.excludes_zero:
        found = one.correlation
        ends = f"[{found.low:.2g}, {found.high:.2g}]"
        return f"does not clearly go with the human scores (correlation {found.value:.2g} {ends})"
    known = [
        each.offset for each in one.offsets if each.offset is not None and each.offset.is_known
    ]
    if not known:
        return "shows no bias"
    most = max(max(abs(each.low), abs(each.high)) for each in known)
    return f"shows no bias; it may still favour a system by up to {most:.2g}"


def _worth(one: JudgeDiagnosis) -> str:
    if not one.worth.is_known:
        return "what it is worth is not known"
    if one.worth.value < 0.005:
        return f"it is worth nothing (at most {one.worth.high:.0%} of your judgments)"
    ends = f"[{one.worth.low:.0%}, {one.worth.high:.0%}]"
    return f"it is worth {one.worth.value:.0%} {ends} of your judgments"


def holding_back(best: JudgeDiagnosis | None, *, has_noise: bool) -> str:
    """Say whether the metric or the raters hold back, from what would be saved without either."""
    if not has_noise:
        return (
            "What holds you back is not known: have about a fifth of the outputs judged by a second rater, "
            "which shows how much raters differ."
        )
    if best is None:
        return "There is no metric: any that goes with the human scores would save judgments."
    perfect, noiseless = best.perfect, best.noiseless
    figures = (
        f"a perfect metric would save {perfect.value:.0%} of your judgments, raters who always agree "
        f"{noiseless.value:.0%} with {best.metric}, which saves {best.worth.value:.0%} now"
    )
    if perfect.low > noiseless.value and perfect.value > noiseless.high:
        return f"The metric holds you back more than the raters: {figures}."
    if noiseless.low > perfect.value and noiseless.value > perfect.high:
        return f"The raters hold you back more than the metric: {figures}."
    return f"Neither the metric nor the raters clearly hold you back more: {figures}."
