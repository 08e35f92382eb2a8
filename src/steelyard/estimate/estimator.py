"""The mean human score from judged outputs, whatever their draw: every estimator's one way."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.arrays import Draw, JudgedOutputs, Pool
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.bootstrap import Resamples, resample
from steelyard.estimate.fit import Fit, Form, named_method
from steelyard.estimate.intervals import check_options, ends
from steelyard.estimate.options import BOOTSTRAPS, Options
from steelyard.estimate.result import Estimate
from steelyard.estimate.slope import SlopeKind, fit_slope

__all__ = ["check_pool", "corrected_mean", "plain_mean"]

Floats = NDArray[np.float64]

_FEW_JUDGMENTS = 20


def corrected_mean(
    sample: JudgedOutputs,
    draw: Draw,
    pool: Pool,
    *,
    slope: SlopeKind | Literal["separate"] | ArrayLike,
    form: Form = "hajek",
    strata_means: Floats | None = None,
    others: Sequence[JudgedOutputs] = (),
    folds: int | None = None,
    options: Options,
    beside: bool = True,
) -> Estimate:
    """Return the estimate with metrics, and the one without them as its baseline.

    Parameters
    ----------
    sample : JudgedOutputs
        The judged outputs.
    draw : Draw
        How they were drawn.
    pool : Pool
        The pool's metrics.
    slope, form, strata_means, others, folds
        As in `fit_slope`.
    options : Options
        Target, raters and interval.
    beside : bool
        Whether to give the baseline beside it.

    Returns
    -------
    Estimate
    """
    check_options(draw, sample, options)
    check_pool(sample, pool)
    fit = fit_slope(
        sample,
        draw,
        pool,
        slope,
        form=form,
        strata_means=strata_means,
        others=others,
        folds=folds,
        rng=options.rng,
    )
    # The plain mean sees the same resamples, so that the two can be compared.
    draws = resample(sample, options) if options.interval in BOOTSTRAPS else None
    found = _estimate(fit, sample, draw, pool, form=form, options=options, draws=draws)
    if not beside:
        return found
    bare = draws and draws.without_metrics()
    # As a baseline it takes no leniency out; its error holds it all the same.
    usual = replace(options, raters_as="random") if options.raters_as == "adjusted" else options
    baseline = plain_mean(sample, draw, form=form, options=usual, draws=bare)
    return replace(found, baseline=baseline.baseline or baseline)


def plain_mean(
    sample: JudgedOutputs,
    draw: Draw,
    *,
    form: Form = "hajek",
    options: Options,
    draws: Resamples | None = None,
) -> Estimate:
    """Return the mean of `sample` as it was drawn, whatever metrics it carries.

    The baseline of a sample that was stratified after the draw is the mean without strata.
    """
    check_options(draw, sample, options)
    bare = replace(sample, metric=np.empty((sample.n_outputs, 0)))
    fit = fit_slope(bare, draw, None, np.empty(0), form=form, rng=options.rng)
    found = _estimate(fit, bare, draw, None, form=form, options=options, draws=draws)
    if not draw.poststratified:
        return found
    whole = np.array([draw.size.sum()])
    simple = Draw(("all",), np.zeros_like(draw.stratum), whole, identified=draw.identified)
    return replace(found, baseline=plain_mean(sample, simple, options=options))


def check_pool(sample: JudgedOutputs, pool: Pool) -> None:
    """Raise unless the pool has the metrics of the sample, and can have held its outputs."""
    if len(pool.mean) != sample.n_metrics:
        raise InvalidArgumentError(
            f"`metric_pool` must hold the same metrics as `metric`; got {len(pool.mean)} "
            f"against {sample.n_metrics}"
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


def _estimate(
    fit: Fit,
    sample: JudgedOutputs,
    draw: Draw,
    pool: Pool | None,
    *,
    form: Form,
    options: Options,
    draws: Resamples | None,
) -> Estimate:
    found = ends(fit, sample, draw, pool, options=options, draws=draws)
    fit, variance = found.fit, found.variance
    return Estimate(
        estimate=fit.estimate,
        standard_error=float(np.sqrt(variance.value)),
        low=found.low,
        high=found.high,
        level=options.level,
        target=options.target,
        raters=options.raters_as,
        method=f"{_method(fit, draw, form)}/{found.kind}",
        n_outputs=sample.n_outputs,
        n_judgments=sample.n_judgments,
        n_raters=sample.n_raters,
        pool_size=draw.pool_size,
        degrees_of_freedom=float(variance.degrees_of_freedom),
        slope=tuple(float(a) for a in fit.slope),
        notes=(*variance.notes, *_draw_notes(fit, draw, form), *_notes(fit, sample, draw, options)),
    )


def _method(fit: Fit, draw: Draw, form: Form) -> str:
    kind = f"control-variates/{fit.kind}" if len(fit.slope) else "mean"
    estimator = named_method(draw, kind)
    return estimator if draw.probability is None else f"{estimator}/{form}"


def _notes(fit: Fit, sample: JudgedOutputs, draw: Draw, options: Options) -> tuple[str, ...]:
    notes = []
    if options.target == "census" and sample.n_outputs == draw.pool_size:
        notes.append("every output was judged, so the census mean is known exactly")
    if len(fit.slope) and sample.n_judgments < _FEW_JUDGMENTS:
        notes.append(
            f"only {sample.n_judgments} judgments: below {_FEW_JUDGMENTS} the metric may cost more "
            "than it brings; compare with the plain mean, or take the slope from other systems"
        )
    if options.interval == "betting" and len(fit.slope) and fit.from_this_sample:
        notes.append(
            "the betting interval uses the judgments alone: a slope from the same judgments would "
            "break its guarantee; a pooled or given slope may be used"
        )
    return tuple(notes)


def _draw_notes(fit: Fit, draw: Draw, form: Form) -> tuple[str, ...]:
    """Say what about the draw itself makes the interval doubtful."""
    if draw.probability is not None:
        return _unequal_notes(draw.probability, int(draw.size.sum()), form)
    if len(draw.names) == 1:
        return ()
    flat = (draw.total(fit.residual**2) == 0) & (draw.count > 1) & (draw.count < draw.size)
    if not flat.any():
        return ()
    first = int(np.flatnonzero(flat)[0])
    note = (
        f"the {draw.count[first]:g} judged outputs of stratum {draw.names[first]!r} show no spread, so it "
        f"adds nothing to the interval ({flat.sum()} such strata): judge more of its outputs"
    )
    return (note,)


def _unequal_notes(probability: Floats, pool_size: int, form: Form) -> tuple[str, ...]:
    notes = []
    implied = float((1 / probability).sum())
    # Hajek's variance of that sum, which is zero for equal probabilities
    free = 1 - probability
    centre = float(free @ (1 / probability)) / max(float(free.sum()), 1e-300)
    error = float(np.sqrt(free @ (1 / probability - centre) ** 2))
    if abs(implied - pool_size) > 0.02 * pool_size + 4 * error:
        advice = (
            ": the Horvitz-Thompson form is wrong by as much; was every drawn output judged?"
            if form == "horvitz-thompson"
            else ""
        )
        notes.append(
            f"the probabilities imply a pool of {implied:.0f} outputs, but it has {pool_size}{advice}"
        )
    parts = free / probability**2
    # The number of equal parts that would be as uneven as these.
    alike = float(parts.sum()) ** 2 / max(float(parts @ parts), 1e-300)
    if free.any() and alike < np.count_nonzero(free) / 4:
        notes.append(
            "a few outputs with small probabilities carry most of the variance, and the interval "
            "may be too short: draw with less uneven probabilities"
        )
    return tuple(notes)
