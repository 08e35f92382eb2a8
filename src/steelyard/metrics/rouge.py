"""ROUGE: overlap of n-grams, and longest common subsequence.

References
----------
C.-Y. Lin (2004). ROUGE: a package for automatic evaluation of summaries. Text Summarization
Branches Out, 74-81.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from steelyard.metrics.fractions import f_measure, fraction
from steelyard.metrics.metric import Floats, PairMetric
from steelyard.metrics.overlap import pair_matches
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.tokenizers import (
    MtevalTokenizer,
    RougeTokenizer,
    StemmedTokenizer,
    Tokenizer,
    UnicodeTokenizer,
)

__all__ = ["Rouge", "Rouge1", "Rouge2", "RougeL"]


@dataclass(frozen=True, kw_only=True)
class Rouge(PairMetric):
    """What the ROUGE metrics share: precision, recall and F of a number of matches.

    Attributes
    ----------
    statistic : {"f", "precision", "recall"}
        Which of the three to return.
    stem : bool
        Whether to compare Porter stems.
    tokens : {"rouge", "unicode", "13a"}
        Runs of a-z and 0-9, as rouge-score has them; words by Unicode rules; words with their
        case and punctuation marks, as BLEU has them.
    """

    statistic: Literal["f", "precision", "recall"] = "f"
    stem: bool = False
    tokens: Literal["rouge", "unicode", "13a"] = "rouge"

    @property
    def tokenizer(self) -> Tokenizer:
        """What splits texts into tokens."""
        tokenizers = {
            "rouge": RougeTokenizer(),
            "unicode": UnicodeTokenizer(),
            "13a": MtevalTokenizer(),
        }
        tokenizer = tokenizers[self.tokens]
        return StemmedTokenizer(tokenizer=tokenizer) if self.stem else tokenizer

    @abstractmethod
    def precision_recall(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """Precision and recall of every pair, each of shape (n_pairs,)."""

    def pair_scores(self, pairs: Pairs) -> Floats:
        """Score every (output, reference) pair."""
        precision, recall = self._kept(pairs)
        if self.statistic == "precision":
            return precision
        return recall if self.statistic == "recall" else f_measure(precision, recall)

    def preference(self, pairs: Pairs, values: Floats) -> Floats:
        """Prefer the reference with the best F whatever is returned, as rouge-score does."""
        del values
        return f_measure(*self._kept(pairs))

    def _kept(self, pairs: Pairs) -> tuple[Floats, Floats]:
        return pairs.keep((type(self), self.tokenizer), lambda: self.precision_recall(pairs))


@dataclass(frozen=True, kw_only=True)
class _RougeN(Rouge):
    """Shared n-grams, counted as often as both texts have them."""

    order: ClassVar[int]

    def precision_recall(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """Shared n-grams over those of the output, and over those of the reference."""
        tokens = pairs.tokens(self.tokenizer)
        # ROUGE-1 and ROUGE-2 are mostly asked for together: the counts up to 2 are kept for both
        shared = pairs.keep(
            ("n-grams", self.tokenizer), lambda: pair_matches(tokens, pairs, order=2)
        )[self.order - 1]
        total = np.maximum(tokens.length - self.order + 1, 0)
        return fraction(shared, total[pairs.output]), fraction(shared, total[pairs.reference])


@dataclass(frozen=True, kw_only=True)
class Rouge1(_RougeN):
    """ROUGE-1: overlap of words."""

    order: ClassVar[int] = 1


@dataclass(frozen=True, kw_only=True)
class Rouge2(_RougeN):
    """ROUGE-2: overlap of pairs of neighbouring words."""

    order: ClassVar[int] = 2


@dataclass(frozen=True, kw_only=True)
class RougeL(Rouge):
    """ROUGE-L: longest common subsequence of words."""

    def precision_recall(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """Length of the longest common subsequence over the output's, and the reference's."""
        tokens = pairs.tokens(self.tokenizer)
        symbols = tokens.symbols
        longest = cpdist(
            [symbols[text] for text in pairs.output.tolist()],
            [symbols[text] for text in pairs.reference.tolist()],
            scorer=LCSseq.similarity,
            dtype=np.int64,
        )
        length = tokens.length
        return fraction(longest, length[pairs.output]), fraction(longest, length[pairs.reference])
