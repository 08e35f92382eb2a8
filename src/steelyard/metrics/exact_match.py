"""Whether the output is the reference."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from steelyard.metrics.metric import Floats, PairMetric
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.tokenizers import AnswerTokenizer, UnicodeTokenizer, WhitespaceTokenizer

__all__ = ["ExactMatch"]


@dataclass(frozen=True, kw_only=True)
class ExactMatch(PairMetric):
    """Exact match: 1 when output and reference are the same words, else 0.

    Attributes
    ----------
    compare : {"answer", "words", "unicode"}
        What must be the same: the words left when case, punctuation and English articles are
        dropped, as the SQuAD evaluation has it; the words between whitespace as they are
        written; the words by Unicode rules.
    """

    compare: Literal["answer", "words", "unicode"] = "answer"

    def pair_scores(self, pairs: Pairs) -> Floats:
        """Score every (output, reference) pair."""
        tokenizer = {
            "answer": AnswerTokenizer(),
            "words": WhitespaceTokenizer(lowercase=False),
            "unicode": UnicodeTokenizer(),
        }[self.compare]
        symbols = pairs.tokens(tokenizer).symbols
        same = (
            symbols[output] == symbols[reference]
            for output, reference in zip(
                pairs.output.tolist(), pairs.reference.tolist(), strict=True
            )
        )
        return np.fromiter(same, np.float64, count=len(pairs))
