"""Estimators: arrays in, a frozen result out."""

from steelyard.estimate.control_variates import control_variates, corrected_mean
from steelyard.estimate.options import Interval, Options, Raters, Target
from steelyard.estimate.result import Estimate
from steelyard.estimate.sample_mean import plain_mean, sample_mean
from steelyard.estimate.slope import SlopeKind

__all__ = [
    "Estimate",
    "Interval",
    "Options",
    "Raters",
    "SlopeKind",
    "Target",
    "control_variates",
    "corrected_mean",
    "plain_mean",
    "sample_mean",
]
