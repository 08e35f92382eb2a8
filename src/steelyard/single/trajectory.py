"""Interval length against the number of judgments, by the bootstrap of the paper."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import Floats, Ints
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.html_table import html_table
from steelyard.single.judged import JudgedSample, judged_outputs
from steelyard.single.pool import Pool, PoolArray, as_pool

__all__ = ["Curve", "Trajectory", "trajectory"]

Singles = NDArray[np.float32]

# Multiplications in one product of a block of positions: bounds the memory, keeps the block in
# the cache, and stays below what linear algebra libraries give to several threads.
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
    pool = PoolArray.of(sample.metric) if metric_pool is None else as_pool(metric_pool)
    rng = np.random.default_rng(0) if rng is None else rng
    metric = _standardised(sample, pool)
    centre = sample.mean.mean()
    sample = replace(sample, human=sample.human - centre, mean=sample.mean - centre)
    lengths = _lengths(sample, metric, draws=draws, level=level, rng=rng)
    curves = {name: _curve(found, lengths["plain"]) for name, found in lengths.items()}
    return Trajectory(
        judgments=np.arange(1, sample.n_outputs + 1), level=level, draws=draws, **curves
    )


def _standardised(sample: JudgedSample, pool: Pool) -> Floats:
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


def _lengths(
    sample: JudgedSample,
    metric: Floats,
    *,
    draws: int,
    level: float,
    rng: np.random.Generator,
) -> dict[str, "_Lengths"]:
    """Return the interval lengths of each estimator after each judgment."""
    n = sample.n_outputs
    thinned = np.linspace(int(_START * n), max(int(_STOP * n) - 1, int(_START * n)), _THINNED)
    positions = np.unique(thinned.astype(np.int64))
    found = {name: _Lengths.empty(n, positions, draws, level) for name in _CURVES}
    columns = np.ascontiguousarray(metric.T)
    carried: list[Floats] | None = None
    step = max(1, int(np.sqrt(_PRODUCT / draws)))
    for start in range(0, n, step):
        share = 1 / np.arange(start + 1, min(start + step, n) + 1)[:, np.newaxis]
        y, f, g = _draw(sample, columns, (len(share), draws), rng)
        parts = [y, f, y * f, *g, *(y * one for one in g), *(f * one for one in g)]
        sums = _running_sums(parts, carried)
        carried = [total[-1].copy() for total in sums]
        means = [np.multiply(total, share, out=total) for total in sums]
        for name, path in _estimates(sample, means).items():
            found[name].add(path, start)
    return found


def _draw(
    sample: JudgedSample, columns: Floats, shape: tuple[int, int], rng: np.random.Generator
) -> tuple[Floats, Floats, list[Floats]]:
    """Draw outputs with replacement: a judgment of each, its mean judgment and its metrics."""
    output = rng.integers(0, sample.n_outputs, size=shape, dtype=np.int64)
    count = sample.count.astype(np.uint64)[output]
    # An integer below the count, by multiplication: its bias is below the count over 2^32.
    which = rng.integers(0, 2**32, size=shape, dtype=np.uint32) * count >> np.uint64(32)
    first = np.concatenate([[0], np.cumsum(sample.count)[:-1]])
    y = sample.human[first[output] + which.astype(np.int64)]
    return y, sample.mean[output], [column[output] for column in columns]


def _running_sums(parts: list[Floats], carried: list[Floats] | None) -> list[Floats]:
    """Return each part's running sum, going on from the sums before.

    A product with a triangle of ones: a sum that goes from row to row must wait for each addition,
    a product need not.
    """
    triangle = np.tri(len(parts[0]))
    sums = []
    for number, part in enumerate(parts):
        if carried is not None:
            part[0] += carried[number]
        sums.append(triangle @ part)
    return sums


def _estimates(sample: JudgedSample, means: list[Floats]) -> dict[str, Singles]:
    """Return Algorithm 1 for each reading of judgment and metric, from running means.

    In single precision: scores are centred, so that an interval loses no digit that matters.
    """
    y, f, yf, *rest = means
    p = len(rest) // 3
    corrected, noiseless = y.copy(), f.copy()
    for g, yg, fg in zip(rest[:p], rest[p : 2 * p], rest[2 * p :], strict=True):
        corrected -= (yg - y * g) * g
        noiseless -= (fg - f * g) * g
    perfect = y - (yf - y * f) * f / sample.mean.var()
    paths = (y, corrected, noiseless, perfect)
    return {name: path.astype(np.float32) for name, path in zip(_CURVES, paths, strict=True)}


@dataclass(frozen=True, eq=False)
class _Lengths:
    """Interval lengths over all draws, and over batches of draws at some positions."""

    whole: Floats  # (n,)
    positions: Ints
    rows: Singles  # (positions, draws): estimates, for the batches
    level: float

    @classmethod
    def empty(cls, n: int, positions: Ints, draws: int, level: float) -> "_Lengths":
        rows = np.empty((len(positions), draws), dtype=np.float32)
        return cls(np.empty(n), positions, rows, level)

    def add(self, path: Singles, start: int) -> None:
        """Take in the estimates after `start` + 1, … judgments: (positions, draws)."""
        first, last = np.searchsorted(self.positions, [start, start + len(path)])
        if first < last:
            self.rows[first:last] = path[self.positions[first:last] - start]
        path.sort()
        self.whole[start : start + len(path)] = _distance(path, self.level)

    @cached_property
    def of_batches(self) -> Floats:
        """Return the lengths at some positions for each batch of draws: (positions, batches)."""
        size = self.rows.shape[1] // _BATCHES
        rows = self.rows[:, : size * _BATCHES].reshape(len(self.rows), _BATCHES, size)
        return _distance(np.sort(rows), self.level)


def _distance(ordered: Singles, level: float) -> Floats:
    """Return the distance of the two quantiles of sorted values, interpolated linearly."""
    last = ordered.shape[-1] - 1

    def quantile(share: float) -> NDArray[Any]:
        low = int(share * last)
        part = share * last - low
        return np.asarray((1 - part) * ordered[..., low] + part * ordered[..., min(low + 1, last)])

    return np.asarray(quantile((1 + level) / 2) - quantile((1 - level) / 2), dtype=np.float64)


def _curve(found: _Lengths, plain: _Lengths) -> Curve:
    n = len(found.whole)
    part = slice(int(_START * n), max(int(_STOP * n), int(_START * n) + 1))
    ratio = plain.whole[part] / found.whole[part]
    by_batch = ((plain.of_batches / found.of_batches) ** 2).mean(axis=0)
    return Curve(
        length=found.whole,
        data_efficiency=float((ratio**2).mean()),
        length_ratio=float(ratio.mean()),
        monte_carlo_error=float(by_batch.std(ddof=1) / np.sqrt(_BATCHES)),
    )
