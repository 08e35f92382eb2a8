"""A confidence sequence for the mean human score: look at it whenever you like."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import Pool, PoolMoments, as_pool
from steelyard.design.sequence.history import History
from steelyard.design.sequence.options import Method, SequenceOptions, SequenceTarget
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
    tuned_for : int, optional
        Number of judgments at which the asymptotic sequence is to be tightest; by default that at
        which the goal is reached, and 300 without a goal.
    goal : float, optional
        Half-width at which the sequence is to be tightest: it is reached with fewer judgments, and
        intervals are longer at other times. Choose it before looking.

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
    0.5424 [0.4846, 0.6106] at 95%, at all times (betting, census, 200 judgments of 500 outputs)
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
        tuned_for: int | None = None,
        goal: float | None = None,
    ) -> None:
        pool = None if metric_pool is None else _moments(as_pool(metric_pool))
        if pool is not None:
            if pool_size not in (None, pool.size):
                raise InvalidArgumentError(
                    f"`pool_size` must be that of `metric_pool`, {pool.size}; got {pool_size}: "
                    "leave it out"
                )
            pool_size = pool.size
        options = SequenceOptions(
            level=level,
            bounds=bounds,
            method=method,
            replacement=replacement,
            pool_size=pool_size,
            target=target,
            rater_variance=rater_variance,
            tuned_for=tuned_for,
            goal=goal,
        )
        n_metrics = 0 if pool is None else len(pool.mean)
        self._history = History(options, pool, np.empty(0), np.empty((0, n_metrics)))

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
            metric that is not in the pool. The sequence is then what it was before.
        """
        self._history = self._history.extended(human, metric)

    @property
    def options(self) -> SequenceOptions:
        """What the sequence is about."""
        return self._history.options

    @property
    def n(self) -> int:
        """Number of judgments so far."""
        return len(self._history.human)

    @property
    def contradicted(self) -> bool:
        """Whether no mean fits the judgments any more.

        Then the sequence has missed, which it may with probability 1 - level, or outputs were not
        drawn at random; the interval is that of this moment alone, not of all moments together.
        """
        return self.n > 0 and bool(self._history.last.contradicted[0, 0])

    @property
    def exact(self) -> bool:
        """Whether every output is judged, so that the mean is known and no interval is needed.

        Both ends are then the mean itself.
        """
        options = self.options
        return self.n > 0 and self.n == options.drawn_from and options.noise == 0

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        if self.n == 0:
            return self.options.bounds[0]
        return float(self._scaled(self._history.last.low[0, 0]))

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        if self.n == 0:
            return self.options.bounds[1]
        return float(self._scaled(self._history.last.high[0, 0]))

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    @property
    def estimate(self) -> float:
        """The mean of the corrected judgments, each with what it tells, moved into the interval.

        For the asymptotic sequence, the least-squares estimate from all judgments so far.

        Raises
        ------
        NotEstimableError
            If there are no judgments yet.
        """
        if self.n == 0:
            raise NotEstimableError("an estimate needs at least one judgment; got none")
        estimate = self._scaled(self._history.estimates[-1])
        return float(np.clip(estimate, self.low, self.high))

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
        ends = self._history.ends(times)
        low, high = self._scaled(ends.low[0]), self._scaled(ends.high[0])
        estimate = self._scaled(self._history.estimates[times - 1])
        return SequencePath(times, low, high, np.clip(estimate, low, high))

    def state(self) -> dict[str, Any]:
        """Return everything that the sequence knows, ready for JSON."""
        history = self._history
        return {
            "version": _STATE_VERSION,
            "options": asdict(history.options) | {"bounds": list(history.options.bounds)},
            "pool": None if history.pool is None else _as_lists(history.pool),
            "human": history.human.tolist(),
            "metric": history.metric.tolist(),
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
        options = self.options
        shown = f"{self.estimate:.4f} " if self.n else ""
        pool = "" if options.pool_size is None else f" of {options.pool_size} outputs"
        interval = f"[{self.low:.4f}, {self.high:.4f}] at {options.level:.0%}, at all times"
        if self.exact:
            interval = "exactly, as every output is judged"
        return f"{shown}{interval} ({options.method}, {options.about}, {self.n} judgments{pool})"

    def __repr__(self) -> str:
        return f"<ConfidenceSequence {self}>"

    def _scaled(self, values: Floats) -> Floats:
        least, greatest = self.options.bounds
        return np.asarray(np.clip(least + (greatest - least) * values, least, greatest))


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
