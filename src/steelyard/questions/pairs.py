"""The difference of two systems, its verdict, and what a gate makes of it."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["Answer", "Gate", "PairDifference", "Verdict", "verdict_of"]

Verdict = Literal["a", "b", "equivalent", "undecided"]
Gate = Literal["better", "not-worse", "equivalent"]
Answer = Literal["holds", "fails", "undecided"]


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
    n_items : int
        Items judged for both on which they differ.
    identical_items : int
        Items of the pool with identical outputs, which differ by exactly zero.
    n_judgments : int
        Judgments of the two.
    more_judgments : int or None
        About how many more judgments of the two would decide; 0 if it is decided, None if nobody
        can say.
    lower_is_better : bool
        Whether the lower score is the better one.
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
    lower_is_better: bool = False

    @property
    def identical(self) -> bool:
        """Whether all outputs of the two are the same."""
        return self.identical_items > 0 and self.standard_error == 0

    @property
    def words(self) -> str:
        """The verdict in words, with what would decide it."""
        if self.verdict == "undecided":
            more = self.more_judgments
            return "undecided" if more is None else f"undecided (about {more:,} more judgments)"
        if self.verdict == "equivalent":
            return "identical" if self.identical else "equivalent"
        return f"{self.a if self.verdict == 'a' else self.b} is better"

    def better(self, level: float) -> Literal["a", "b"] | None:
        """Return which of the two is better for sure, margin or not."""
        # 1 - level is rounded: a p-value of 0.05 is clear at 0.95.
        if self.difference == 0 or self.p_value > (1 - level) * (1 + 1e-9):
            return None
        return "a" if (self.difference > 0) != self.lower_is_better else "b"

    def answer(self, gate: Gate, margin: float | None, level: float) -> Answer:
        """Return whether a gate on `a` against `b` holds, fails, or is undecided."""
        low, high, limit = self.simultaneous_low, self.simultaneous_high, margin or 0.0
        if self.lower_is_better:
            low, high = -high, -low
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


def verdict_of(
    low: float, high: float, margin: float | None, better: Literal["a", "b"] | None
) -> Verdict:
    """Return what is known of a difference from its interval and from which one is better, if known."""
    if low == high == 0 or (margin is not None and -margin < low and high < margin):
        return "equivalent"
    return better or "undecided"
