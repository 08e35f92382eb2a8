"""Sums of powers of the differences of every pair of systems."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["ROUNDING", "Moments"]

Floats = NDArray[np.float64]

# Of the size of a sum of differences: what rounding may make of a tie.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Moments:
    """How many differences there are, and the sums of their powers.

    Attributes
    ----------
    count : (R, K, K) array of int
        Differences of each pair.
    total, square, cubic, quartic : (R, K, K) array
        Sums of the differences, of their squares, cubes and fourth powers.
    """

    count: NDArray[np.int64]
    total: Floats
    square: Floats
    cubic: Floats
    quartic: Floats

    @classmethod
    def none(cls, shape: tuple[int, ...]) -> "Moments":
        """Return those of no differences."""
        empty = np.zeros(shape)
        return cls(np.zeros(shape, dtype=np.int64), empty, empty, empty, empty)

    def with_one(self, difference: Floats, live: NDArray[np.bool_]) -> "Moments":
        """Return them with one more difference of the pairs that are `live`."""
        known = np.where(live, difference, 0)
        return Moments(
            self.count + live,
            self.total + known,
            self.square + known**2,
            self.cubic + known**3,
            self.quartic + known**4,
        )

    @cached_property
    def mean(self) -> Floats:
        """Mean difference; 0 where there is none."""
        return np.asarray(self.total / np.maximum(self.count, 1))

    @cached_property
    def spread(self) -> Floats:
        """Sum of squares around the mean."""
        return np.maximum(self.square - self.total * self.mean, 0)

    @cached_property
    def variance(self) -> Floats:
        """Variance, a little above 0 at least."""
        return np.maximum(self.spread / np.maximum(self.count - 1, 1), 1e-300)

    @cached_property
    def skewness(self) -> Floats:
        """Skewness; 0 where differences do not vary."""
        third = self.cubic - 3 * self.mean * self.square + 2 * self.count * self.mean**3
        known = self.spread > ROUNDING * self.square
        scale = np.where(known, self.spread, 1.0) ** 1.5
        return np.asarray(np.where(known, third * np.sqrt(self.count) / scale, 0.0))
