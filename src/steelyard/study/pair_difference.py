"""A difference of the estimators of pairs with its names and its verdict."""

from collections.abc import Sequence
from typing import Literal

from steelyard.estimate.differences import Difference
from steelyard.questions.pairs import PairDifference, more_judgments, verdict_of

__all__ = ["better_of", "named_difference"]


def named_difference(
    one: Difference, names: Sequence[str], margin: float | None, level: float
) -> PairDifference:
    """Give a difference its names and its verdict."""
    better = better_of(one.difference, one.p_value, level)
    verdict = verdict_of(one.simultaneous_low, one.simultaneous_high, margin, better)
    return PairDifference(
        a=names[one.a],
        b=names[one.b],
        difference=one.difference,
        standard_error=one.standard_error,
        low=one.low,
        high=one.high,
        simultaneous_low=one.simultaneous_low,
        simultaneous_high=one.simultaneous_high,
        p_value=one.p_value,
        verdict=verdict,
        n_items=one.n_items,
        identical_items=one.identical_items,
        n_judgments=one.n_judgments,
        more_judgments=_more(one, margin) if verdict == "undecided" else 0,
    )


def better_of(difference: float, p_value: float, level: float) -> Literal["a", "b"] | None:
    """Return which system is better, if the p-value says that they differ."""
    # 1 - level is rounded: a p-value of 0.05 is clear at 0.95.
    if difference == 0 or p_value > (1 - level) * (1 + 1e-9):
        return None
    return "a" if difference > 0 else "b"


def _more(one: Difference, margin: float | None) -> int | None:
    """Return how many more judgments would decide, if all stays as it is; None if far too many."""
    gap = abs(one.difference)
    needed = [more_judgments(one.deciding_reach, gap, one.n_judgments)]
    if margin is not None:
        reach = one.simultaneous_high - one.difference
        needed.append(more_judgments(reach, margin - gap, one.n_judgments))
    return min((one for one in needed if one is not None), default=None)
