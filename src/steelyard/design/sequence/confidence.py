"""A confidence sequence for the mean human score: look at it whenever you like."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import Pool, PoolMoments, as_pool
from steelyard.design.sequence.ends import sequence_ends
from steelyard.design.sequence.options import Method, SequenceOptions, SequenceTarget
from steelyard.design.sequence.residuals import Residuals, predictable_residuals
from steelyard.errors import InvalidArgumentError, NotEstimableError

__all__ = ["ConfidenceSequence", "SequencePath"]

Floats = NDArray[np.float64]

_STATE_VERSION = 1


@dataclass(frozen=True, eq=False)
class SequencePath:
    """A sequence as it was after some numbers of judgments.

    Attributes
    ----------
    judgments : (K,) array
        Numbers of judgments.
    low, high, estimate : (K,) array
        The interval and the estimate at that time.
    """

    judgments: NDArray[np.int64]
    low: Floats
    high: Floats
    estimate: Floats

    @property
    def half_width(self) -> Floats:
        """Half the length of the interval."""
        return (self.high - self.low) / 2


class ConfidenceSequence:
    r"""An interval for the mean human score that holds at all times at once.

    Every judgment is corrected by its metric with a slope that knows only the judgments before,
    :math:`r_t = y_t - a_t'(g_t - \bar g_t)`, with :math:`\bar g_t` the mean metric of the outputs that
    it could have been of. The sequence is built on the corrected judgments: with probability
    `level` the mean lies in the interval after every judgment, so collection may stop at any moment, for
    any reason.

    Parameters
    ----------
    metric_pool : (N,) or (N, p) array, or PoolMoments, optional
        Metrics of every output of the pool; without it judgments are taken as they are.
    level : float
        Probability with which the sequence holds at all times.
    bounds : (float, float)
        Least and greatest possible judgment.
    method : {"betting", "empirical-bernstein", "asymptotic"}
        "betting" and "empirical-bernstein" hold exactly, for all scores within `bounds` and from the
        first judgment. "asymptotic" is tighter and holds approximately; it gives the bounds until 50
        judgments are in.
    replacement : bool
        Whether outputs are drawn with replacement. By default they are judged in a random order,
        each once.
    pool_size : int, optional
        Number of outputs N, when there is no `metric_pool`.
    target : {"pool", "census"}, optional
        "pool": the pool's mean human score, what infinitely many raters would say; "census": the mean
        if every output of the pool were judged once by this very process. By default "pool" with
        replacement. Without replacement it is "census", because past human scores are only seen
        through noise; "pool" then widens the sequence by what a census may be off.
    rater_variance : float, optional
        Variance of the judgments of one output, known from a pilot; makes that widening smaller. Zero
        means that the two targets are the same.
    tuned_for : int
        Number of judgments at which the asymptotic sequence is to be tightest; choose it before
        looking.

    Raises
    ------
    InvalidArgumentError
        If an argument breaks its rule.

    Notes
    -----
    The outputs must be drawn at random, and the order of collection must be the order of the draw.
    Everything is computed from the judgments so far when it is asked for, in time proportional to
    their number, so that it cannot depend on how they were cut into batches.

    References
    ----------
    Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting.
    Howard, Ramdas, McAuliffe and Sekhon (2021), Time-uniform, nonparametric, nonasymptotic confidence
    sequences. Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024), Time-uniform central limit
    theory and asymptotic confidence sequences. Mnih, Szepesvári and Audibert (2008), Empirical
    Bernstein stopping.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> metric_pool = rng.uniform(size=500)
    >>> order = rng.permutation(500)
    >>> human = (metric_pool > rng.uniform(size=500)).astype(float)
    >>> sequence = ConfidenceSequence(metric_pool)
    >>> for judged in order[:200]:
    ...     sequence.update(human[judged], metric_pool[judged])
    >>> print(sequence)
    0.4941 [0.4105, 0.5686] at 95%, at all times (betting, census, 200 judgments of 500 outputs)
    >>> bool(sequence.low <= human.mean() <= sequence.high)
    True
    """

    def __init__(
        self,
        metric_pool: ArrayLike | Pool | None = None,
        *,
        level: float = 0.95,
        bounds: tuple[float, float] = (0.0, 1.0),
        method: Method = "betting",
        replacement: bool = False,
        pool_size: int | None = None,
        target: SequenceTarget | None = None,
        rater_variance: float | None = None,
        tuned_for: int = 300,
    ) -> None:
        self._pool = None if metric_pool is None else _moments(as_pool(metric_pool))
        if self._pool is not None:
            if pool_size not in (None, self._pool.size):
                raise InvalidArgumentError(
                    f"`pool_size` must be that of `metric_pool`, {self._pool.size}; "
                    f"got {pool_size}: leave it out"
                )
            pool_size = self._pool.size
        self._options = SequenceOptions(
            level=level,
            bounds=bounds,
            method=method,
            replacement=replacement,
            pool_size=pool_size,
            target=target,
            rater_variance=rater_variance,
            tuned_for=tuned_for,
        )
        self._human = np.empty(0)
        self._metric = np.empty((0, self.n_metrics))
        self._cache: dict[str, Any] = {}

    def update(self, human: ArrayLike, metric: ArrayLike | None = None) -> None:
        """Add one judgment or several, in the order of collection.

        Parameters
        ----------
        human : float or (k,) array
            Judgments.
        metric : float, (k,) or (k, p) array
            Metrics of the judged outputs; only if the sequence was made with `metric_pool`.

        Raises
        ------
        InvalidArgumentError
            If the judgments cannot be: outside `bounds`, more than there are outputs, or with a
            metric that is not in the pool. The sequence is then as it was.
        """
        y = _finite(human, "human")
        if y.ndim > 1:
            raise InvalidArgumentError(
                f"`human` must be a number or one-dimensional; got shape {y.shape}"
            )
        y = np.atleast_1d(y)
        g = self._checked_metric(metric, len(y))
        self._check_scores(y)
        if self._pool is not None:
            self._check_left(g, self._pool)
        self._human = np.concatenate([self._human, y])
        self._metric = np.concatenate([self._metric, g])
        self._cache = {}

    @property
    def options(self) -> SequenceOptions:
        """What the sequence is about."""
        return self._options

    @property
    def n(self) -> int:
        """Number of judgments so far."""
        return len(self._human)

    @property
    def n_metrics(self) -> int:
        """Number of metrics."""
        return 0 if self._pool is None else len(self._pool.mean)

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self._interval()[0]

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self._interval()[1]

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        low, high = self._interval()
        return (high - low) / 2

    @property
    def estimate(self) -> float:
        """The mean of the corrected judgments, each with what it tells, moved into the interval.

        Raises
        ------
        NotEstimableError
            If there are no judgments yet.
        """
        if self.n == 0:
            raise NotEstimableError("an estimate needs at least one judgment; got none")
        low, high = self._interval()
        return float(np.clip(self._scaled(self._residuals().estimate[0, -1]), low, high))

    def path(self, judgments: Sequence[int] | NDArray[np.int64] | None = None) -> SequencePath:
        """Return the sequence as it was after these numbers of judgments; after each by default.

        Raises
        ------
        InvalidArgumentError
            If a number is less than 1 or greater than the number of judgments so far.
        """
        times = np.arange(1, self.n + 1) if judgments is None else np.asarray(judgments, np.int64)
        if len(times) and not (times.min() >= 1 and times.max() <= self.n):
            raise InvalidArgumentError(
                f"`judgments` must lie between 1 and {self.n}; got {times.min()} to {times.max()}"
            )
        if not len(times):
            return SequencePath(times, np.empty(0), np.empty(0), np.empty(0))
        low, high = self._ends(times)
        estimate = self._scaled(self._residuals().estimate[0, times - 1])
        return SequencePath(times, low, high, np.clip(estimate, low, high))

    def state(self) -> dict[str, Any]:
        """Return everything that the sequence knows, ready for JSON."""
        pool = None if self._pool is None else _as_lists(self._pool)
        return {
            "version": _STATE_VERSION,
            "options": asdict(self._options) | {"bounds": list(self._options.bounds)},
            "pool": pool,
            "human": self._human.tolist(),
            "metric": self._metric.tolist(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return the sequence that a state was taken of; it goes on as if there had been no break.

        Raises
        ------
        InvalidArgumentError
            If this is not the state of a sequence.
        """
        try:
            if state["version"] != _STATE_VERSION:
                raise InvalidArgumentError(
                    f"`state` must have version {_STATE_VERSION}; got {state['version']!r}"
                )
            options, pool = dict(state["options"]), state["pool"]
            human, metric = state["human"], state["metric"]
            low, high = options.pop("bounds")
            kept = None if pool is None else _from_lists(pool)
            sequence = cls(kept, bounds=(low, high), **options)
        except (KeyError, TypeError) as error:
            raise InvalidArgumentError(
                f"`state` must be what `ConfidenceSequence.state` returned; {error!r} is wrong"
            ) from error
        if human:
            sequence.update(human, metric if kept is not None else None)
        return sequence

    def __str__(self) -> str:
        options = self._options
        shown = f"{self.estimate:.4f} " if self.n else ""
        pool = "" if options.pool_size is None else f" of {options.pool_size} outputs"
        return (
            f"{shown}[{self.low:.4f}, {self.high:.4f}] at {options.level:.0%}, at all times "
            f"({options.method}, {options.about}, {self.n} judgments{pool})"
        )

    def __repr__(self) -> str:
        return f"<ConfidenceSequence {self}>"

    def _residuals(self) -> Residuals:
        if "residuals" not in self._cache:
            least, greatest = self._options.bounds
            self._cache["residuals"] = predictable_residuals(
                ((self._human - least) / (greatest - least))[np.newaxis],
                self._metric[np.newaxis],
                pool=self._pool,
                pool_size=self._options.drawn_from,
            )
        kept: Residuals = self._cache["residuals"]
        return kept

    def _interval(self) -> tuple[float, float]:
        if self.n == 0:
            return self._options.bounds
        if "interval" not in self._cache:
            low, high = self._ends(np.array([self.n]))
            self._cache["interval"] = float(low[0]), float(high[0])
        kept: tuple[float, float] = self._cache["interval"]
        return kept

    def _ends(self, times: NDArray[np.int64]) -> tuple[Floats, Floats]:
        low, high = sequence_ends(self._residuals(), times, options=self._options)
        if (low > high).any():
            raise NotEstimableError(
                "no mean fits these judgments: later ones differ from earlier ones by more than "
                "chance allows; were the outputs drawn at random, and are they in that order?"
            )
        return self._scaled(low[0]), self._scaled(high[0])

    def _scaled(self, values: Floats) -> Floats:
        least, greatest = self._options.bounds
        return np.asarray(np.clip(least + (greatest - least) * values, least, greatest))

    def _checked_metric(self, metric: ArrayLike | None, size: int) -> Floats:
        if self._pool is None:
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
        if g.size != size * self.n_metrics or (g.ndim == 2 and len(g) != size) or g.ndim > 2:
            raise InvalidArgumentError(
                f"`metric` must hold {self.n_metrics} metric(s) for each of {size} judgment(s); "
                f"got shape {np.shape(metric)}"
            )
        return g.reshape(size, self.n_metrics)

    def _check_scores(self, y: Floats) -> None:
        least, greatest = self._options.bounds
        outside = y[(y < least) | (y > greatest)]
        if len(outside):
            raise InvalidArgumentError(
                f"`bounds` must enclose every judgment; got {outside[0]:g} outside "
                f"[{least:g}, {greatest:g}]"
            )
        drawn_from = self._options.drawn_from
        if drawn_from is not None and self.n + len(y) > drawn_from:
            raise InvalidArgumentError(
                f"`human` must hold one judgment an output; got {self.n + len(y)} for "
                f"{drawn_from} outputs: use replacement=True if outputs are drawn again"
            )

    def _check_left(self, g: Floats, pool: PoolMoments) -> None:
        """Check that the pool can hold these outputs, and those that would then be left."""
        slack = 1e-6 * (pool.high - pool.low) + 1e-12 * np.abs(pool.mean)
        outside = (g < pool.low - slack) | (g > pool.high + slack)
        drawn_from = self._options.drawn_from
        left = 0 if drawn_from is None else drawn_from - self.n - len(g)
        mean = pool.mean
        if left:
            sums = self._metric.sum(axis=0) + g.sum(axis=0)
            mean = (pool.size * pool.mean - sums) / left
        if outside.any() or (mean < pool.low - slack).any() or (mean > pool.high + slack).any():
            raise InvalidArgumentError(
                "`metric_pool` must include the judged outputs, each once; these metrics are not "
                "in it: are both on the same scale?"
            )


def _moments(pool: Pool) -> PoolMoments:
    return PoolMoments(pool.size, pool.mean, pool.covariance, pool.low, pool.high)


def _as_lists(pool: PoolMoments) -> dict[str, Any]:
    arrays = {name: getattr(pool, name).tolist() for name in ("mean", "covariance", "low", "high")}
    return {"size": pool.size} | arrays


def _from_lists(state: Mapping[str, Any]) -> PoolMoments:
    mean, covariance, low, high = (
        np.asarray(state[name], dtype=np.float64) for name in ("mean", "covariance", "low", "high")
    )
    return PoolMoments(int(state["size"]), mean, covariance, low, high)


def _finite(values: ArrayLike, name: str) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"`{name}` must hold numbers: {error}") from error
    if not np.isfinite(array).all():
        raise InvalidArgumentError(f"`{name}` must be finite; got {array[~np.isfinite(array)][0]}")
    return array
