"""The stratified mean and its slopes, as weights on the judged outputs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import JudgedOutputs, Pool, as_pool
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.drawn import check_metrics, given_slope, slope_solver

__all__ = [
    "Layout",
    "StratifiedFit",
    "StratifiedSlope",
    "fit_strata",
    "layout_of",
    "plain_fit",
    "pool_means",
]

Floats = NDArray[np.float64]
StratifiedSlope = Literal["combined", "separate"]


@dataclass(frozen=True, eq=False)
class Layout:
    """Strata of the judged outputs.

    Attributes
    ----------
    names : tuple
        Labels of the H strata.
    code : (n,) array of int
        Position in `names` of each judged output's stratum.
    size, count : (H,) array
        Number of outputs of each stratum in the pool, and judged.
    """

    names: tuple[Any, ...]
    code: NDArray[np.int64]
    size: Floats
    count: Floats

    @property
    def pool_size(self) -> int:
        """Number of outputs in the pool."""
        return int(self.size.sum())

    @property
    def share(self) -> Floats:
        """W, the strata's shares of the pool."""
        return np.asarray(self.size / self.size.sum())

    @property
    def fraction(self) -> Floats:
        """Judged share of each stratum."""
        return np.asarray(self.count / self.size)

    def total(self, values: Floats) -> Floats:
        """Sum over the outputs of each stratum."""
        return np.bincount(self.code, weights=values, minlength=len(self.names)).astype(np.float64)

    def means(self, values: Floats) -> Floats:
        """Mean of each column over the outputs of each stratum, (H, p)."""
        columns = [self.total(column) / self.count for column in values.T]
        return np.column_stack([np.empty((len(self.names), 0)), *columns])


@dataclass(frozen=True, eq=False)
class StratifiedFit:
    """A slope, and the estimate as weights on the judged outputs.

    Attributes
    ----------
    kind : str
        "combined", "separate" or "given".
    slope : (p,) array
        The slope; the mean over the pool of separate ones.
    estimate : float
        The point estimate.
    weights : (n,) array
        Weight of each judged output; they add up to W in each stratum.
    residual_variance, freedom : (H,) array
        Variance of mean judgments around the fit by stratum, and its degrees of freedom.
    """

    kind: str
    slope: Floats
    estimate: float
    weights: Floats
    residual_variance: Floats
    freedom: Floats


def layout_of(labels: NDArray[Any], strata_sizes: Mapping[Any, int], *, identified: bool) -> Layout:
    """Return the strata of the judged outputs, after checking that each tells its spread."""
    distinct, code = np.unique(labels, return_inverse=True)
    names = distinct.tolist()
    for name in names:
        if name not in strata_sizes:
            raise InvalidArgumentError(
                f"`strata_sizes` must hold every stratum that was judged; {name!r} is missing"
            )
    empty = [name for name, size in strata_sizes.items() if size > 0 and name not in names]
    if empty:
        raise NotEstimableError(
            f"no output of stratum {empty[0]!r} was judged ({len(empty)} such strata), so its mean "
            "is unknown: judge two of its outputs, or merge it with a stratum like it"
        )
    size = np.array([strata_sizes[name] for name in names], dtype=np.float64)
    count = np.bincount(code).astype(np.float64)
    for name, here, there in zip(names, count, size, strict=True):
        if identified and here > there:
            raise InvalidArgumentError(
                f"`strata_sizes` must not be below the number of judged outputs; stratum {name!r} "
                f"has {there:g} outputs and {here:g} judged"
            )
        if here < 2 and not (identified and here == there):
            raise NotEstimableError(
                f"stratum {name!r} has one judged output of {there:g}, which tells no spread: "
                "judge a second one, or merge it with a stratum like it"
            )
    return Layout(tuple(names), code, size, count)


def pool_means(
    sample: JudgedOutputs,
    layout: Layout,
    metric_pool: ArrayLike | Pool | Mapping[Any, ArrayLike | Pool],
) -> Floats:
    """Return the pool's mean metrics, by stratum (H, p) where they are known so, else (p,)."""
    if not isinstance(metric_pool, Mapping):
        pool = as_pool(metric_pool)
        check_metrics(sample, pool)
        if pool.size != layout.pool_size:
            raise InvalidArgumentError(
                f"`metric_pool` must hold as many outputs as `strata_sizes`, {layout.pool_size}; "
                f"got {pool.size}"
            )
        return pool.mean
    means = np.empty((len(layout.names), sample.n_metrics))
    for number, name in enumerate(layout.names):
        if name not in metric_pool:
            raise InvalidArgumentError(
                f"`metric_pool` must hold every stratum; {name!r} is missing"
            )
        part = as_pool(metric_pool[name])
        inside = layout.code == number
        check_metrics(replace(sample, metric=sample.metric[inside]), part)
        if part.size != layout.size[number]:
            raise InvalidArgumentError(
                f"`metric_pool` must hold as many outputs as `strata_sizes`; stratum {name!r} has "
                f"{part.size} against {layout.size[number]:g}"
            )
        means[number] = part.mean
    return means


def fit_strata(
    sample: JudgedOutputs, layout: Layout, pool: Floats, slope: StratifiedSlope | ArrayLike
) -> StratifiedFit:
    """Return the stratified estimate that uses the asked slope."""
    if not isinstance(slope, str):
        return _given(sample, layout, _overall(layout, pool), given_slope(slope, sample.n_metrics))
    if slope == "combined":
        return _combined(sample, layout, _overall(layout, pool))
    if slope == "separate":
        if pool.ndim == 1:
            raise InvalidArgumentError(
                "`metric_pool` must map each stratum to its metrics for separate slopes; got one "
                'array for all: pass a mapping, or use slope="combined"'
            )
        return _separate(sample, layout, pool)
    raise InvalidArgumentError(
        f"`slope` must be a number or one of combined, separate; got {slope!r}"
    )


def _overall(layout: Layout, pool: Floats) -> Floats:
    return pool if pool.ndim == 1 else layout.share @ pool


def plain_fit(sample: JudgedOutputs, layout: Layout) -> StratifiedFit:
    """Return the stratified mean without a metric."""
    return _given(sample, layout, np.empty(0), np.empty(0))


def _given(sample: JudgedOutputs, layout: Layout, pool: Floats, slope: Floats) -> StratifiedFit:
    y = layout.means(sample.mean[:, np.newaxis])[:, 0]
    shift = layout.share @ layout.means(sample.metric) - pool
    freedom = layout.count - 1
    return StratifiedFit(
        "given",
        slope,
        float(layout.share @ y - slope @ shift),
        (layout.share / layout.count)[layout.code],
        _residual_variance(sample, layout, slope[np.newaxis], freedom),
        freedom,
    )


def _combined(sample: JudgedOutputs, layout: Layout, pool: Floats) -> StratifiedFit:
    n, H, p = sample.n_outputs, len(layout.names), sample.n_metrics
    if n - H - p < 2:
        raise NotEstimableError(
            f"a combined slope on {p} metric(s) in {H} strata needs more than {H + p + 1} judged "
            f"outputs; got {n}: judge more outputs, use fewer metrics, or give the slope"
        )
    W, count, code = layout.share, layout.count, layout.code
    # The weights that give the stratified mean the least variance (Cochran, section 7.10).
    pairs = np.maximum(count * (count - 1), 1)
    k = W**2 * (1 - layout.fraction if sample.identified else 1.0) / pairs
    k = (k if k.any() else W**2 / pairs)[code]
    g, y = _centred(sample, layout)
    inverse = slope_solver(sample.metric, g, weights=k, where="strata")
    slope = inverse @ (g.T @ (k * y))
    shift = W @ layout.means(sample.metric) - pool
    # What each stratum adds to the slope is what the slope takes of its degrees of freedom.
    leverage = layout.total(k * np.einsum("ij,jk,ik->i", g, inverse, g))
    freedom = count - 1 - leverage
    return StratifiedFit(
        "combined",
        slope,
        float(W @ layout.means(sample.mean[:, np.newaxis])[:, 0] - slope @ shift),
        (W / count)[code] - k * (g @ (inverse @ shift)),
        _residual_variance(sample, layout, slope[np.newaxis], freedom),
        freedom,
    )


def _separate(sample: JudgedOutputs, layout: Layout, pool: Floats) -> StratifiedFit:
    p, W, count = sample.n_metrics, layout.share, layout.count
    g, _ = _centred(sample, layout)
    shift = layout.means(sample.metric) - pool
    slopes = np.zeros((len(layout.names), p))
    freedom = count - 1
    weights = (W / count)[layout.code]
    for number, name in enumerate(layout.names):
        inside = layout.code == number
        if sample.identified and count[number] == layout.size[number] and count[number] < p + 3:
            continue  # all of it was judged: there is nothing to correct
        if count[number] < p + 3:
            raise NotEstimableError(
                f"a slope of its own on {p} metric(s) needs more than {p + 2} judged outputs in "
                f'stratum {name!r}; got {count[number]:g}: use slope="combined"'
            )
        ones = np.ones(int(count[number]))
        inverse = slope_solver(
            sample.metric[inside], g[inside], weights=ones, where=f"stratum {name!r}"
        )
        slopes[number] = inverse @ (g[inside].T @ sample.mean[inside])
        weights[inside] -= W[number] * (g[inside] @ (inverse @ shift[number]))
        freedom[number] -= p
    y = layout.means(sample.mean[:, np.newaxis])[:, 0]
    return StratifiedFit(
        "separate",
        W @ slopes,
        float(W @ (y - (slopes * shift).sum(axis=1))),
        weights,
        _residual_variance(sample, layout, slopes, freedom),
        freedom,
    )


def _centred(sample: JudgedOutputs, layout: Layout) -> tuple[Floats, Floats]:
    """Metrics and judgments around their strata's means."""
    g = sample.metric - layout.means(sample.metric)[layout.code]
    y = sample.mean - layout.means(sample.mean[:, np.newaxis])[layout.code, 0]
    return g, y


def _residual_variance(
    sample: JudgedOutputs, layout: Layout, slopes: Floats, freedom: Floats
) -> Floats:
    """Residual variance of each stratum; one whose only output was judged takes that of all."""
    g, y = _centred(sample, layout)
    slopes = np.broadcast_to(slopes, (len(layout.names), slopes.shape[1]))
    squares = layout.total((y - (g * slopes[layout.code]).sum(axis=1)) ** 2)
    lone = layout.count == 1
    short = ~lone & (freedom < 1e-9)
    if short.any():
        name = layout.names[int(np.flatnonzero(short)[0])]
        raise NotEstimableError(
            f"the slope rests on stratum {name!r} alone, which leaves nothing to tell its spread: "
            "judge more of its outputs, or give the slope"
        )
    if lone.all():
        raise NotEstimableError("no stratum has two judged outputs: merge strata")
    pooled = squares.sum() / freedom[~lone].sum()
    return np.where(lone, pooled, squares / np.where(lone, 1, freedom))
