"""Intervals for variances, their sums and their ratios."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, ndtr, stdtrit

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.variance.moments import Moments
from steelyard.variance.quantity import Quantity

__all__ = [
    "check_options",
    "mean_square_draws",
    "mean_square_interval",
    "noise_ratio_quantity",
    "percentiles",
    "student_level",
    "variance_quantity",
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


def student_level(level: float, outputs: float) -> float:
    """Return the level at which percentiles go as far out as Student's do at `level`.

    Percentiles of a small sample are too close together (Hesterberg 2015, The American Statistician
    69).
    """
    n = max(outputs, 2.0)
    far = np.sqrt(n / (n - 1)) * stdtrit(n - 1, (1 + level) / 2)
    return float(1 - 2 * ndtr(-far))


def percentiles(drawn: Floats, level: float) -> tuple[float, float]:
    """Return the percentile interval of a statistic, from those draws that define it.

    Of several rows of draws the interval holds that of each.

    Raises
    ------
    NotEstimableError
        If no draw defines the statistic.
    """
    rows = np.atleast_2d(drawn)
    tails = ((1 - level) / 2, (1 + level) / 2)
    if not np.isnan(rows).any():
        low, high = _quantiles(rows, tails)
        return float(low.min()), float(high.max())
    defined = [row[~np.isnan(row)] for row in rows]
    if not all(map(len, defined)):
        raise NotEstimableError(
            "no resample of the outputs has an output with two judgments that differ from the "
            "others': collect a second judgment on more outputs"
        )
    ends = [_quantiles(row[np.newaxis], tails) for row in defined]
    return float(min(low[0] for low, _ in ends)), float(max(high[0] for _, high in ends))


def _quantiles(rows: Floats, tails: tuple[float, ...]) -> list[Floats]:
    """Return quantiles of each row, as NumPy has them, without its overhead for small arrays."""
    places = [tail * (rows.shape[1] - 1) for tail in tails]
    below = [int(place) for place in places]
    above = [min(place + 1, rows.shape[1] - 1) for place in below]
    rows = np.partition(rows, sorted({*below, *above}), axis=1)
    return [
        rows[:, low] + (rows[:, high] - rows[:, low]) * (place - low)
        for place, low, high in zip(places, below, above, strict=True)
    ]


def variance_quantity(value: float, drawn: Floats, level: float) -> Quantity:
    """Return a variance with its interval, neither below zero."""
    low, high = percentiles(drawn, level)
    value = max(value, 0.0)
    return Quantity(value, min(max(low, 0.0), value), max(high, value))


def noise_ratio_quantity(here: Moments, there: Moments, level: float) -> Quantity:
    """Return the noise ratio, by way of the reliability, which stays finite."""
    value = float(here.reliability[0])
    low, high = percentiles(there.reliability, level)
    shares = (value, max(high, value), min(low, value))
    return Quantity(*(_noise_ratio(share) for share in shares))


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


def _noise_ratio(reliability: float) -> float:
    if reliability <= 0:
        return float("inf")
    return max(1 - reliability, 0.0) / reliability
