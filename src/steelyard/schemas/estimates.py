"""What ``estimate`` and ``demo`` print."""

from dataclasses import dataclass

from steelyard.questions.estimates import Estimate
from steelyard.schemas.shape import Shape

__all__ = ["DemoForm", "EstimateForm"]

EstimateForm = list[Estimate]


@dataclass(frozen=True, kw_only=True)
class EstimateWithTruth(Estimate):
    """An estimate beside the true mean, which only a simulation knows."""

    truth: float


class DemoForm(Shape):
    """The estimates of the built-in campaign, each with the truth."""

    notice: str
    report: str
    """Path of the report."""
    estimates: list[EstimateWithTruth]
