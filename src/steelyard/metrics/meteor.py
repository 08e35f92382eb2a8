"""METEOR: aligned words, their number and their order.

References
----------
S. Banerjee, A. Lavie (2005). METEOR: an automatic metric for MT evaluation with improved
correlation with human judgments. ACL workshop on evaluation measures, 65-72.

A. Lavie, A. Agarwal (2007). METEOR: an automatic metric for MT evaluation with high levels of
correlation with human judgments. WMT, 228-231.
"""

import os
from dataclasses import dataclass
from typing import Literal

import numpy as np

from steelyard.errors import InvalidArgumentError
from steelyard.metrics.fractions import fraction
from steelyard.metrics.metric import Floats, PairMetric
from steelyard.metrics.overlap import blocks
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.staged_alignment import Stems, Words, staged_alignment
from steelyard.metrics.tokenizers import (
    Tokenizer,
    UnicodeTokenizer,
    WhitespaceTokenizer,
    WordTokenizer,
)
from steelyard.metrics.wordnet import WordNet, wordnet_at

__all__ = ["Meteor"]

_VARIABLE = "STEELYARD_WORDNET"


@dataclass(frozen=True, kw_only=True)
class Meteor(PairMetric):
    r"""METEOR: words aligned exactly, by stem or by synonym, less a penalty for disorder.

    With :math:`m` words aligned in :math:`c` chunks, runs of words that stand side by side in both
    texts, precision :math:`P` and recall :math:`R`,

    .. math:: \frac{PR}{\alpha P + (1 - \alpha) R} \bigl(1 - \gamma (c / m)^\beta\bigr).

    It equals NLTK's ``meteor_score`` on the same tokens and the same WordNet.

    Attributes
    ----------
    alpha, beta, gamma : float
        Weight of recall, shape of the penalty, and greatest penalty.
    tokens : {"words", "whitespace", "unicode"}
        Words and punctuation marks apart; words between whitespace; words by Unicode rules.
    wordnet : str
        Where a WordNet in NLTK's format lies: its folder, an ``nltk_data`` folder, or
        ``wordnet.zip``. By default what the environment variable ``STEELYARD_WORDNET`` says;
        without either, or with ``none``, words are aligned exactly and by stem only.

    Notes
    -----
    Words are aligned from the end of both texts: first equal words, then words with
    equal Porter stems, then a word with a synonym of it. As in NLTK, synonyms are looked up for the
    stems that the second stage left over.
    """

    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5
    tokens: Literal["words", "whitespace", "unicode"] = "words"
    wordnet: str = ""

    def __post_init__(self) -> None:
        for name in ("alpha", "gamma"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise InvalidArgumentError(f"`{name}` must lie between 0 and 1; got {value}")
        if not self.beta >= 0:
            raise InvalidArgumentError(f"`beta` must not be negative; got {self.beta}")

    @property
    def tokenizer(self) -> Tokenizer:
        """What splits texts into tokens."""
        if self.tokens == "words":
            return WordTokenizer()
        return UnicodeTokenizer() if self.tokens == "unicode" else WhitespaceTokenizer()

    @property
    def synonyms(self) -> WordNet | None:
        """The WordNet that synonyms are looked up in, if there is one."""
        place = self.wordnet or os.environ.get(_VARIABLE, "")
        return wordnet_at(place) if place not in ("", "none") else None

    def pair_scores(self, pairs: Pairs) -> Floats:
        """Score every (output, reference) pair."""
        precision, recall, share = self._counted(pairs)
        mean = fraction(precision * recall, self.alpha * precision + (1 - self.alpha) * recall)
        return (1 - self.gamma * share**self.beta) * mean

    def _counted(self, pairs: Pairs) -> tuple[Floats, Floats, Floats]:
        """Precision, recall, and chunks over aligned words, of every pair."""
        tokens = pairs.tokens(self.tokenizer)
        wordnet = self.synonyms
        stems = pairs.remember((Meteor, self.tokenizer, wordnet), lambda: Stems(wordnet))
        count, chunks = np.zeros(len(pairs)), np.zeros(len(pairs))
        text = np.stack([pairs.output, pairs.reference], axis=1)
        for low, high in blocks(tokens.length[text].sum(axis=1)):
            words = Words(tokens, text[low:high])
            output, reference = staged_alignment(words, stems)
            order = np.argsort(output)
            output, reference = output[order], reference[order]
            apart = (np.diff(output, prepend=-2) != 1) | (np.diff(reference, prepend=-2) != 1)
            count[low:high] = np.bincount(words.pair[output], minlength=high - low)
            chunks[low:high] = np.bincount(words.pair[output[apart]], minlength=high - low)
        precision = fraction(count, tokens.length[pairs.output])
        recall = fraction(count, tokens.length[pairs.reference])
        return precision, recall, fraction(chunks, count)
