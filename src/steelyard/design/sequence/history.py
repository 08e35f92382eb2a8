"""The judgments of a sequence so far, checked as they come in."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import PoolMoments
from steelyard.design.sequence.ends import Ends, sequence_ends
from steelyard.design.sequence.options import SequenceOptions
from steelyard.design.sequence.residuals import Residuals, predictable_residuals
from steelyard.errors import InvalidArgumentError

__all__ = ["History"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class History:
    """Judgments in the order of collection, with the metrics of their outputs.

    Attributes
    ----------
    options : SequenceOptions
        What the sequence is about.
    pool : PoolMoments or None
        The p metrics over the pool; None when there are none.
    human : (n,) array
        Judgments.
    metric : (n, p) array
        Metrics of the judged outputs.
    """

    options: SequenceOptions
    pool: PoolMoments | None
    human: Floats
    metric: Floats

    @property
    def n_metrics(self) -> int:
        """Number of metrics p."""
        return 0 if self.pool is None else len(self.pool.mean)

    def extended(self, human: ArrayLike, metric: ArrayLike | None) -> "History":
        """Return the history with these judgments added.

        Raises
        ------
        InvalidArgumentError
            If they cannot be.
        """
        y = _finite(human, "human")
        if y.ndim > 1:
            raise InvalidArgumentError(
                f"`human` must be a number or one-dimensional; got shape {y.shape}"
            )
        y = np.atleast_1d(y)
        g = self._metric_rows(metric, len(y))
        self._check_scores(y)
        longer = replace(
            self,
            human=np.concatenate([self.human, y]),
            metric=np.concatenate([self.metric, g]),
        )
        if self.pool is not None:
            longer.check_metrics(self.pool)
        return longer

    def check_metrics(self, pool: PoolMoments) -> None:
        """Raise unless the pool can hold the judged outputs, and those that would be left."""
        slack = 1e-6 * (pool.high - pool.low) + 1e-12 * np.abs(pool.mean)
        outside = np.argwhere((self.metric < pool.low - slack) | (self.metric > pool.high + slack))
        if len(outside):
            row, column = outside[0]
            raise InvalidArgumentError(
                f"`metric_pool` must include the judged outputs; metric {column + 1} of a judged "
                f"output is {self.metric[row, column]:g}, outside the pool's range "
                f"[{pool.low[column]:g}, {pool.high[column]:g}]: are both on the same scale?"
            )
        if self.options.drawn_from is None:
            return
        left = self.options.drawn_from - len(self.metric)
        rest = pool.size * pool.mean - self.metric.sum(axis=0)
        slack *= pool.size
        if ((rest < left * pool.low - slack) | (rest > left * pool.high + slack)).any():
            raise InvalidArgumentError(
                "`metric_pool` must include the judged outputs, each once; these metrics leave a "
                f"sum of {rest[0]:g} for {left} outputs, which no rest of the pool has"
            )

    def ends(self, times: NDArray[np.int64]) -> Ends:
        """Return the ends after each of `times` judgments, on the unit scale."""
        return sequence_ends(self.residuals, times, options=self.options)

    @cached_property
    def last(self) -> Ends:
        """The ends after the last judgment."""
        return self.ends(np.array([len(self.human)]))

    @property
    def estimates(self) -> Floats:
        """Estimates after each judgment, on the unit scale; shape (n,)."""
        asymptotic = self.options.method == "asymptotic"
        found = self.residuals.fitted if asymptotic else self.residuals.estimate
        return np.asarray(found[0])

    @cached_property
    def residuals(self) -> Residuals:
        """The judgments after correction by their metrics, on the unit scale."""
        least, greatest = self.options.bounds
        return predictable_residuals(
            ((self.human - least) / (greatest - least))[np.newaxis],
            self.metric[np.newaxis],
            pool=self.pool,
            pool_size=self.options.drawn_from,
        )

    def _metric_rows(self, metric: ArrayLike | None, size: int) -> Floats:
        if self.pool is None:
            if metric is not None:
                raise InvalidArgumentError(
                    "`metric` needs `metric_pool`: make the sequence with the metrics of the pool"
                )
            return np.empty((size, 0))
        if metric is None:
            raise InvalidArgumentError(
                "`metric` is missing: this sequence was made with `metric_pool`, so pass the "
                "metric of each judged output"
            )
        g = _finite(metric, "metric")
        if g.size != size * self.n_metrics or g.ndim > 2 or (g.ndim == 2 and len(g) != size):
            raise InvalidArgumentError(
                f"`metric` must hold {self.n_metrics} metric(s) for each of {size} judgment(s); "
                f"got shape {np.shape(metric)}"
            )
        return g.reshape(size, self.n_metrics)

    def _check_scores(self, y: Floats) -> None:
        least, greatest = self.options.bounds
        outside = y[(y < least) | (y > greatest)]
        if len(outside):
            raise InvalidArgumentError(
                f"`bounds` must enclose every judgment; got {outside[0]:g} outside "
                f"[{least:g}, {greatest:g}]: pass the least and greatest possible judgment"
            )
        total, drawn_from = len(self.human) + len(y), self.options.drawn_from
        if drawn_from is not None and total > drawn_from:
            raise InvalidArgumentError(
                f"`human` must hold one judgment an output; got {total} for {drawn_from} outputs: "
                "use replacement=True if outputs are drawn again"
            )


def _finite(values: ArrayLike, name: str) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"`{name}` must hold numbers: {error}") from error
    broken = array[~np.isfinite(array)]
    if broken.size:
        raise InvalidArgumentError(
            f"`{name}` must be finite; got {broken[0]}: judge or score that output first, for to "
            "leave it out would change what is estimated"
        )
    return array
