"""Automatic metrics: texts in, numbers out.

Other packages add metrics by an entry point of the group ``steelyard.metrics`` that names a
subclass of `Metric`.
"""

from steelyard.metrics.metric import Metric, PairMetric
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.registry import available
from steelyard.metrics.scoring import score
from steelyard.metrics.tokens import Tokens

__all__ = ["Metric", "PairMetric", "Pairs", "Tokens", "available", "score"]
