"""How long the output is beside the reference."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from steelyard.metrics.metric import Floats, PairMetric
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.tokenizers import UnicodeTokenizer, WhitespaceTokenizer

__all__ = ["LengthRatio"]


@dataclass(frozen=True, kw_only=True)
class LengthRatio(PairMetric):
    """Length ratio: words of the output over words of the reference.

    Two empty texts have ratio 1. An empty reference counts as one word long, so that the ratio
    stays finite. The best of several references is the one with the ratio nearest to 1.

    Attributes
    ----------
    unit : {"words", "characters"}
        What is counted.
    unicode : bool
        Whether words are split by Unicode rules instead of at whitespace.
    """

    unit: Literal["words", "characters"] = "words"
    unicode: bool = False

    def pair_scores(self, pairs: Pairs) -> Floats:
        """Score every (output, reference) pair."""
        if self.unit == "characters":
            length = pairs.characters().length
        else:
            length = pairs.tokens(
                UnicodeTokenizer() if self.unicode else WhitespaceTokenizer()
            ).length
        output, reference = length[pairs.output], length[pairs.reference]
        both_empty = (output == 0) & (reference == 0)
        return np.where(both_empty, 1.0, output / np.maximum(reference, 1))

    def preference(self, pairs: Pairs, values: Floats) -> Floats:
        """Prefer the reference whose length is nearest to the output's."""
        del pairs
        return -np.abs(values - 1)
