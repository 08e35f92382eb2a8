"""The use cases: where data meet statistics."""

from steelyard.study.diagnosis import Diagnosis
from steelyard.study.study import Study

__all__ = ["Diagnosis", "Study"]
