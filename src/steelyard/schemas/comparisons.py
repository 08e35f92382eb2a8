"""What ``compare`` prints."""

from steelyard.questions.comparison import Comparison
from steelyard.study.preference_comparison import PreferenceComparison

__all__ = ["CompareForm"]

CompareForm = list[PreferenceComparison | Comparison]
