"""METEOR: aligned words, their number and their order.

References
----------
S. Banerjee, A. Lavie (2005). METEOR: an automatic metric for MT evaluation with improved
correlation with human judgments. ACL workshop on evaluation measures, 65-72.

A. Lavie, A. Agarwal (2007). METEOR: an automatic metric for MT evaluation with high levels of
correlation with human judgments. WMT, 228-231.

M. Denkowski, A. Lavie (2014). Meteor Universal: language specific translation evaluation for any
target language. WMT, 376-380.
"""

import os
from dataclasses import dataclass
from typing import Literal, NamedTuple

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
from steelyard.metrics.weighted_matches import WordWeights, weighted_matches
from steelyard.metrics.wordnet import WordNet, wordnet_at

__all__ = ["Meteor"]

_VARIABLE = "STEELYARD_WORDNET"


class _Parameters(NamedTuple):
    alpha: float
    beta: float
    gamma: float
    delta: float


_PARAMETERS = {
    # every word counts alike
    "nltk": _Parameters(0.9, 3.0, 0.5, 0.5),
    # those that rank systems best (Denkowski and Lavie 2014, table 1)
    "1.5": _Parameters(0.85, 0.2, 0.6, 0.75),
}


@dataclass(frozen=True, kw_only=True)
class Meteor(PairMetric):
    r"""METEOR: words aligned exactly, by stem or by synonym, less a penalty for disorder.

    With :math:`m` words aligned in :math:`c` chunks, runs of words that stand side by side in both
    texts, precision :math:`P` and recall :math:`R`,

    .. math:: \frac{PR}{\alpha P + (1 - \alpha) R} \bigl(1 - \gamma (c / m)^\beta\bigr).

    It equals NLTK's ``meteor_score`` on the same tokens and the same WordNet. In version 1.5 a
    content word counts :math:`\delta` and a function word :math:`1 - \delta`, in :math:`P` and
    :math:`R`, above times 1 for an equal word, 0.8 for a synonym and 0.6 for an equal stem; a text
    aligned whole in one chunk has no penalty.

    Attributes
    ----------
    version : {"nltk", "1.5"}
        What NLTK computes, or METEOR 1.5 without its table of paraphrases.
    alpha, beta, gamma : float, optional
        Weight of recall, shape of the penalty, and greatest penalty. By default 0.9, 3 and 0.5;
        in version 1.5, 0.85, 0.2 and 0.6.
    delta : float, optional
        Version 1.5: weight of a content word, by default 0.75.
    tokens : {"words", "whitespace", "unicode"}
        Words and punctuation marks apart; words between whitespace; words by Unicode rules.
    wordnet : str
        Where a WordNet in NLTK's format lies: its folder, an ``nltk_data`` folder, or
        ``wordnet.zip``. By default what the environment variable ``STEELYARD_WORDNET`` says;
        without either, or with ``none``, words are aligned exactly and by stem only.
    function_words : str
        Version 1.5: a file with a function word on each line; by default English ones. Tokens
        without letters and digits are function words too.

    Notes
    -----
    By default words are aligned from the end of both texts: first equal words, then words with
    equal Porter stems, then a word with a synonym of it. As in NLTK, synonyms are looked up for the
    stems that the second stage left over. In version 1.5 the alignment has the most words, then
    the fewest chunks, then the least distances.
    """

    version: Literal["nltk", "1.5"] = "nltk"
    alpha: float | None = None
    beta: float | None = None
    gamma: float | None = None
    delta: float | None = None
    tokens: Literal["words", "whitespace", "unicode"] = "words"
    wordnet: str = ""
    function_words: str = ""

    def __post_init__(self) -> None:
        for name in ("alpha", "gamma", "delta"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise InvalidArgumentError(f"`{name}` must lie between 0 and 1; got {value}")
        if self.beta is not None and not self.beta >= 0:
            raise InvalidArgumentError(f"`beta` must not be negative; got {self.beta}")
        if self.version != "1.5" and (self.delta is not None or self.function_words):
            raise InvalidArgumentError(
                "`delta` and `function_words` belong to version 1.5: add version=1.5"
            )

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

    @property
    def parameters(self) -> _Parameters:
        """The parameters that are given, and the version's own for the others."""
        own = _PARAMETERS[self.version]
        given = (self.alpha, self.beta, self.gamma, self.delta)
        return _Parameters(
            *(mine if yours is None else yours for mine, yours in zip(own, given, strict=True))
        )

    def pair_scores(self, pairs: Pairs) -> Floats:
        """Score every (output, reference) pair."""
        if self.version == "1.5":
            precision, recall, share = self._weighted(pairs)
        else:
            precision, recall, share = self._counted(pairs)
        alpha, beta, gamma, _ = self.parameters
        mean = fraction(precision * recall, alpha * precision + (1 - alpha) * recall)
        return (1 - gamma * share**beta) * mean

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

    def _weighted(self, pairs: Pairs) -> tuple[Floats, Floats, Floats]:
        """Weighted precision and recall, and chunks over aligned words, of every pair."""
        tokens = pairs.tokens(self.tokenizer)
        wordnet, delta = self.synonyms, self.parameters.delta
        weights = pairs.remember(
            (Meteor, self.tokenizer, wordnet, delta, self.function_words),
            lambda: WordWeights(wordnet, delta=delta, path=self.function_words),
        )
        return weighted_matches(tokens, pairs, weights)
