"""The slope of judgment on metric, and how the estimate that uses it weighs the outputs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import JudgedOutputs, Pool
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.cross_fit import cross_fit, leave_one_out
from steelyard.estimate.fit import Centred, Fit, solution

__all__ = ["SlopeKind", "fit_slope", "shrinkage"]

Floats = NDArray[np.float64]
SlopeKind = Literal["least-squares", "plug-in", "cross-fit", "shrunk", "pooled"]


def fit_slope(  # noqa: PLR0911  (one return a kind)
    sample: JudgedOutputs,
    pool: Pool | None,
    slope: SlopeKind | ArrayLike,
    *,
    others: Sequence[JudgedOutputs] = (),
    folds: int | None = None,
    rng: np.random.Generator,
) -> Fit:
    """Return the slope of the asked kind and the estimate that uses it.

    Parameters
    ----------
    sample : JudgedOutputs
        The judged outputs.
    pool : Pool or None
        The pool's metrics; None when there is no metric.
    slope : str or (p,) array
        "least-squares", "plug-in", "cross-fit", "shrunk", "pooled", or numbers from elsewhere.
    others : sequence of JudgedOutputs
        Judged outputs of other systems, for "pooled".
    folds : int, optional
        Number of folds for "cross-fit"; by default each output is a fold of its own.
    rng : numpy.random.Generator
        Assigns outputs to folds when `folds` is given.

    Returns
    -------
    Fit
    """
    centred = Centred.of(sample, np.empty(0) if pool is None else pool.mean)
    if not isinstance(slope, str):
        return _fixed("given", sample, centred, _given_slope(slope, sample.n_metrics))
    if slope == "pooled":
        return _fixed("pooled", sample, centred, _pooled_slope(others, sample.n_metrics))
    _check_estimable(sample, centred)
    if slope == "plug-in":
        assert pool is not None
        return _plug_in(sample, centred, pool.covariance)
    full = _least_squares(sample, centred)
    if slope == "shrunk":
        return _shrunk(full, sample, centred)
    if slope == "cross-fit":
        drawn_from = None if pool is None or not sample.identified else pool.size
        if folds is None:
            return leave_one_out(full, sample, centred, pool_size=drawn_from)
        return cross_fit(full, sample, centred, folds=folds, pool_size=drawn_from, rng=rng)
    if slope == "least-squares":
        return full
    raise InvalidArgumentError(
        f"`slope` must be a number or one of {', '.join(get_args(SlopeKind))}; got {slope!r}"
    )


def _least_squares(sample: JudgedOutputs, c: Centred) -> Fit:
    weights = 1 / sample.n_outputs - c.g @ np.linalg.solve(c.S, c.shift)
    return _fit("least-squares", sample, c, slope=solution(c.S, c.C), weights=weights)


def _plug_in(sample: JudgedOutputs, c: Centred, covariance: Floats) -> Fit:
    # Algorithm 1 of the paper: the metric is standardised by the pool's own mean and variance,
    # and the covariance is divided by n.
    n = sample.n_outputs
    weights = 1 / n - c.g @ np.linalg.solve(covariance, c.shift) / n
    return _fit("plug-in", sample, c, slope=solution(covariance, c.C / n), weights=weights)


def _fit(kind: str, sample: JudgedOutputs, c: Centred, *, slope: Floats, weights: Floats) -> Fit:
    freedom = sample.n_outputs - 1 - sample.n_metrics
    residual = c.y - c.g @ slope
    estimate = float(sample.mean.mean() - slope @ c.shift)
    return Fit(kind, slope, estimate, weights, float(residual @ residual / freedom), freedom)


def _shrunk(full: Fit, sample: JudgedOutputs, c: Centred) -> Fit:
    freedom = full.degrees_of_freedom
    kept = shrinkage(
        c.C @ full.slope,
        np.asarray(full.residual_variance * freedom),
        sample.n_metrics,
        freedom=freedom,
    )
    slope = kept * full.slope
    residual = c.y - c.g @ slope
    # The weights stay those of the full slope: how much is kept is itself uncertain, and so the
    # variance is not shrunk with the slope.
    return replace(
        full,
        kind="shrunk",
        slope=slope,
        estimate=float(sample.mean.mean() - slope @ c.shift),
        residual_variance=float(residual @ residual / freedom),
    )


def shrinkage(explained: Floats, residual: Floats, n_metrics: int, *, freedom: int) -> Floats:
    r"""Share of a least-squares slope to keep: :math:`E / (E + 3 p R / \nu)`.

    A worthless metric explains one residual variance :math:`R/\nu` of the sum of squares E on
    average. The constant 3 was chosen by measurement (docs/decisions/0002-slope.md).

    Parameters
    ----------
    explained, residual : array
        Explained and residual sums of squares, E and R, on any common scale.
    n_metrics : int
        Number of metrics p.
    freedom : int
        Residual degrees of freedom.
    """
    noise = 3 * n_metrics * residual / freedom
    return np.divide(
        explained, explained + noise, out=np.zeros_like(noise), where=np.asarray(explained > 0)
    )


def _fixed(kind: str, sample: JudgedOutputs, c: Centred, slope: Floats) -> Fit:
    n = sample.n_outputs
    if n < 2:
        raise NotEstimableError(
            f"an interval needs at least 2 judged outputs; got {n}: judge more outputs"
        )
    residual = c.y - c.g @ slope
    estimate = float(sample.mean.mean() - slope @ c.shift)
    variance = float(residual @ residual / (n - 1))
    return Fit(kind, slope, estimate, np.full(n, 1 / n), variance, n - 1)


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


def _pooled_slope(others: Sequence[JudgedOutputs], n_metrics: int) -> Floats:
    if not others:
        raise InvalidArgumentError(
            '`others` are needed for slope "pooled": pass the judged outputs of the other '
            'systems, or use slope="least-squares"'
        )
    if any(other.n_metrics != n_metrics for other in others):
        raise InvalidArgumentError(
            f"`others` must carry the same {n_metrics} metric(s) as this system"
        )
    parts = [Centred.of(other, np.zeros(n_metrics)) for other in others]
    S = np.sum([part.S for part in parts], axis=0)
    C = np.sum([part.C for part in parts], axis=0)
    n = sum(other.n_outputs for other in others)
    freedom = n - len(others) - n_metrics
    if freedom < 2:
        raise NotEstimableError(
            f'slope "pooled" needs more judged outputs of other systems; got {n} of '
            f'{len(others)} system(s): use slope="least-squares"'
        )
    _check_rank(S, "the other systems' judged outputs")
    slope = solution(S, C)
    explained = C @ slope
    residual = np.asarray(max(sum(part.y @ part.y for part in parts) - explained, 0.0))
    return np.asarray(slope * shrinkage(explained, residual, n_metrics, freedom=freedom))


def _check_estimable(sample: JudgedOutputs, c: Centred) -> None:
    n, p = sample.n_outputs, sample.n_metrics
    if p == 0:
        raise InvalidArgumentError("`metric` must hold at least one metric; got none")
    if n <= p + 2:
        raise NotEstimableError(
            f"a slope on {p} metric(s) needs more than {p + 2} judged outputs; got {n}: "
            "judge more outputs, use fewer metrics, or give the slope"
        )
    scale = np.abs(sample.metric).max(axis=0)
    constant = np.flatnonzero(np.sqrt(np.diag(c.S) / n) <= 1e-12 * scale)
    if len(constant):
        which = "the metric" if p == 1 else f"metric {constant[0] + 1} of {p}"
        raise NotEstimableError(
            f"{which} is constant ({sample.metric[0, constant[0]]:g}) on the judged outputs and "
            "cannot correct anything: leave it out, or use the plain mean"
        )
    _check_rank(c.S, "the judged outputs")


def _check_rank(S: Floats, where: str) -> None:
    scale = np.sqrt(np.diag(S))
    if (scale == 0).any():
        raise NotEstimableError(f"a metric is constant on {where}: leave it out")
    if np.linalg.eigvalsh(S / np.outer(scale, scale))[0] < 1e-10:
        raise NotEstimableError(
            f"the metrics are collinear on {where}: leave out those that repeat others"
        )
