"""What a collection of judgments is to find out, and whether that is known."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from steelyard.errors import InvalidArgumentError
from steelyard.questions.pairs import Gate, PairDifference

__all__ = ["Decide", "Goal"]

Decide = Literal["best", "order", "difference"]


@dataclass(frozen=True)
class Goal:
    """What is to be known of every prompt and slice.

    Attributes
    ----------
    half_width : float or None
        Half-width that the interval of every mean is to reach.
    decide : {"best", "order", "difference"} or None
        Which system is best; the order of all; or of every pair which is better, or that they differ by
        at most the margin.
    gate : {"better", "not-worse", "equivalent"} or None
        Or whether that holds of the pairs that were named, or that it does not.
    margin : float or None
        Differences that do not matter.
    """

    half_width: float | None = None
    decide: Decide | None = None
    gate: Gate | None = None
    margin: float | None = None

    @classmethod
    def of(
        cls,
        *,
        half_width: float | None,
        decide: Decide | None,
        gate: Gate | None,
        margin: float | None,
    ) -> Self:
        """Check a goal.

        Raises
        ------
        InvalidArgumentError
            If there are two, or a number is not positive or missing.
        """
        if sum(one is not None for one in (half_width, decide, gate)) > 1:
            raise InvalidArgumentError(
                "`half_width`, `goal` and `gate` exclude each other: choose one of them"
            )
        for name, value in (("half_width", half_width), ("margin", margin)):
            if value is not None and not 0 < value < math.inf:
                raise InvalidArgumentError(f"`{name}` must be a positive number; got {value:g}")
        what = f"gate {gate}" if gate in {"not-worse", "equivalent"} else decide
        if margin is None and what not in {None, "best", "order"}:
            raise InvalidArgumentError(
                f"`margin` is needed with {what}: what difference does not matter?"
            )
        return cls(half_width, decide, gate, margin)

    def __str__(self) -> str:
        if self.half_width is not None:
            return f"half-width {self.half_width:g}"
        aim = self.decide or self.gate
        if aim is None:
            return "none"
        return aim if self.margin is None else f"{aim}, margin {self.margin:g}"

    @property
    def given(self) -> bool:
        """Whether there is a goal."""
        return (self.half_width, self.decide, self.gate) != (None, None, None)

    def gap(self, pair: PairDifference, level: float) -> float:
        """Return the half-width at which a pair is decided if its difference stays."""
        size, margin = abs(pair.difference), self.margin or 0.0
        if self.is_decided(pair, level):
            return size
        if self.gate == "not-worse":
            towards = -pair.difference if pair.lower_is_better else pair.difference
            return abs(towards + margin)
        if self.gate == "equivalent":
            return abs(margin - size)
        return max(size, margin - size)

    def is_decided(self, pair: PairDifference, level: float) -> bool:
        """Whether what the goal asks of a pair is known."""
        if self.gate is not None:
            return pair.answer(self.gate, self.margin, level) != "undecided"
        return pair.verdict != "undecided"

    def open_pairs(
        self, left: Sequence[str], pairs: Sequence[PairDifference], level: float
    ) -> list[PairDifference]:
        """Return the pairs that still must be judged.

        Parameters
        ----------
        left : sequence of str
            The systems that may still be the best, best estimate first.
        pairs : sequence of PairDifference
            What is known of them.
        level : float
            Confidence level.
        """
        if self.decide != "best":
            return [one for one in pairs if not self.is_decided(one, level)]
        if len(left) < 2 or any(self._near_best(one, left, pairs) for one in left):
            return []
        return [one for one in pairs if left[0] in {one.a, one.b} and {one.a, one.b} <= set(left)]

    def _near_best(
        self, system: str, inside: Sequence[str], pairs: Sequence[PairDifference]
    ) -> bool:
        """Whether no other is known to be better than a system by more than the margin may be."""
        if self.margin is None:
            return False
        for one in pairs:
            if system in {one.a, one.b} and {one.a, one.b} <= set(inside):
                ahead = one.simultaneous_high if one.b == system else -one.simultaneous_low
                if one.lower_is_better:
                    ahead = -one.simultaneous_low if one.b == system else one.simultaneous_high
                if ahead > self.margin:
                    return False
        return True
