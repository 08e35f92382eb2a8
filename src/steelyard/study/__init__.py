"""The use cases: where data meet statistics."""

from steelyard.study.diagnosis import Diagnosis
from steelyard.study.study import Study
from steelyard.study.trajectories import SystemTrajectory

__all__ = ["Diagnosis", "Study", "SystemTrajectory"]
