"""What ``estimate`` and ``demo`` print."""

from steelyard.questions.estimates import Estimate
from steelyard.schemas.shape import Shape

__all__ = ["DemoForm", "EstimateForm"]

EstimateForm = list[Estimate]


class DemoForm(Shape):
    """The estimates of the built-in campaign, each with the truth, which only a simulation knows."""

    notice: str
    report: str
    """Path of the report."""
    estimates: list[Estimate]
    truth: list[float]
    """The true mean of each estimate, in the same order."""
