"""From a fit to an estimate: error variance, interval and what a reader must know."""

import numpy as np
from scipy.special import ndtri, stdtrit

from steelyard.arrays import JudgedOutputs, Pool
from steelyard.errors import NotEstimableError
from steelyard.estimate.betting import betting_interval
from steelyard.estimate.bootstrap import Resamples, bootstrap_interval, resample
from steelyard.estimate.fit import Fit
from steelyard.estimate.options import BOOTSTRAPS, Options
from steelyard.estimate.raters import adjusted_fit, random_raters, rater_model
from steelyard.estimate.result import Estimate
from steelyard.estimate.uncertainty import ErrorVariance, fixed_raters

__all__ = ["conclude"]

_FEW_JUDGMENTS = 20


def conclude(
    fit: Fit,
    sample: JudgedOutputs,
    pool: Pool | None,
    *,
    pool_size: int | None,
    options: Options,
    baseline: Estimate | None = None,
    draws: Resamples | None = None,
) -> Estimate:
    """Return the estimate that `fit` and `options` ask for.

    Parameters
    ----------
    fit : Fit
        Slope, point estimate and weights.
    sample : JudgedOutputs
        The judged outputs.
    pool : Pool or None
        The pool's metrics, None for the plain mean.
    pool_size : int or None
        Number of outputs in the pool, None when it is not known.
    options : Options
        Target, raters and interval.
    baseline : Estimate, optional
        The plain mean of the same judgments.
    draws : Resamples, optional
        Resamples of the judged outputs, where the interval needs them; drawn if not given.

    Returns
    -------
    Estimate
    """
    counted = options.target == "census" and sample.n_outputs == pool_size
    interval: str = options.interval
    if _without_spread(fit, sample) and not counted:
        _check_independent(options)
        interval = "betting"
        low, high = _bounded(fit, sample, pool, options)
        variance = _implied_variance(low, high, fit, options)
    else:
        fit, variance = _error_variance(fit, sample, pool, pool_size, options)
        if not counted:
            _check_width(variance, fit)
        if interval in BOOTSTRAPS and draws is None:
            draws = resample(sample, options)
        low, high = _interval(draws, fit, sample, pool, variance=variance, options=options)
    notes = (*variance.notes, *_notes(fit, sample, options, counted=counted))
    return Estimate(
        estimate=fit.estimate,
        standard_error=float(np.sqrt(variance.value)),
        low=float(low),
        high=float(high),
        level=options.level,
        target=options.target,
        raters=options.raters_as,
        method=_method(fit, interval),
        n_outputs=sample.n_outputs,
        n_judgments=sample.n_judgments,
        n_raters=sample.n_raters,
        pool_size=pool_size,
        degrees_of_freedom=float(variance.degrees_of_freedom),
        slope=tuple(float(a) for a in fit.slope),
        baseline=baseline,
        notes=notes,
    )


def _method(fit: Fit, interval: str) -> str:
    estimator = f"control-variates/{fit.kind}" if len(fit.slope) else "sample-mean"
    return f"{estimator}/{interval}"


def _without_spread(fit: Fit, sample: JudgedOutputs) -> bool:
    """Whether judged outputs do not vary, or not around the fit, beyond rounding."""
    rounding = 1e-12 * float(np.abs(sample.mean).max())
    return bool(np.ptp(sample.mean) <= rounding or np.sqrt(fit.residual_variance) <= rounding)


def _check_independent(options: Options) -> None:
    """Refuse raters as a sample where nothing but the bounds could give a width."""
    if options.raters_as != "fixed":
        raise NotEstimableError(
            "the judged outputs show no spread, so how much raters differ cannot be told: collect "
            'more judgments by more raters, or use raters_as="fixed" with `bounds`'
        )


def _check_width(variance: ErrorVariance, fit: Fit) -> None:
    """Refuse an interval of one point, unless the mean that it is about was counted."""
    # Of the variance without a finite pool only rounding is left.
    if variance.value <= 1e-12 * fit.residual_variance * float(fit.weights @ fit.weights):
        raise NotEstimableError(
            "the interval would be a single point, as every output was judged and rater noise is "
            'taken as 0: use target="census", or give the `rater_variance` that judgments have'
        )


def _error_variance(
    fit: Fit, sample: JudgedOutputs, pool: Pool | None, pool_size: int | None, options: Options
) -> tuple[Fit, ErrorVariance]:
    if options.raters_as == "fixed":
        return fit, fixed_raters(fit, sample, pool, pool_size=pool_size, options=options)
    if options.raters_as == "random":
        model = rater_model(fit, sample)
    else:
        fit, model = adjusted_fit(fit, sample, pool)
    return fit, random_raters(model, fit, sample, pool, pool_size=pool_size, options=options)


def _interval(
    draws: Resamples | None,
    fit: Fit,
    sample: JudgedOutputs,
    pool: Pool | None,
    *,
    variance: ErrorVariance,
    options: Options,
) -> tuple[float, float]:
    if options.interval == "betting":
        return _bounded(fit, sample, pool, options)
    if options.interval == "student":
        reach = float(stdtrit(variance.degrees_of_freedom, (1 + options.level) / 2))
        reach *= float(np.sqrt(variance.value))
        return fit.estimate - reach, fit.estimate + reach
    assert draws is not None
    return bootstrap_interval(draws, fit, sample, pool, variance=variance.value, options=options)


def _bounded(
    fit: Fit, sample: JudgedOutputs, pool: Pool | None, options: Options
) -> tuple[float, float]:
    """Return the betting interval, on residuals where the slope is not from this sample."""
    if options.bounds is None:
        equal = np.ptp(sample.mean) <= 1e-12 * np.abs(sample.mean).max()
        what = (
            f"all judged outputs have the same mean judgment ({sample.mean[0]:g})"
            if equal
            else "the metric predicts the judged outputs without error"
        )
        raise NotEstimableError(
            f"{what}, so the judgments alone give no honest width: pass `bounds`, the least and "
            "greatest possible judgment, or judge more outputs"
        )
    scores, (least, greatest) = sample.mean, options.bounds
    if not fit.from_this_sample and pool is not None and options.target != "superpopulation":
        scores = scores - (sample.metric - pool.mean) @ fit.slope
        ends = np.stack([(pool.low - pool.mean) * fit.slope, (pool.high - pool.mean) * fit.slope])
        least, greatest = least - ends.max(axis=0).sum(), greatest - ends.min(axis=0).sum()
    low, high = betting_interval(scores, bounds=(least, greatest), level=options.level)
    low, high = max(low, options.bounds[0]), min(high, options.bounds[1])
    return min(low, fit.estimate), max(high, fit.estimate)


def _implied_variance(low: float, high: float, fit: Fit, options: Options) -> ErrorVariance:
    """Return the variance that a normal interval of this length would have come from."""
    error = (high - low) / (2 * float(ndtri((1 + options.level) / 2)))
    note = (
        "the judged outputs show no spread, so the interval and the standard error come from the "
        "bounds of the score alone (betting)"
    )
    return ErrorVariance(error**2, fit.degrees_of_freedom, (note,))


def _notes(fit: Fit, sample: JudgedOutputs, options: Options, *, counted: bool) -> tuple[str, ...]:
    notes = []
    if counted:
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
