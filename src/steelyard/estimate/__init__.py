"""Estimators: arrays in, a frozen result out."""

from steelyard.estimate.control_variates import control_variates
from steelyard.estimate.estimator import corrected_mean, plain_mean
from steelyard.estimate.options import Interval, Options, Raters, Target
from steelyard.estimate.result import Estimate
from steelyard.estimate.sample_mean import sample_mean
from steelyard.estimate.slope import SlopeKind
from steelyard.estimate.stratified import stratified_mean
from steelyard.estimate.trajectory import Curve, Trajectory, trajectory
from steelyard.estimate.weighted import weighted_mean

__all__ = [
    "Curve",
    "Estimate",
    "Interval",
    "Options",
    "Raters",
    "SlopeKind",
    "Target",
    "Trajectory",
    "control_variates",
    "corrected_mean",
    "plain_mean",
    "sample_mean",
    "stratified_mean",
    "trajectory",
    "weighted_mean",
]
