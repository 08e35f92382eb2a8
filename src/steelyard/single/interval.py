"""An estimated quantity with its interval, and intervals for variances, their sums and their ratios."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, ndtr, stdtrit

from steelyard.arrays import Floats
from steelyard.errors import InvalidArgumentError, NotEstimableError

__all__ = [
    "Interval",
    "check_options",
    "mean_square_draws",
    "mean_square_interval",
    "noise_ratio_interval",
    "percentiles",
    "student_level",
    "variance_interval",
]


@dataclass(frozen=True)
class Interval:
    """An estimate and the interval around it.

    Attributes
    ----------
    value, low, high : float
        The estimate and the ends of its interval. Infinite where a ratio's denominator is estimated
        as zero, NaN where the data leave it undetermined.

    Examples
    --------
    >>> print(Interval(1.9974, 1.71, 2.38))
    1.997 [1.710, 2.380]
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def to_dict(self) -> dict[str, float]:
        """Return the three numbers under stable keys."""
        return {"value": self.value, "low": self.low, "high": self.high}


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
    defined = [row[~np.isnan(row)] for row in np.atleast_2d(drawn)]
    if not all(map(len, defined)):
        raise NotEstimableError(
            "no resample of the outputs has an output with two judgments that differ from the "
            "others': collect a second judgment on more outputs"
        )
    ends = [np.quantile(row, [(1 - level) / 2, (1 + level) / 2]) for row in defined]
    return float(min(low for low, _ in ends)), float(max(high for _, high in ends))


def variance_interval(value: float, drawn: Floats, level: float) -> Interval:
    """Return a variance with its interval, neither below zero."""
    low, high = percentiles(drawn, level)
    value = max(value, 0.0)
    return Interval(value, min(max(low, 0.0), value), max(high, value))


def noise_ratio_interval(reliability: float, drawn: Floats, level: float) -> Interval:
    """Return the noise ratio, by way of the reliability 1 / (1 + noise ratio), which stays finite."""
    low, high = percentiles(drawn, level)
    shares = (reliability, max(high, reliability), min(low, reliability))
    return Interval(*(max(1 - one, 0.0) / one if one > 0 else float("inf") for one in shares))


def mean_square_interval(
    value: float, variance: float, degrees_of_freedom: float, *, level: float
) -> Interval:
    r"""Return a variance component with an interval from its mean square.

    A component is a mean square less a known amount, :math:`\hat\sigma^2 = S - c`, and S is about
    chi-squared: :math:`\operatorname{Var} S = 2 S^2 / \nu`. With the variance of the estimate and
    :math:`\nu` known, S and c follow, and so does the interval; it stays finite at
    :math:`\hat\sigma^2 = 0`, where Satterthwaite's own does not.
    """
    square = _mean_square(value, variance, degrees_of_freedom)
    low, high = (
        square * degrees_of_freedom / (2 * gammaincinv(degrees_of_freedom / 2, tail))
        - (square - value)
        for tail in ((1 + level) / 2, (1 - level) / 2)
    )
    return Interval(value, float(max(low, 0.0)), float(high))


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
