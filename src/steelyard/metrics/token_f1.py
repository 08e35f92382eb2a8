"""Token F1, as question answering is evaluated.

References
----------
P. Rajpurkar, J. Zhang, K. Lopyrev, P. Liang (2016). SQuAD: 100,000+ questions for machine
comprehension of text. EMNLP, 2383-2392.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from steelyard.metrics.fractions import f_measure, fraction
from steelyard.metrics.metric import Floats, PairMetric
from steelyard.metrics.overlap import pair_matches
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.tokenizers import AnswerTokenizer, UnicodeTokenizer

__all__ = ["TokenF1"]


@dataclass(frozen=True, kw_only=True)
class TokenF1(PairMetric):
    """Token F1: F measure of shared words without case, punctuation and articles.

    Two texts without a word in them agree (1); a text with words and one without do not (0).

    Attributes
    ----------
    statistic : {"f", "precision", "recall"}
        Which of the three to return.
    unicode : bool
        Whether words are split by Unicode rules, which also keep articles.
    """

    statistic: Literal["f", "precision", "recall"] = "f"
    unicode: bool = False

    def pair_scores(self, pairs: Pairs) -> Floats:
        """Score every (output, reference) pair."""
        tokens = pairs.tokens(UnicodeTokenizer() if self.unicode else AnswerTokenizer())
        shared = pair_matches(tokens, pairs, order=1)[0]
        output, reference = tokens.length[pairs.output], tokens.length[pairs.reference]
        precision, recall = fraction(shared, output), fraction(shared, reference)
        values = {"precision": precision, "recall": recall, "f": f_measure(precision, recall)}
        return np.where((output == 0) & (reference == 0), 1.0, values[self.statistic])
