"""An estimated quantity with its interval."""

from dataclasses import dataclass

__all__ = ["Quantity"]


@dataclass(frozen=True)
class Quantity:
    """An estimate and the interval around it.

    Attributes
    ----------
    value : float
        The estimate. Infinite where a ratio's denominator is estimated as zero, NaN where the data
        leave it undetermined.
    low, high : float
        Ends of the interval.

    Examples
    --------
    >>> print(Quantity(1.9974, 1.71, 2.38))
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
