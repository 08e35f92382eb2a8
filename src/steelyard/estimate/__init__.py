"""Estimators: arrays in, a frozen result out."""

from steelyard.estimate.control_variates import control_variates
from steelyard.estimate.result import Estimate
from steelyard.estimate.sample_mean import sample_mean

__all__ = ["Estimate", "control_variates", "sample_mean"]
