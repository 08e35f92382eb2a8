"""The use cases: where data meet statistics."""

from steelyard.study.study import Study

__all__ = ["Study"]
