"""The metrics over the whole pool, as moments, however large the pool."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Floats
from steelyard.errors import InvalidArgumentError

__all__ = ["PoolMoments", "as_pool"]

# Rows that are centred at a time, so that a large pool is not copied.
_BLOCK = 1_000_000


@dataclass(frozen=True, eq=False)
class PoolMoments:
    """What the estimators need to know of a pool's metrics.

    Moments of parts are merged without the parts (Chan, Golub and LeVeque, 1983).

    Attributes
    ----------
    size : int
        Number of outputs N.
    mean : (p,) array
        Mean of each metric.
    covariance : (p, p) array
        Covariance over the pool, divided by N.
    low, high : (p,) array
        Range of each metric.

    Examples
    --------
    >>> whole = PoolMoments.of([[1.0], [2.0]]).merge(PoolMoments.of([[6.0]]))
    >>> whole.size, whole.mean
    (3, array([3.]))
    """

    size: int
    mean: Floats
    covariance: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, values: ArrayLike) -> Self:
        """Return the moments of an (N,) or (N, p) array; a value that is not finite is an error."""
        array = np.asarray(values)
        array = array[:, np.newaxis] if array.ndim == 1 else array
        if array.ndim != 2 or len(array) == 0:
            raise InvalidArgumentError(
                f"`metric_pool` must have shape (N,) or (N, p) with N > 0; got {np.shape(values)}"
            )
        if not (np.issubdtype(array.dtype, np.number) or array.dtype == bool):
            raise InvalidArgumentError(f"`metric_pool` must hold numbers; got {array.dtype}")
        with np.errstate(invalid="ignore"):  # infinities of both signs: reported below
            mean: Floats = array.mean(axis=0, dtype=np.float64)
        if not np.isfinite(mean).all():
            row, column = np.argwhere(~np.isfinite(array))[0]
            raise InvalidArgumentError(
                f"`metric_pool` must be finite; got {array[row, column]} in row {row}, "
                f"metric {column}: score that output, or give it a value of your choice"
            )
        parts = (array[start : start + _BLOCK] - mean for start in range(0, len(array), _BLOCK))
        covariance = np.asarray(sum(part.T @ part for part in parts) / len(array))
        low, high = (np.asarray(end(axis=0), np.float64) for end in (array.min, array.max))
        return cls(len(array), mean, covariance, low, high)

    def merge(self, other: "PoolMoments") -> "PoolMoments":
        """Return the moments of both parts together."""
        size = self.size + other.size
        gap = other.mean - self.mean
        covariance = (
            self.size * self.covariance
            + other.size * other.covariance
            + np.outer(gap, gap) * (self.size * other.size / size)
        ) / size
        return PoolMoments(
            size,
            self.mean + gap * (other.size / size),
            covariance,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


def as_pool(metric_pool: ArrayLike | PoolMoments) -> PoolMoments:
    """Return `metric_pool` as moments, whatever it came as."""
    return metric_pool if isinstance(metric_pool, PoolMoments) else PoolMoments.of(metric_pool)
