"""Slopes of judgments on metrics, and the estimate of the mean that each gives as weights on the outputs."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Floats
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.single.judged import JudgedSample
from steelyard.single.pool import PoolMoments

__all__ = ["Slope", "SlopeFit", "check_pool", "slope_fit"]

Slope = Literal["least-squares", "plug-in"]


@dataclass(frozen=True, eq=False)
class SlopeFit:
    """A slope, and the estimate as weights (n,) on the outputs; `residual` (n,) is what it leaves."""

    method: str
    slope: Floats
    estimate: float
    weights: Floats
    residual: Floats
    freedom: float
    fitted: bool = False

    @property
    def variance(self) -> float:
        """Variance of mean judgments around the fit."""
        return float(self.residual @ self.residual) / self.freedom


def slope_fit(sample: JudgedSample, pool: PoolMoments | None, slope: Slope | ArrayLike) -> SlopeFit:
    """Return the fit of a slope, by name or as numbers; the plain mean where there is no pool of metrics.

    Raises
    ------
    InvalidArgumentError
        If the slope is of no known name, or not a finite number for each metric.
    NotEstimableError
        If there are too few judged outputs, or they do not determine the slope.
    """
    n = sample.n_outputs
    if n < 2 and (pool is None or not isinstance(slope, str)):
        raise NotEstimableError(
            f"an interval needs at least 2 judged outputs; got {n}: judge more outputs"
        )
    # around their mean, so that equal judgments give exactly that number
    centre = sample.mean.mean()
    y = sample.mean - centre
    plain = np.full(n, 1 / n)
    if pool is None:
        return SlopeFit("sample-mean", np.empty(0), float(centre), plain, y, n - 1)
    g = sample.metric - sample.metric.mean(axis=0)
    shift = sample.metric.mean(axis=0) - pool.mean
    if not isinstance(slope, str):
        given = _given_slope(slope, sample.n_metrics)
        estimate = float(centre - given @ shift)
        return SlopeFit("control-variates/given", given, estimate, plain, y - g @ given, n - 1)
    if slope not in get_args(Slope):
        raise InvalidArgumentError(
            f"`slope` must be a number or one of {', '.join(get_args(Slope))}; got {slope!r}"
        )
    S = g.T @ g
    _check_estimable(sample, S)
    # Algorithm 1 standardises the metric by the pool's variance, and divides by n
    solver = np.linalg.solve(n * pool.covariance if slope == "plug-in" else S, g.T)
    a = np.asarray(solver @ y)
    return SlopeFit(
        f"control-variates/{slope}",
        slope=a,
        estimate=float(centre - a @ shift),
        weights=plain - solver.T @ shift,
        residual=y - g @ a,
        freedom=n - 1 - sample.n_metrics,
        fitted=True,
    )


def _given_slope(slope: ArrayLike, n_metrics: int) -> Floats:
    try:
        given = np.atleast_1d(np.asarray(slope, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"`slope` must be a name or numbers: {error}") from error
    if given.shape != (n_metrics,) or not np.isfinite(given).all():
        raise InvalidArgumentError(
            f"`slope` must be {n_metrics} finite number(s), one a metric; got {slope!r}"
        )
    return given


def check_pool(sample: JudgedSample, pool: PoolMoments) -> None:
    """Raise unless the pool has the metrics of the sample, and can have held its outputs."""
    if sample.n_metrics == 0:
        raise InvalidArgumentError("`metric` must hold at least one metric; got none")
    if len(pool.mean) != sample.n_metrics:
        raise InvalidArgumentError(
            f"`metric_pool` must hold the same metrics as `metric`; got {len(pool.mean)} "
            f"against {sample.n_metrics}"
        )
    if sample.identified and sample.n_outputs > pool.size:
        raise InvalidArgumentError(
            f"`metric_pool` must include the judged outputs; got {pool.size} outputs in the pool "
            f"and {sample.n_outputs} judged"
        )
    slack = 1e-6 * (pool.high - pool.low)
    outside = (sample.metric < pool.low - slack) | (sample.metric > pool.high + slack)
    if outside.any():
        row, column = np.argwhere(outside)[0]
        raise InvalidArgumentError(
            f"`metric_pool` must include the judged outputs; metric {column} of a judged output is "
            f"{sample.metric[row, column]:g}, outside the pool's range "
            f"[{pool.low[column]:g}, {pool.high[column]:g}]: are both on the same scale?"
        )


def _check_estimable(sample: JudgedSample, S: Floats) -> None:
    """Raise if a slope on the metrics is not determined by the judged outputs."""
    n, p = sample.n_outputs, sample.n_metrics
    if n <= p + 2:
        raise NotEstimableError(
            f"a slope on {p} metric(s) needs more than {p + 2} judged outputs; got {n}: "
            "judge more outputs, use fewer metrics, or give the slope"
        )
    scale = np.sqrt(np.diag(S))
    constant = np.flatnonzero(scale / np.sqrt(n) <= 1e-12 * np.abs(sample.metric).max(axis=0))
    if len(constant):
        which = "the metric" if p == 1 else f"metric {constant[0] + 1} of {p}"
        raise NotEstimableError(
            f"{which} is constant on the judged outputs and cannot correct anything: leave it out, "
            "or use the plain mean"
        )
    if np.linalg.eigvalsh(S / np.outer(scale, scale))[0] < 1e-10:
        raise NotEstimableError(
            "the metrics are collinear on the judged outputs: leave out those that repeat others"
        )
