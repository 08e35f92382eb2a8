"""Interval length against the number of judgments, by the bootstrap of the paper."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import Floats, Ints
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.html_table import html_table
from steelyard.single.judged import JudgedSample, judged_outputs
from steelyard.single.pool import PoolMoments, as_pool

__all__ = ["Curve", "Trajectory", "trajectory"]

# Bounds a block of judgments, so that its sums stay in the cache.
_PRODUCT = 250_000
# The Monte Carlo error comes from this many batches of draws, at this many positions.
_BATCHES, _THINNED = 10, 40
_START, _STOP = 0.2, 0.9
_CURVES = ("plain", "corrected", "noiseless_raters", "perfect_metric")


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
        The control-variates estimate if the mean judgment of an output were its judgment: the
        paper's stand-in for noiseless raters, which leaves some of their noise in.
    perfect_metric : Curve
        The control-variates estimate if the mean judgment of an output were its metric: the
        paper's stand-in for a perfect metric, which knows the judgment that it predicts.
    level : float
        Level of the intervals.
    draws : int
        Number of bootstrap draws.
    """

    judgments: Ints
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
        curves = {name: getattr(self, name) for name in _CURVES}
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

    def __repr__(self) -> str:
        return f"<Trajectory: {self}>"

    def _repr_html_(self) -> str:
        rows = [
            (
                *(name.replace("_", " "), f"{curve.data_efficiency:.3f}"),
                f"{curve.monte_carlo_error:.3f}",
                f"{curve.length[-1]:.4g}",
            )
            for name in _CURVES
            for curve in [getattr(self, name)]
        ]
        names = ("", "data efficiency", "Monte Carlo error", f"length at {len(self.judgments)}")
        below = (f"{self.level:.0%} intervals, {self.draws} draws",)
        return html_table(names, rows, below=below)


def trajectory(
    human: ArrayLike,
    metric: ArrayLike,
    metric_pool: ArrayLike | PoolMoments | None = None,
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

    Notes
    -----
    Mean judgments stand in for human scores in the two limits, as in the paper. With m judgments an
    output the perfect metric then seems to bring :math:`(1+\gamma)/(\gamma(1-1/m))`, twice too much
    for m = 2, and noiseless raters too little. `data_efficiency` with unbiased components gives the
    limits themselves.

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
    >>> bool(found.plain.length[99] > found.corrected.length[99])
    True
    """
    if draws < 100:
        raise InvalidArgumentError(f"`draws` must be at least 100; got {draws}: 1000 is usual")
    if not 0 < level < 1:
        raise InvalidArgumentError(f"`level` must lie strictly between 0 and 1; got {level}")
    sample = judged_outputs(human, metric, items)
    pool = PoolMoments.of(sample.metric) if metric_pool is None else as_pool(metric_pool)
    rng = np.random.default_rng(0) if rng is None else rng
    metric = _standardised(sample, pool)
    centre = sample.mean.mean()
    sample = replace(sample, human=sample.human - centre, mean=sample.mean - centre)
    curves = _curves(_paths(sample, metric, draws=draws, rng=rng), level)
    judgments = np.arange(1, sample.n_outputs + 1)
    return Trajectory(judgments=judgments, level=level, draws=draws, **curves)


def _standardised(sample: JudgedSample, pool: PoolMoments) -> Floats:
    """Return metrics with mean zero and identity covariance over the pool: (n, p)."""
    if sample.n_outputs < 10:
        raise NotEstimableError(
            f"a trajectory needs at least 10 judged outputs; got {sample.n_outputs}"
        )
    if np.ptp(sample.mean) == 0:
        raise NotEstimableError("all outputs have the same mean judgment: there is no trajectory")
    # In units of each metric's own spread, so that scales do not decide what counts as constant.
    scale = np.sqrt(np.diag(pool.covariance))
    flat = scale <= 1e-12 * np.maximum(np.abs(pool.low), np.abs(pool.high))
    values = np.zeros(1)
    if not flat.any():
        values, vectors = np.linalg.eigh(pool.covariance / np.outer(scale, scale))
    if values[0] <= 1e-12:
        raise NotEstimableError(
            "a metric is constant over the pool, or repeats others: leave it out"
        )
    return np.asarray((sample.metric - pool.mean) / scale @ (vectors / np.sqrt(values)))


def _paths(
    sample: JudgedSample, metric: Floats, *, draws: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Return the estimate after each judgment of each draw: (curves, n, draws).

    In single precision: scores are centred, so that an interval loses no digit that matters.
    """
    n = sample.n_outputs
    paths = np.empty((len(_CURVES), n, draws), dtype=np.float32)
    before: Floats | float = 0.0
    step = max(1, int(np.sqrt(_PRODUCT / draws)))
    for start in range(0, n, step):
        stop = min(start + step, n)
        y, f, g = _draw(sample, metric, (stop - start, draws), rng)
        parts = np.stack([y, f, y * f, *g, *(y * m for m in g), *(f * m for m in g)])
        parts[:, 0] += before
        sums = parts.cumsum(axis=1)
        before = sums[:, -1]
        paths[:, start:stop] = _estimates(sample, sums / np.arange(start + 1, stop + 1)[:, None])
    return paths


def _draw(
    sample: JudgedSample, metric: Floats, shape: tuple[int, int], rng: np.random.Generator
) -> tuple[Floats, Floats, list[Floats]]:
    """Draw outputs with replacement: a judgment of each, its mean judgment and its metrics."""
    output = rng.integers(0, sample.n_outputs, size=shape, dtype=np.int64)
    count = sample.count.astype(np.uint64)[output]
    # An integer below the count, by multiplication: its bias is below the count over 2^32.
    which = rng.integers(0, 2**32, size=shape, dtype=np.uint32) * count >> np.uint64(32)
    first = np.concatenate([[0], np.cumsum(sample.count)[:-1]])
    y = sample.human[first[output] + which.astype(np.int64)]
    return y, sample.mean[output], [column[output] for column in metric.T]


def _estimates(sample: JudgedSample, means: Floats) -> Floats:
    """Return Algorithm 1 for each reading of judgment and metric, from running means."""
    y, f, yf = means[:3]
    corrected, noiseless = y.copy(), f.copy()
    for g, yg, fg in zip(*np.split(means[3:], 3), strict=True):
        corrected -= (yg - y * g) * g
        noiseless -= (fg - f * g) * g
    return np.stack([y, corrected, noiseless, y - (yf - y * f) * f / sample.mean.var()])


def _curves(paths: NDArray[np.float32], level: float) -> dict[str, Curve]:
    n, draws = paths.shape[1:]
    start, stop = int(_START * n), int(_STOP * n)
    thinned = np.linspace(start, max(stop - 1, start), _THINNED)
    positions = np.unique(thinned.astype(np.int64))
    size = draws // _BATCHES
    batches = paths[:, positions, : size * _BATCHES].reshape(4, len(positions), _BATCHES, size)
    by_batch = _lengths(batches, level)
    lengths = _lengths(paths, level)
    part = slice(start, max(stop, start + 1))
    curves = {}
    for name, length, of_batch in zip(_CURVES, lengths, by_batch, strict=True):
        ratio = lengths[0, part] / length[part]
        efficiencies = ((by_batch[0] / of_batch) ** 2).mean(axis=0)
        curves[name] = Curve(
            length=length,
            data_efficiency=float((ratio**2).mean()),
            length_ratio=float(ratio.mean()),
            monte_carlo_error=float(efficiencies.std(ddof=1) / np.sqrt(_BATCHES)),
        )
    return curves


def _lengths(estimates: NDArray[np.float32], level: float) -> Floats:
    """Return the distance of two quantiles over the last axis, interpolated linearly."""
    ordered = np.sort(estimates)
    last = ordered.shape[-1] - 1

    def quantile(share: float) -> NDArray[Any]:
        low = int(share * last)
        part = share * last - low
        return np.asarray((1 - part) * ordered[..., low] + part * ordered[..., min(low + 1, last)])

    return np.asarray(quantile((1 + level) / 2) - quantile((1 - level) / 2), dtype=np.float64)
