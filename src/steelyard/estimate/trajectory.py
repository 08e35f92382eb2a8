"""Interval length against the number of judgments, by the bootstrap of the paper."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import JudgedOutputs, Pool, PoolArray, as_pool, judged_outputs
from steelyard.errors import InvalidArgumentError, NotEstimableError

__all__ = ["Curve", "Trajectory", "trajectory"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Draws held at one time: bounds the memory of a block of positions.
_BLOCK = 4_000_000
_BATCHES = 10
_START, _STOP = 0.2, 0.9


@dataclass(frozen=True, eq=False)
class Curve:
    """Interval length of one estimator along the trajectory.

    Attributes
    ----------
    length : (n,) array
        Length of the interval after 1, 2, …, n judgments.
    data_efficiency : float
        Mean ratio of squared lengths, the plain mean's over this one's, between 20% and 90% of the
        trajectory.
    length_ratio : float
        The same with lengths that are not squared.
    monte_carlo_error : float
        Standard error of `data_efficiency` that comes from the number of draws.
    """

    length: Floats
    data_efficiency: float
    length_ratio: float
    monte_carlo_error: float


@dataclass(frozen=True, eq=False)
class Trajectory:
    """How the interval shrinks with the number of judgments, and how it could.

    Attributes
    ----------
    judgments : (n,) array
        1, 2, …, n.
    plain : Curve
        The plain mean.
    corrected : Curve
        The control-variates estimate.
    noiseless_raters : Curve
        The control-variates estimate if the mean judgment of an output were its judgment.
    perfect_metric : Curve
        The control-variates estimate if the mean judgment of an output were its metric.
    level : float
        Level of the intervals.
    draws : int
        Number of bootstrap draws.
    """

    judgments: Integers
    plain: Curve
    corrected: Curve
    noiseless_raters: Curve
    perfect_metric: Curve
    level: float
    draws: int

    @property
    def data_efficiency(self) -> float:
        """Data efficiency of the control-variates estimate."""
        return self.corrected.data_efficiency

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        curves = {
            name: getattr(self, name)
            for name in ("plain", "corrected", "noiseless_raters", "perfect_metric")
        }
        return {
            "level": self.level,
            "draws": self.draws,
            "data_efficiency": {
                name: {"value": curve.data_efficiency, "error": curve.monte_carlo_error}
                for name, curve in curves.items()
                if name != "plain"
            },
            "judgments": self.judgments.tolist(),
            "length": {name: curve.length.tolist() for name, curve in curves.items()},
        }

    def __str__(self) -> str:
        return (
            f"data efficiency {self.corrected.data_efficiency:.3f} "
            f"± {self.corrected.monte_carlo_error:.3f}; with noiseless raters "
            f"{self.noiseless_raters.data_efficiency:.2f}, with a perfect metric "
            f"{self.perfect_metric.data_efficiency:.2f} ({self.draws} draws of "
            f"{len(self.judgments)} judgments)"
        )


def trajectory(
    human: ArrayLike,
    metric: ArrayLike,
    metric_pool: ArrayLike | Pool | None = None,
    *,
    items: ArrayLike,
    draws: int = 1000,
    level: float = 0.80,
    rng: np.random.Generator | None = None,
) -> Trajectory:
    r"""Draw campaigns from a finished one and follow the interval as judgments come in.

    A draw is a sequence of n outputs with replacement, each with one of its judgments. After k of
    them the plain mean is :math:`\bar y_k` and the paper's Algorithm 1 gives
    :math:`\bar y_k - \hat\alpha_k \bar g_k` with the metric standardised over the pool and
    :math:`\hat\alpha_k = \overline{yg}_k - \bar y_k \bar g_k`. The interval length at k is the
    distance of two quantiles of the draws. Running sums make it linear in draws times n.

    Parameters
    ----------
    human : (M,) array
        Judgments of a finished campaign.
    metric : (M,) or (M, p) array
        Metrics of the judged output, aligned with `human`.
    metric_pool : (N,) or (N, p) array or PoolMoments, optional
        Metrics of all outputs; the judged outputs by default, as in the paper.
    items : (M,) array
        Which output each judgment is of.
    draws : int
        Number of bootstrap draws B, at least 100.
    level : float
        Level of the intervals.
    rng : numpy.random.Generator, optional
        Source of randomness; a fixed seed by default.

    Returns
    -------
    Trajectory

    Raises
    ------
    InvalidArgumentError
        If an argument breaks its rule.
    NotEstimableError
        If there are fewer than 10 judged outputs, or a metric or the human score is constant.

    References
    ----------
    Chaganty, Mussmann and Liang (2018), The price of debiasing automatic metrics in natural
    language evaluation, section 5 and figure 6.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> score = rng.normal(size=100)
    >>> items = np.repeat(np.arange(100), 2)
    >>> human = score[items] + rng.normal(size=200)
    >>> found = trajectory(human, (score + rng.normal(size=100))[items], items=items, draws=500)
    >>> found.plain.length[99] > found.corrected.length[99] > found.perfect_metric.length[99]
    True
    """
    if draws < 100:
        raise InvalidArgumentError(f"`draws` must be at least 100; got {draws}: 1000 is usual")
    if not 0 < level < 1:
        raise InvalidArgumentError(f"`level` must lie strictly between 0 and 1; got {level}")
    sample = judged_outputs(human, metric, items)
    pool = PoolArray.of(sample.metric) if metric_pool is None else as_pool(metric_pool)
    rng = np.random.default_rng(0) if rng is None else rng
    lengths = _lengths(_controls(sample, pool), sample, draws=draws, level=level, rng=rng)
    plain = lengths["plain"]
    curves = {name: _curve(length, plain) for name, length in lengths.items()}
    return Trajectory(
        judgments=np.arange(1, sample.n_outputs + 1), level=level, draws=draws, **curves
    )


@dataclass(frozen=True, eq=False)
class _Controls:
    """What draws are made of: judgments by output, and standardised metrics."""

    judgments: Floats  # (M,) ordered by output
    first: Integers  # (n,) position of each output's first judgment
    count: Integers  # (n,)
    mean: Floats  # (n,) mean judgment
    metric: Floats  # (n, p) mean zero and identity covariance over the pool
    perfect: Floats  # (n, 1) mean judgment, standardised


def _controls(sample: JudgedOutputs, pool: Pool) -> _Controls:
    if sample.n_outputs < 10:
        raise NotEstimableError(
            f"a trajectory needs at least 10 judged outputs; got {sample.n_outputs}"
        )
    values, vectors = np.linalg.eigh(pool.covariance)
    if values[0] <= 1e-12 * max(values[-1], 1e-300):
        raise NotEstimableError(
            "a metric is constant over the pool, or repeats others: leave it out"
        )
    spread = sample.mean.std()
    if spread == 0:
        raise NotEstimableError("all outputs have the same mean judgment: there is no trajectory")
    first = np.concatenate([[0], np.cumsum(sample.count)[:-1]])
    return _Controls(
        judgments=sample.human,
        first=first,
        count=sample.count,
        mean=sample.mean,
        metric=(sample.metric - pool.mean) @ (vectors / np.sqrt(values)),
        perfect=((sample.mean - sample.mean.mean()) / spread)[:, np.newaxis],
    )


def _lengths(
    controls: _Controls,
    sample: JudgedOutputs,
    *,
    draws: int,
    level: float,
    rng: np.random.Generator,
) -> dict[str, Floats]:
    """Return interval lengths of each estimator: (1 + batches, n), all draws first."""
    n = sample.n_outputs
    names = ("plain", "corrected", "noiseless_raters", "perfect_metric")
    found = {name: np.empty((1 + _BATCHES, n)) for name in names}
    noisy = {"corrected": _Running(controls.metric), "perfect_metric": _Running(controls.perfect)}
    noiseless = _Running(controls.metric)
    for start, stop in _blocks(n, draws):
        output = rng.integers(0, n, size=(stop - start, draws), dtype=np.int64)
        which = (rng.random(output.shape, dtype=np.float32) * controls.count[output]).astype(
            np.int64
        )
        # a float32 just below one may round up to the count
        judged = controls.first[output] + np.minimum(which, controls.count[output] - 1)
        y = controls.judgments[judged]
        paths = {name: running.corrected(y, output) for name, running in noisy.items()}
        paths["noiseless_raters"] = noiseless.corrected(controls.mean[output], output)
        paths["plain"] = noisy["corrected"].mean_of_judgments
        for name, path in paths.items():
            found[name][:, start:stop] = _spread(path, level)
    return found


class _Running:
    """Running means of judgments, metrics and their products, carried from block to block."""

    def __init__(self, metric: Floats) -> None:
        self.metric = metric
        self.seen = 0
        self.sums: list[Floats] | None = None
        self.mean_of_judgments: Floats = np.empty(0)

    def corrected(self, y: Floats, output: Integers) -> Floats:
        """Return Algorithm 1 after each further judgment: (positions, draws)."""
        columns = [column[output] for column in self.metric.T]
        parts = [y, *columns, *(y * g for g in columns)]
        before = self.sums or [np.zeros(y.shape[1])] * len(parts)
        count = np.arange(self.seen + 1, self.seen + len(y) + 1)[:, np.newaxis]
        totals = []
        for part, carried in zip(parts, before, strict=True):
            total = np.cumsum(part, axis=0)
            total += carried
            totals.append(total)
        self.sums = [total[-1].copy() for total in totals]
        self.seen += len(y)
        mean, *rest = (np.divide(total, count, out=total) for total in totals)
        p = len(columns)
        estimate = mean.copy()
        for g, product in zip(rest[:p], rest[p:], strict=True):
            estimate -= (product - mean * g) * g
        self.mean_of_judgments = mean
        return estimate


def _blocks(n: int, draws: int) -> Iterator[tuple[int, int]]:
    step = max(1, _BLOCK // draws)
    for start in range(0, n, step):
        yield start, min(start + step, n)


def _spread(path: Floats, level: float) -> Floats:
    """Return the distance of the two quantiles, over all draws and over each batch of them."""
    whole = _quantile_distance(path, level)
    size = path.shape[1] // _BATCHES
    batches = path[:, : size * _BATCHES].reshape(len(path), _BATCHES, size)
    return np.vstack([whole, _quantile_distance(batches, level).T])


def _quantile_distance(values: Floats, level: float) -> Floats:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=-1)
    return np.asarray(high - low)


def _curve(length: Floats, plain: Floats) -> Curve:
    n = length.shape[1]
    part = slice(int(_START * n), max(int(_STOP * n), int(_START * n) + 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = plain[:, part] / length[:, part]
    squared = (ratio**2).mean(axis=1)
    error = float(squared[1:].std(ddof=1) / np.sqrt(_BATCHES))
    return Curve(length[0], float(squared[0]), float(ratio[0].mean()), error)
