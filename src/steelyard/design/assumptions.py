"""What a plan starts from: variances, correlation and prices."""

from dataclasses import dataclass, replace

import numpy as np

from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.variance import Efficiency, Quantity

__all__ = ["Assumptions", "Prices"]


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
    """

    item_variance: Quantity
    rater_variance: Quantity
    correlation: Quantity

    def __post_init__(self) -> None:
        """Check every number."""
        for name in ("item_variance", "rater_variance"):
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

    def conservative(self) -> "Assumptions":
        """Return the end of each interval that asks for more judgments."""
        item, rater, rho = self.item_variance, self.rater_variance, self.correlation
        weakest = 0.0 if rho.low <= 0 <= rho.high else min(abs(rho.low), abs(rho.high))
        return Assumptions.typed(item.high, rater.high, weakest)

    def without_metric(self) -> "Assumptions":
        """Return the same with a metric that tells nothing."""
        return replace(self, correlation=Quantity(0.0, 0.0, 0.0))


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
