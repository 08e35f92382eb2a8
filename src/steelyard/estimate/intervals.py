"""The interval of a plain mean: Student's, or by betting on bounded scores that do not vary."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from steelyard.arrays import Draw, JudgedOutputs
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate.betting import betting_interval, check_bounds
from steelyard.estimate.error_variance import ErrorVariance, Part, fixed_raters
from steelyard.estimate.fit import Fit
from steelyard.estimate.options import Options

__all__ = ["Ends", "check_options", "ends"]


@dataclass(frozen=True, eq=False)
class Ends:
    """An interval with the error variance that it comes from."""

    low: float
    high: float
    kind: str
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


def ends(fit: Fit, sample: JudgedOutputs, draw: Draw, *, options: Options) -> Ends:
    """Return Student's interval of a plain mean, by these raters.

    Raises
    ------
    NotEstimableError
        If it would be a single point, unless the mean that it is about was counted.
    """
    counted = options.target == "census" and sample.n_outputs == draw.pool_size
    if draw.simple and not counted and _without_spread(fit, sample):
        return _from_bounds(fit, sample, options)
    variance = fixed_raters(fit, sample, draw, None, options=options)
    if not counted:
        _check_width(variance, fit, sample, draw)
    reach = float(stdtrit(variance.degrees_of_freedom, (1 + options.level) / 2))
    reach *= float(np.sqrt(variance.value))
    return Ends(fit.estimate - reach, fit.estimate + reach, "student", variance)


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


def _from_bounds(fit: Fit, sample: JudgedOutputs, options: Options) -> Ends:
    """Return the interval that the bounds of the score give where judgments show no spread."""
    if options.bounds is None:
        raise NotEstimableError(
            f"all judged outputs have the same mean judgment ({sample.mean[0]:g}), so the judgments "
            "alone give no honest width: pass `bounds`, the least and greatest possible judgment, "
            "or judge more outputs"
        )
    low, high = betting_interval(sample.mean, bounds=options.bounds, level=options.level)
    low, high = min(low, fit.estimate), max(high, fit.estimate)
    # The variance that a normal interval of this length would have come from.
    error = (high - low) / (2 * float(ndtri((1 + options.level) / 2)))
    note = (
        "the judged outputs show no spread, so the interval and the standard error come from the "
        "bounds of the score alone (betting)"
    )
    part = Part("bounds", error**2, 1.0, fit.degrees_of_freedom)
    return Ends(low, high, "betting", ErrorVariance((part,), notes=(note,)))
