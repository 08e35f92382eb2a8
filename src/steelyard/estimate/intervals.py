"""The interval of an estimate: Student's, bootstraps, and betting on bounded scores."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from steelyard.arrays import Draw, JudgedOutputs, Pool
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.betting import betting_interval, check_bounds
from steelyard.estimate.bootstrap import Resamples, bootstrap_interval, resample
from steelyard.estimate.error_variance import ErrorVariance, Part, fixed_raters
from steelyard.estimate.fit import Fit
from steelyard.estimate.options import BOOTSTRAPS, Options
from steelyard.estimate.raters import adjusted_raters, random_raters

__all__ = ["Ends", "check_options", "ends"]


@dataclass(frozen=True, eq=False)
class Ends:
    """An interval with the fit and the error variance that it comes from."""

    low: float
    high: float
    kind: str
    fit: Fit
    variance: ErrorVariance


def check_options(draw: Draw, sample: JudgedOutputs, options: Options) -> None:
    """Refuse by name what is not known for a draw; the question is asked here only."""
    if options.bounds is not None:
        check_bounds(sample.human, options.bounds)
    if draw.simple:
        return
    if options.target == "superpopulation" and not draw.uniform:
        raise InvalidArgumentError(
            "`target` must be pool or census for a recorded draw or clusters; got "
            "'superpopulation': draw a simple sample for it"
        )
    if options.raters_as == "adjusted":
        raise InvalidArgumentError(
            '`raters_as` "adjusted" weights judgments by their raters and not by the draw, and '
            'cannot go with a recorded draw or clusters: use raters_as="random"'
        )
    if options.interval != "student":
        reason = (
            "its proof needs outputs that are drawn alike"
            if options.interval == "betting"
            else "resampled outputs would have to be drawn again by the same design"
        )
        raise InvalidArgumentError(
            f'`interval` must be "student" for a recorded draw or clusters; got '
            f'{options.interval!r}: {reason}, so use "student" or draw a simple sample'
        )


def ends(
    fit: Fit,
    sample: JudgedOutputs,
    draw: Draw,
    pool: Pool | None,
    *,
    options: Options,
    draws: Resamples | None = None,
) -> Ends:
    """Return the interval that `options` ask for.

    Parameters
    ----------
    fit : Fit
        Slope, point estimate and weights.
    sample : JudgedOutputs
        The judged outputs.
    draw : Draw
        How they were drawn.
    pool : Pool or None
        The pool's metrics, None for the plain mean.
    options : Options
        Target, raters and interval.
    draws : Resamples, optional
        Resamples of the judged outputs, where the interval needs them; drawn if not given.

    Raises
    ------
    NotEstimableError
        If it would be a single point, unless the mean that it is about was counted.
    """
    counted = options.target == "census" and sample.n_outputs == draw.pool_size
    if draw.simple and not counted and _without_spread(fit, sample):
        return _from_bounds(fit, sample, pool, options)
    if options.raters_as == "fixed":
        variance = fixed_raters(fit, sample, draw, pool, options=options)
    elif options.raters_as == "random":
        variance = random_raters(fit, sample, draw, pool, options=options)
    else:
        fit, variance = adjusted_raters(fit, sample, draw, pool, options=options)
    if not counted:
        _check_width(variance, fit, sample, draw)
    if options.interval == "betting":
        low, high = _bounded(fit, sample, pool, options)
    elif options.interval in BOOTSTRAPS:
        draws = resample(sample, options) if draws is None else draws
        low, high = bootstrap_interval(
            draws, fit, sample, pool, variance=variance.value, options=options
        )
    else:
        reach = float(stdtrit(variance.degrees_of_freedom, (1 + options.level) / 2))
        reach *= float(np.sqrt(variance.value))
        low, high = fit.estimate - reach, fit.estimate + reach
    return Ends(float(low), float(high), options.interval, fit, variance)


def _without_spread(fit: Fit, sample: JudgedOutputs) -> bool:
    """Whether judged outputs do not vary, or not around the fit, beyond rounding."""
    rounding = 1e-12 * float(np.abs(sample.mean).max())
    return bool(np.ptp(sample.mean) <= rounding or np.sqrt(fit.residual_variance) <= rounding)


def _check_width(variance: ErrorVariance, fit: Fit, sample: JudgedOutputs, draw: Draw) -> None:
    """Refuse an interval of one point."""
    rounding = 1e-12 * float(np.abs(sample.mean).max())
    if not draw.simple and np.sqrt(variance.value) <= rounding:
        raise NotEstimableError(
            "the judged outputs show no spread, so the judgments alone give no honest width: "
            "judge more outputs (`bounds` give one for a simple draw only)"
        )
    # Of the variance without a finite pool only rounding is left.
    if draw.simple and variance.value <= 1e-12 * fit.residual_variance * float(
        fit.weights @ fit.weights
    ):
        raise NotEstimableError(
            "the interval would be a single point, as every output was judged and rater noise is "
            'taken as 0: use target="census", or give the `rater_variance` that judgments have'
        )


def _from_bounds(fit: Fit, sample: JudgedOutputs, pool: Pool | None, options: Options) -> Ends:
    """Return the interval that the bounds of the score give where judgments show no spread."""
    if options.raters_as != "fixed":
        raise NotEstimableError(
            "the judged outputs show no spread, so how much raters differ cannot be told: collect "
            'more judgments by more raters, or use raters_as="fixed" with `bounds`'
        )
    low, high = _bounded(fit, sample, pool, options)
    # The variance that a normal interval of this length would have come from.
    error = (high - low) / (2 * float(ndtri((1 + options.level) / 2)))
    note = (
        "the judged outputs show no spread, so the interval and the standard error come from the "
        "bounds of the score alone (betting)"
    )
    part = Part("bounds", error**2, 1.0, fit.degrees_of_freedom)
    return Ends(low, high, "betting", fit, ErrorVariance((part,), notes=(note,)))


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
        reach = np.stack([(pool.low - pool.mean) * fit.slope, (pool.high - pool.mean) * fit.slope])
        least, greatest = least - reach.max(axis=0).sum(), greatest - reach.min(axis=0).sum()
    low, high = betting_interval(scores, bounds=(least, greatest), level=options.level)
    low, high = max(low, options.bounds[0]), min(high, options.bounds[1])
    return min(low, fit.estimate), max(high, fit.estimate)
