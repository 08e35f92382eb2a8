"""Intervals for variances, their sums and their ratios."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.variance.moments import Moments
from steelyard.variance.quantity import Quantity

__all__ = [
    "check_options",
    "component_correlation",
    "item_quantity",
    "mean_square_draws",
    "mean_square_interval",
    "noise_ratio_quantity",
    "percentiles",
    "rater_quantity",
    "ratio",
    "tail_weights",
    "total",
]

Floats = NDArray[np.float64]


def check_options(level: float, resamples: int) -> None:
    """Refuse a level outside (0, 1) and too few resamples to see its tails."""
    if not 0 < level < 1:
        raise InvalidArgumentError(f"`level` must lie between 0 and 1; got {level}: try 0.95")
    least = int(np.ceil(2 / (1 - level)))
    if resamples < least:
        raise InvalidArgumentError(
            f"`resamples` must be at least {least} for level {level}; got {resamples}: try 2000"
        )


def percentiles(resampled: Floats, level: float) -> tuple[float, float]:
    """Return the percentile interval of a statistic, from those resamples that define it.

    Raises
    ------
    NotEstimableError
        If no resample defines the statistic.
    """
    defined = resampled[~np.isnan(resampled)]
    if len(defined) == 0:
        raise NotEstimableError(
            "no resample of the outputs has an output with two judgments that differ from the "
            "others': collect a second judgment on more outputs"
        )
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def item_quantity(here: Moments, there: Moments, level: float) -> Quantity:
    """Return the item variance, floored at zero with its interval."""
    return _floored(float(here.item[0]), *percentiles(there.item, level))


def rater_quantity(here: Moments, there: Moments, level: float) -> Quantity:
    """Return the rater variance with its interval."""
    return _floored(float(here.rater[0]), *percentiles(there.rater, level))


def noise_ratio_quantity(here: Moments, there: Moments, level: float) -> Quantity:
    """Return the noise ratio, by way of the reliability, which stays finite."""
    low, high = percentiles(there.reliability, level)
    return Quantity(_noise_ratio(float(here.reliability[0])), _noise_ratio(high), _noise_ratio(low))


def mean_square_interval(
    value: float, variance: float, degrees_of_freedom: float, *, level: float
) -> Quantity:
    r"""Return a variance component with an interval from its mean square.

    A component is a mean square less a known amount, :math:`\hat\sigma^2 = S - c`, and S is about
    chi-squared: :math:`\operatorname{Var} S = 2 S^2 / \nu`. With the variance of the estimate and
    :math:`\nu` known, S and c follow, and so does the interval; it stays finite at
    :math:`\hat\sigma^2 = 0`, where Satterthwaite's own does not.

    Parameters
    ----------
    value : float
        The estimated component.
    variance : float
        Its sampling variance.
    degrees_of_freedom : float
        Of the mean square: the levels of the factor less one.
    level : float
        Confidence level.
    """
    square = _mean_square(value, variance, degrees_of_freedom)
    low, high = (
        square * degrees_of_freedom / (2 * gammaincinv(degrees_of_freedom / 2, tail))
        - (square - value)
        for tail in ((1 + level) / 2, (1 - level) / 2)
    )
    return Quantity(value, float(max(low, 0.0)), float(high))


def mean_square_draws(
    value: float,
    variance: float,
    degrees_of_freedom: float,
    *,
    size: int,
    rng: np.random.Generator,
) -> Floats:
    """Return draws of a component whose quantiles are the ends of `mean_square_interval`."""
    square = _mean_square(value, variance, degrees_of_freedom)
    chance = rng.chisquare(degrees_of_freedom, size=size) / degrees_of_freedom
    return np.asarray(np.maximum(square / chance - (square - value), 0.0))


def _mean_square(value: float, variance: float, degrees_of_freedom: float) -> float:
    return float(max(np.sqrt(variance * degrees_of_freedom / 2), value))


def total(one: Quantity, other: Quantity) -> Quantity:
    """Return the sum of two quantities; its interval recovers their variances from theirs.

    Zou and Donner (2008), Construction of confidence limits about effect measures, Statistics in
    Medicine 27.
    """
    value = one.value + other.value
    return Quantity(
        value,
        value - float(np.hypot(one.value - one.low, other.value - other.low)),
        value + float(np.hypot(one.high - one.value, other.high - other.value)),
    )


def ratio(over: Quantity, under: Quantity, *, correlation: float = 0.0) -> Quantity:
    """Return the ratio of two positive quantities, as `total` does, in logarithms.

    Where `under` may be zero the ratio has no upper end. `correlation` is that of the two
    estimates: a negative one widens the interval.
    """
    if under.value == 0 or over.value == 0:
        least = over.low / under.high
        most = over.high / under.low if under.low > 0 else np.inf
        value = np.inf if under.value == 0 else 0.0
        return Quantity(float(value), float(least), float(most))
    value = over.value / under.value
    down, up = (
        _length(one, other, correlation)
        for one, other in (
            (_log_gap(over.value, over.low), _log_gap(under.high, under.value)),
            (_log_gap(over.high, over.value), _log_gap(under.value, under.low)),
        )
    )
    return Quantity(float(value), float(value * np.exp(-down)), float(value * np.exp(up)))


def tail_weights(here: Moments, there: Moments, sizes: tuple[int, int]) -> tuple[float, float]:
    """Return how much more item and rater variance vary than under normal distributions.

    Over resampled outputs against theory, in the one-way analysis. Not below 1: in a small sample
    the tails may not have been seen. `sizes` are outputs and judgments.
    """
    n, M = sizes
    effective = float(here.effective[0])
    item, rater = max(float(here.item[0]), 0.0), float(here.rater[0])
    of_rater = 2 * rater**2 / (M - n)
    of_item = (2 * (effective * item + rater) ** 2 / here.freedom + of_rater) / effective**2
    item_weight = float(np.nanvar(there.item)) / of_item if of_item > 0 else 1.0
    rater_weight = float(np.nanvar(there.rater)) / of_rater if of_rater > 0 else 1.0
    return max(item_weight, 1.0), max(rater_weight, 1.0)


def component_correlation(there: Moments) -> float:
    """Return the correlation of item and rater variance over resamples."""
    defined = ~np.isnan(there.rater)
    item, rater = there.item[defined], there.rater[defined]
    if np.ptp(item) == 0 or np.ptp(rater) == 0:
        return 0.0
    return float(np.corrcoef(item, rater)[0, 1])


def _floored(value: float, low: float, high: float) -> Quantity:
    """Return a variance, not below zero, with an interval that holds it."""
    value = max(value, 0.0)
    return Quantity(value, min(max(low, 0.0), value), max(high, value))


def _length(one: float, other: float, correlation: float) -> float:
    """Return the standard deviation of a difference, or the like."""
    if np.isinf(one) or np.isinf(other):
        return np.inf
    return float(np.sqrt(max(one**2 + other**2 - 2 * correlation * one * other, 0.0)))


def _log_gap(above: float, below: float) -> float:
    return float(np.log(above / below)) if below > 0 else np.inf


def _noise_ratio(reliability: float) -> float:
    if reliability <= 0:
        return float("inf")
    return max(1 - reliability, 0.0) / reliability
