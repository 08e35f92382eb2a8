"""Confidence sequences: intervals that may be looked at after every judgment."""

from steelyard.design.sequence.confidence import ConfidenceSequence, SequencePath
from steelyard.design.sequence.options import Method, SequenceOptions, SequenceTarget

__all__ = ["ConfidenceSequence", "Method", "SequenceOptions", "SequencePath", "SequenceTarget"]
