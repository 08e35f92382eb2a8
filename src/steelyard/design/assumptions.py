"""What a plan starts from: variances, correlation and prices."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.variance import Efficiency, Quantity

__all__ = ["Assumptions", "Prices", "Values"]

Floats = NDArray[np.float64]

# Draws from what is known of variances and correlation: their quantiles are off by 1 or 2 points.
_DRAWS = 1000
# Ends that come with a number are those of an interval of this level.
ENDS_LEVEL = 0.80
_NOTHING = Quantity(0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Values:
    """Variances and correlation: numbers, or draws from what is known of them.

    Attributes
    ----------
    item, rater, correlation, leniency : float or (D,) array
        As in `Assumptions`.
    others : (D, k - 1) or (k - 1,) array, optional
        Variances of the other systems of the campaign over this one's; alike by default.
    """

    item: float | Floats
    rater: float | Floats
    correlation: float | Floats
    leniency: float | Floats = 0.0
    others: Floats | None = None

    @property
    def efficiency(self) -> float | Floats:
        """Data efficiency of the metric for single judgments."""
        explained = self.item * np.square(self.correlation)
        return np.asarray((self.item + self.rater) / (self.item - explained + self.rater))


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What a plan starts from: variances and correlation, each with the interval it is known to.

    Attributes
    ----------
    item_variance, rater_variance : Quantity
        Variance of human scores over outputs, and of judgments of one output. For a paired
        comparison: of the difference of two systems' scores, and of two judgments' difference.
    correlation : Quantity
        Of metric and human score, corrected for rater noise.
    leniency : Quantity
        Variance between raters, a part of the rater variance; 0 where raters are fixed.
    drawn : Values or None
        Draws of all of them, as a pilot gives them. By default each is drawn by itself from what its
        interval says, which is taken as one of 80%.
    """

    item_variance: Quantity
    rater_variance: Quantity
    correlation: Quantity
    leniency: Quantity = _NOTHING
    drawn: Values | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check every number."""
        for name in ("item_variance", "rater_variance", "leniency"):
            quantity = getattr(self, name)
            if not 0 <= quantity.low <= quantity.value <= quantity.high < np.inf:
                raise InvalidArgumentError(
                    f"`{name}` must be finite, not negative and within its interval; got {quantity}"
                )
        rho = self.correlation
        if not -1 <= rho.low <= rho.value <= rho.high <= 1:
            raise InvalidArgumentError(
                f"`correlation` must lie within [-1, 1] and its interval; got {rho}"
            )
        if self.item_variance.value + self.rater_variance.value <= 0:
            raise InvalidArgumentError("`item_variance` and `rater_variance` cannot both be zero")

    @classmethod
    def typed(
        cls, item_variance: float, rater_variance: float, correlation: float = 0.0
    ) -> "Assumptions":
        """Return assumptions that are known exactly."""
        numbers = (item_variance, rater_variance, correlation)
        item, rater, rho = (Quantity(value, value, value) for value in map(float, numbers))
        return cls(item_variance=item, rater_variance=rater, correlation=rho)

    @classmethod
    def of(cls, pilot: Efficiency) -> "Assumptions":
        """Return what a pilot tells."""
        rho = pilot.correlation
        if not np.isfinite(rho.value):
            raise NotEstimableError(
                "the pilot shows no item variance, so a correlation cannot be told: judge more "
                "outputs, or type the assumptions"
            )
        return cls(
            item_variance=pilot.item_variance,
            rater_variance=pilot.rater_variance,
            correlation=rho,
        )

    @classmethod
    def from_draws(cls, drawn: Values) -> "Assumptions":
        """Return draws with their medians and the ends of their intervals."""
        names = ("item", "rater", "correlation", "leniency")
        item, rater, rho, lenient = (_summary(getattr(drawn, name)) for name in names)
        return cls(
            item_variance=item, rater_variance=rater, correlation=rho, leniency=lenient, drawn=drawn
        )

    @property
    def central(self) -> Values:
        """The values themselves."""
        return Values(
            self.item_variance.value,
            self.rater_variance.value,
            self.correlation.value,
            self.leniency.value,
            None if self.drawn is None else _middle(self.drawn.others),
        )

    def draws(self) -> Values:
        """Return draws from what is known of all values, the same each time."""
        if self.drawn is not None:
            return self.drawn
        rng = np.random.default_rng(_DRAWS)
        item, rater, rho, lenient = rng.standard_normal((4, _DRAWS))
        return Values(
            _positive(self.item_variance, item),
            _positive(self.rater_variance, rater),
            np.tanh(_split(_transformed(self.correlation, _arctanh), rho)),
            _positive(self.leniency, lenient),
        )

    def without_metric(self) -> "Assumptions":
        """Return the same with a metric that tells nothing."""
        drawn = None if self.drawn is None else replace(self.drawn, correlation=0.0)
        return replace(self, correlation=_NOTHING, drawn=drawn)


def _summary(draws: float | Floats) -> Quantity:
    tail = (1 - ENDS_LEVEL) / 2
    low, middle, high = np.quantile(draws, [tail, 0.5, 1 - tail])
    return Quantity(float(middle), float(low), float(high))


def _middle(others: Floats | None) -> Floats | None:
    """Return systems that differ as much as half of the draws say, seen from the middle of them."""
    if others is None:
        return None
    log = np.log(others)
    apart = log.var(axis=1)
    row = log[np.argsort(apart)[len(apart) // 2]]
    return np.asarray(np.exp(row - row.mean()))


def _split(known: Quantity, deviates: Floats) -> Floats:
    """Return normal draws around a value, with the spread of its interval on either side."""
    reach = ndtri((1 + ENDS_LEVEL) / 2)
    below, above = known.value - known.low, known.high - known.value
    return np.asarray(known.value + deviates / reach * np.where(deviates < 0, below, above))


def _positive(known: Quantity, deviates: Floats) -> Floats:
    """Return draws of a variance: of its logarithm, unless it may be zero."""
    if known.low > 0:
        return np.exp(_split(_transformed(known, np.log), deviates))
    return np.maximum(_split(known, deviates), 0.0)


def _transformed(known: Quantity, function: Callable[[float], float]) -> Quantity:
    return Quantity(*(float(function(one)) for one in (known.value, known.low, known.high)))


def _arctanh(value: float) -> float:
    return float(np.arctanh(np.clip(value, -1 + 1e-12, 1 - 1e-12)))


@dataclass(frozen=True, kw_only=True)
class Prices:
    """What an output costs to prepare, and what each judgment of it costs."""

    output: float = 0.0
    judgment: float = 1.0

    def __post_init__(self) -> None:
        """Check that judgments are not free."""
        if not (self.output >= 0 and self.judgment > 0 and np.isfinite(self.output)):
            raise InvalidArgumentError(
                "`prices` must be finite, not negative for an output and above zero for a "
                f"judgment; got {self.output} and {self.judgment}"
            )

    def of(self, outputs: int, judgments_per_output: int) -> float:
        """Return the price of a campaign."""
        return outputs * (self.output + judgments_per_output * self.judgment)
