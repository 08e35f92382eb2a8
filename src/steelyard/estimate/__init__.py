"""The mean of judged outputs under any draw, and campaigns of several systems."""

from steelyard.estimate.options import Options, Raters, Target
from steelyard.estimate.result import Estimate

__all__ = ["Estimate", "Options", "Raters", "Target"]
