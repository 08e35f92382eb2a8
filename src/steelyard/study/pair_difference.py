"""The difference of two systems with its verdict, and what a gate makes of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from steelyard.estimate.differences import Difference
from steelyard.estimate.ledger import Ledger

__all__ = [
    "Answer",
    "Gate",
    "PairDifference",
    "Verdict",
    "better_of",
    "gate_more",
    "named_difference",
    "verdict_of",
]

Verdict = Literal["a", "b", "equivalent", "undecided"]
Gate = Literal["better", "not-worse", "equivalent"]
Answer = Literal["holds", "fails", "undecided"]

# More judgments than this many times those at hand are no forecast.
_FAR = 25


@dataclass(frozen=True, kw_only=True)
class PairDifference:
    """The mean human score of system `a` minus that of system `b`.

    Attributes
    ----------
    a, b : str
        The systems.
    difference, standard_error, low, high : float
        The estimate with its interval.
    simultaneous_low, simultaneous_high : float
        The interval that holds together with those of all pairs.
    p_value : float
        Of no difference, corrected for all pairs, by steps from the clearest pair down.
    verdict : {"a", "b", "equivalent", "undecided"}
        Which is better, whether they are equivalent within the margin, or that it is not known yet.
    n_items, identical_items : int
        Items judged for both on which they differ, and items with identical outputs, which differ
        by exactly zero.
    n_judgments : int
        Judgments that the difference rests on.
    more_judgments : int or None
        About how many more judgments of the two would decide; 0 if it is decided, None if nobody
        can tell.
    ledger : Ledger or None
        Judgments that two plain means would need for the interval, and what saved them; None where
        nothing shows it.
    """

    a: str
    b: str
    difference: float
    standard_error: float
    low: float
    high: float
    simultaneous_low: float
    simultaneous_high: float
    p_value: float
    verdict: Verdict
    n_items: int
    identical_items: int
    n_judgments: int
    more_judgments: int | None
    ledger: Ledger | None = None

    @property
    def identical(self) -> bool:
        """Whether all outputs of the two are the same."""
        return self.identical_items > 0 and self.standard_error == 0 and self.n_judgments == 0

    @property
    def words(self) -> str:
        """The verdict in words, with what would decide it."""
        if self.verdict == "undecided":
            more = self.more_judgments
            return "undecided" if more is None else f"undecided (about {more} more judgments)"
        if self.verdict == "equivalent":
            return "identical" if self.identical else "equivalent"
        return f"{self.a if self.verdict == 'a' else self.b} is better"

    def better(self, level: float) -> Literal["a", "b"] | None:
        """Return which of the two is better for sure, margin or not."""
        return better_of(self.difference, self.p_value, level)

    def answer(self, gate: Gate, margin: float | None, level: float) -> Answer:
        """Return whether a gate on `a` against `b` holds, fails, or is undecided."""
        low, high, limit = self.simultaneous_low, self.simultaneous_high, margin or 0.0
        better = self.better(level)
        holds = {
            "better": better == "a",
            "not-worse": better == "a" or low > -limit,
            "equivalent": -limit < low and high < limit,
        }[gate]
        fails = {
            "better": better == "b" or low == high == 0,
            "not-worse": high < -limit or (better == "b" and not limit),
            "equivalent": low > limit or high < -limit,
        }[gate]
        if holds:
            return "holds"
        return "fails" if fails else "undecided"


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
        ledger=one.ledger,
    )


def better_of(difference: float, p_value: float, level: float) -> Literal["a", "b"] | None:
    """Return which system is better, if the p-value says that they differ."""
    # 1 - level is rounded: a p-value of 0.05 is clear at 0.95.
    if difference == 0 or p_value > (1 - level) * (1 + 1e-9):
        return None
    return "a" if difference > 0 else "b"


def verdict_of(
    low: float, high: float, margin: float | None, better: Literal["a", "b"] | None
) -> Verdict:
    """Return what is known of a difference from its interval and from which one is better, if known."""
    if low == high == 0 or (margin is not None and -margin < low and high < margin):
        return "equivalent"
    return better or "undecided"


def _more(one: Difference, margin: float | None) -> int | None:
    """Return how many more judgments would decide, if all stays as it is; None if far too many."""
    gap = abs(one.difference)
    needed = [_judgments_for(one.deciding_reach, gap, one.n_judgments)]
    if margin is not None:
        reach = one.simultaneous_high - one.difference
        needed.append(_judgments_for(reach, margin - gap, one.n_judgments))
    return min((one for one in needed if one is not None), default=None)


def _judgments_for(reach: float, gap: float, judgments: int) -> int | None:
    """Return how many more judgments bring the half-width from `reach` to `gap`."""
    if gap <= 0 or reach / gap > np.sqrt(_FAR):
        return None
    return max(int(np.ceil(judgments * ((reach / gap) ** 2 - 1))), 1)


def gate_more(pair: PairDifference, gate: Gate, margin: float | None) -> int | None:
    """Return how many more judgments would decide a gate, if the difference stays as it is."""
    if gate == "better" and margin is None:
        return pair.more_judgments
    reach, limit = pair.simultaneous_high - pair.difference, margin or 0.0
    gap = {
        "better": abs(pair.difference),
        "not-worse": abs(pair.difference + limit),
        "equivalent": abs(limit - abs(pair.difference)),
    }[gate]
    return _judgments_for(reach, gap, pair.n_judgments)
