"""The slope of judgment on metric, and how the estimate that uses it weighs the outputs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import Draw, JudgedOutputs, Pool, simple_draw
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.cross_fit import cross_fit, leave_one_out
from steelyard.estimate.fit import Centred, Fit, Form, solution

__all__ = ["SlopeKind", "fit_slope", "shrinkage"]

Floats = NDArray[np.float64]
SlopeKind = Literal["least-squares", "plug-in", "cross-fit", "shrunk", "pooled"]
# Those that are defined for every draw.
_EVERY_DRAW = ("least-squares", "pooled", "separate")


def fit_slope(  # noqa: PLR0911  (one return a kind)
    sample: JudgedOutputs,
    draw: Draw,
    pool: Pool | None,
    slope: SlopeKind | Literal["separate"] | ArrayLike,
    *,
    form: Form = "hajek",
    strata_means: Floats | None = None,
    others: Sequence[JudgedOutputs] = (),
    folds: int | None = None,
    rng: np.random.Generator,
) -> Fit:
    """Return the slope of the asked kind and the estimate that uses it.

    Parameters
    ----------
    sample : JudgedOutputs
        The judged outputs.
    draw : Draw
        How they were drawn.
    pool : Pool or None
        The pool's metrics; None when there is no metric.
    slope : str or (p,) array
        "least-squares", "plug-in", "cross-fit", "shrunk", "pooled", "separate" (one for each
        stratum), or numbers from elsewhere.
    form : {"hajek", "horvitz-thompson"}
        What a sum over unequal probabilities is divided by.
    strata_means : (H, p) array, optional
        Mean metrics of the pool in each stratum, for "separate".
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
    c = Centred.of(sample, draw, np.empty(0) if pool is None else pool.mean, form=form)
    if not isinstance(slope, str):
        return _fixed("given", sample, draw, c, _given_slope(slope, sample.n_metrics))
    if slope == "pooled":
        return _fixed("pooled", sample, draw, c, _pooled_slope(others, sample.n_metrics))
    _check_kind(slope, draw)
    if slope == "separate" and len(draw.names) > 1:
        assert strata_means is not None
        return _separate(sample, draw, c, strata_means)
    _check_estimable(sample, draw, c)
    if slope == "plug-in":
        assert pool is not None
        return _plug_in(sample, c, pool.covariance)
    full = _least_squares(sample, draw, c)
    if slope == "shrunk":
        return _shrunk(full, sample, c)
    if slope == "cross-fit":
        drawn_from = pool.size if pool is not None and sample.identified else None
        if folds is None:
            return leave_one_out(full, sample, c, pool_size=drawn_from)
        return cross_fit(full, sample, c, folds=folds, pool_size=drawn_from, rng=rng)
    return full


def _least_squares(sample: JudgedOutputs, draw: Draw, c: Centred) -> Fit:
    pull = solution(c.S, c.g.T).T
    freedom = None
    if draw.probability is None:
        # What each stratum adds to the slope is what the slope takes of its degrees of freedom.
        leverage = draw.total(c.weights * np.einsum("ij,ij->i", c.g, pull))
        freedom = _checked_freedom(draw, draw.count - 1 - leverage)
    kind = "combined" if len(draw.names) > 1 else "least-squares"
    solver = (pull * c.weights[:, np.newaxis]).T
    return c.fit(kind, sample, slope=solution(c.S, c.C), solver=solver, freedom=freedom)


def _plug_in(sample: JudgedOutputs, c: Centred, covariance: Floats) -> Fit:
    # Algorithm 1 of the paper: the metric is standardised by the pool's own mean and variance,
    # and the covariance is divided by n.
    n, p = sample.metric.shape
    solver = solution(covariance, c.g.T) / n
    slope = solution(covariance, c.C / n)
    return c.fit("plug-in", sample, slope=slope, solver=solver, freedom=np.array([n - 1.0 - p]))


def _fixed(kind: str, sample: JudgedOutputs, draw: Draw, c: Centred, slope: Floats) -> Fit:
    if sample.n_outputs < 2:
        raise NotEstimableError(
            f"an interval needs at least 2 judged outputs; got {sample.n_outputs}: judge more "
            "outputs"
        )
    freedom = draw.count - 1 if draw.probability is None else None
    solver = np.empty((0, sample.n_outputs))
    return c.fit(kind, sample, slope=slope, solver=solver, freedom=freedom)


def _shrunk(full: Fit, sample: JudgedOutputs, c: Centred) -> Fit:
    freedom = full.degrees_of_freedom
    kept = shrinkage(
        c.C @ full.slope,
        np.asarray(full.residual_variance * freedom),
        sample.n_metrics,
        freedom=freedom,
    )
    slope = kept * full.slope
    # The weights stay those of the full slope: how much is kept is itself uncertain, and so the
    # variance is not shrunk with the slope.
    return replace(
        full,
        kind="shrunk",
        slope=slope,
        estimate=float(c.plain @ sample.mean - slope @ c.shift),
        residual=c.y - c.g @ slope,
    )


def _separate(sample: JudgedOutputs, draw: Draw, c: Centred, strata_means: Floats) -> Fit:
    """Return the estimate with a slope for each stratum."""
    p, count = sample.n_metrics, draw.count
    shift = draw.means(sample.metric, c.plain) - strata_means
    slopes = np.zeros((len(draw.names), p))
    freedom, weights = count - 1, c.plain.copy()
    columns, solvers = [np.empty((sample.n_outputs, 0))], [np.empty((0, sample.n_outputs))]
    for number, name in enumerate(draw.names):
        inside = draw.stratum == number
        if sample.identified and count[number] == draw.size[number] and count[number] < p + 3:
            continue  # all of it was judged: there is nothing to correct
        if count[number] < p + 3:
            raise NotEstimableError(
                f"a slope of its own on {p} metric(s) needs more than {p + 2} judged outputs in "
                f'stratum {name!r}; got {count[number]:g}: use slope="combined"'
            )
        g = np.where(inside[:, np.newaxis], c.g, 0.0)
        _check_metrics(sample.metric[inside], g.T @ g, f"within stratum {name!r}")
        columns.append(g)
        solvers.append(solution(g.T @ g, g.T))
        slopes[number] = solvers[-1] @ c.y
        weights -= draw.share[number] * (solvers[-1].T @ shift[number])
        freedom[number] -= p
    return Fit(
        kind="separate",
        slope=draw.share @ slopes,
        estimate=float(c.plain @ sample.mean - draw.share @ (slopes * shift).sum(axis=1)),
        weights=weights,
        plain=c.plain,
        residual=c.y - (c.g * slopes[draw.stratum]).sum(axis=1),
        columns=np.column_stack(columns),
        solver=np.vstack(solvers),
        freedom=freedom,
    )


def shrinkage(explained: Floats, residual: Floats, n_metrics: int, *, freedom: float) -> Floats:
    r"""Share of a least-squares slope to keep: :math:`E / (E + 3 p R / \nu)`.

    A worthless metric explains one residual variance :math:`R/\nu` of the sum of squares E on
    average. The constant 3 was chosen by measurement (docs/decisions/0002-slope.md).

    Parameters
    ----------
    explained, residual : array
        Explained and residual sums of squares, E and R, on any common scale.
    n_metrics : int
        Number of metrics p.
    freedom : float
        Residual degrees of freedom.
    """
    noise = 3 * n_metrics * residual / freedom
    return np.divide(
        explained, explained + noise, out=np.zeros_like(noise), where=np.asarray(explained > 0)
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
    zero = np.zeros(n_metrics)
    parts = [Centred.of(other, simple_draw(other, None), zero) for other in others]
    S = np.sum([part.S for part in parts], axis=0)
    C = np.sum([part.C for part in parts], axis=0)
    n = sum(other.n_outputs for other in others)
    freedom = n - len(others) - n_metrics
    if freedom < 2:
        raise NotEstimableError(
            f'slope "pooled" needs more judged outputs of other systems; got {n} of '
            f'{len(others)} system(s): use slope="least-squares"'
        )
    _check_rank(S, "on the other systems' judged outputs")
    slope = solution(S, C)
    explained = C @ slope
    residual = np.asarray(max(sum(part.y @ part.y for part in parts) - explained, 0.0))
    return np.asarray(slope * shrinkage(explained, residual, n_metrics, freedom=freedom))


def _check_kind(slope: str, draw: Draw) -> None:
    known = (*get_args(SlopeKind), "separate")
    if slope not in known:
        raise InvalidArgumentError(
            f"`slope` must be a number or one of {', '.join(get_args(SlopeKind))}; got {slope!r}"
        )
    if slope not in _EVERY_DRAW and not draw.simple:
        raise InvalidArgumentError(
            f"`slope` must be a number or least-squares for a recorded draw or clusters; got {slope!r}"
        )


def _check_estimable(sample: JudgedOutputs, draw: Draw, c: Centred) -> None:
    n, p, H = sample.n_outputs, sample.n_metrics, len(draw.names)
    if p == 0:
        raise InvalidArgumentError("`metric` must hold at least one metric; got none")
    if n <= H + p + 1:
        which = "a slope" if H == 1 else "a combined slope"
        where = "" if H == 1 else f" in {H} strata"
        raise NotEstimableError(
            f"{which} on {p} metric(s){where} needs more than {H + p + 1} judged outputs; got {n}: "
            "judge more outputs, use fewer metrics, or give the slope"
        )
    where = "on the judged outputs" if H == 1 else "within strata"
    _check_metrics(sample.metric * np.sqrt(c.weights)[:, np.newaxis], c.S, where)


def _check_metrics(metric: Floats, S: Floats, where: str) -> None:
    """Raise if a metric does not vary, of which only rounding is left, or repeats others."""
    n, p = metric.shape
    constant = np.flatnonzero(np.sqrt(np.diag(S) / n) <= 1e-12 * np.abs(metric).max(axis=0))
    if len(constant):
        which = "the metric" if p == 1 else f"metric {constant[0] + 1} of {p}"
        raise NotEstimableError(
            f"{which} is constant {where} and cannot correct anything: leave it out, or use the "
            "plain mean"
        )
    _check_rank(S, where)


def _check_rank(S: Floats, where: str) -> None:
    scale = np.sqrt(np.diag(S))
    if (scale == 0).any():
        raise NotEstimableError(f"a metric is constant {where}: leave it out")
    if np.linalg.eigvalsh(S / np.outer(scale, scale))[0] < 1e-10:
        raise NotEstimableError(
            f"the metrics are collinear {where}: leave out those that repeat others"
        )


def _checked_freedom(draw: Draw, freedom: Floats) -> Floats:
    short = (draw.count > 1) & (freedom < 1e-9)
    if short.any():
        name = draw.names[int(np.flatnonzero(short)[0])]
        raise NotEstimableError(
            f"the slope rests on stratum {name!r} alone, which leaves nothing to tell its spread: "
            "judge more of its outputs, or give the slope"
        )
    return freedom
