"""What ``estimate`` prints."""

from steelyard.questions.estimates import Estimate

__all__ = ["EstimateForm"]

EstimateForm = list[Estimate]
