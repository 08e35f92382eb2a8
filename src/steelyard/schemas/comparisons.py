"""What ``compare`` prints."""

from steelyard.questions.comparison import Comparison
from steelyard.questions.preferences import PreferenceComparison

__all__ = ["CompareForm"]

CompareForm = list[PreferenceComparison | Comparison]
