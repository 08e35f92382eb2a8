"""A gate on means: each must be at least so good."""

import math
from collections.abc import Sequence

from steelyard.questions.estimates import Estimate
from steelyard.questions.pairs import Answer

__all__ = ["least_answer"]

# More judgments than this many times those at hand are no forecast.
_FAR = 25


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
                more = _more(one, least) if kind == "undecided" else ""
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


def _more(one: Estimate, least: float) -> str:
    """Say how many more judgments would decide, if the mean stays as it is."""
    gap, reach = abs(one.estimate - least), (one.high - one.low) / 2
    if gap <= 0 or reach / gap > math.sqrt(_FAR):
        return "; it is so near that no number of judgments can be named"
    more = max(math.ceil(one.n_judgments * ((reach / gap) ** 2 - 1)), 1)
    return f"; about {more:,} more judgments of it would decide"
