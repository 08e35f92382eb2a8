"""The metric over the whole pool: an array in memory, or moments gathered in a stream."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import Floats
from steelyard.errors import InvalidArgumentError

__all__ = ["Pool", "PoolArray", "PoolMoments", "as_pool"]


@dataclass(frozen=True, eq=False)
class PoolMoments:
    """What the estimators need to know of a pool's metrics, however large the pool.

    SampleMoments of parts are merged without the parts (Chan, Golub and LeVeque, 1983).

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
        """Return the moments of an (N,) or (N, p) array."""
        pool = PoolArray.of(values)
        return cls(pool.size, pool.mean, pool.covariance, pool.low, pool.high)

    def select(self, metrics: Sequence[int]) -> "PoolMoments":
        """Return the moments of some of the metrics, by position."""
        chosen = list(metrics)
        return PoolMoments(
            self.size,
            self.mean[chosen],
            self.covariance[np.ix_(chosen, chosen)],
            self.low[chosen],
            self.high[chosen],
        )

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


@dataclass(frozen=True, eq=False)
class PoolArray:
    """A pool's metrics in memory, with the attributes of `PoolMoments` made when asked for."""

    values: NDArray[np.number]

    @classmethod
    def of(cls, values: ArrayLike) -> Self:
        """Wrap an (N,) or (N, p) array without copying it."""
        array = np.asarray(values)
        array = array[:, np.newaxis] if array.ndim == 1 else array
        if array.ndim != 2 or len(array) == 0:
            raise InvalidArgumentError(
                f"`metric_pool` must have shape (N,) or (N, p) with N > 0; got {np.shape(values)}"
            )
        if not (np.issubdtype(array.dtype, np.number) or array.dtype == bool):
            raise InvalidArgumentError(f"`metric_pool` must hold numbers; got {array.dtype}")
        return cls(array)

    @property
    def size(self) -> int:
        """Number of outputs N."""
        return len(self.values)

    @cached_property
    def mean(self) -> Floats:
        """Mean of each metric; a value that is not finite anywhere in the pool is an error."""
        with np.errstate(invalid="ignore"):  # infinities of both signs: reported below
            mean: Floats = self.values.mean(axis=0, dtype=np.float64)
        if not np.isfinite(mean).all():
            row, column = np.argwhere(~np.isfinite(self.values))[0]
            raise InvalidArgumentError(
                f"`metric_pool` must be finite; got {self.values[row, column]} in row {row}, "
                f"metric {column}: score that output, or give it a value of your choice"
            )
        return mean

    @cached_property
    def covariance(self) -> Floats:
        """Covariance over the pool, divided by N."""
        centred = self.values - self.mean
        return np.asarray(centred.T @ centred / self.size)

    @cached_property
    def low(self) -> Floats:
        """Least value of each metric."""
        return np.asarray(self.values.min(axis=0), dtype=np.float64)

    @cached_property
    def high(self) -> Floats:
        """Greatest value of each metric."""
        return np.asarray(self.values.max(axis=0), dtype=np.float64)


Pool = PoolArray | PoolMoments


def as_pool(metric_pool: ArrayLike | Pool) -> Pool:
    """Return `metric_pool` as a pool, whatever it came as."""
    if isinstance(metric_pool, PoolArray | PoolMoments):
        return metric_pool
    return PoolArray.of(metric_pool)
