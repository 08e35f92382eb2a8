"""METEOR: aligned words, their number and their order.

References
----------
S. Banerjee, A. Lavie (2005). METEOR: an automatic metric for MT evaluation with improved
correlation with human judgments. ACL workshop on evaluation measures, 65-72.

A. Lavie, A. Agarwal (2007). METEOR: an automatic metric for MT evaluation with high levels of
correlation with human judgments. WMT, 228-231.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import InvalidArgumentError
from steelyard.metrics.fractions import fraction
from steelyard.metrics.metric import Floats, PairMetric
from steelyard.metrics.overlap import blocks, run_sums, sorted_runs
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.stemming import porter_stem
from steelyard.metrics.tokenizers import (
    Tokenizer,
    UnicodeTokenizer,
    WhitespaceTokenizer,
    WordTokenizer,
)
from steelyard.metrics.tokens import Tokens, spans
from steelyard.metrics.wordnet import WordNet, wordnet_at

__all__ = ["Meteor"]

Integers = NDArray[np.int64]

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
    Words are aligned from the end of both texts: first equal words, then words with equal Porter
    stems, then a word with a synonym of it. As in NLTK, synonyms are looked up for the
    stems that the second stage left over.
    """

    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5
    tokens: Literal["words", "whitespace", "unicode"] = "words"
    wordnet: str = ""

    def __post_init__(self) -> None:
        for name in ("alpha", "gamma"):
            if not 0 <= getattr(self, name) <= 1:
                raise InvalidArgumentError(
                    f"`{name}` must lie between 0 and 1; got {getattr(self, name)}"
                )
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
        tokens = pairs.tokens(self.tokenizer)
        wordnet = self.synonyms
        stems = pairs.remember((Meteor, self.tokenizer, wordnet), lambda: _Stems(wordnet))
        count, chunks = np.zeros(len(pairs)), np.zeros(len(pairs))
        text = np.stack([pairs.output, pairs.reference], axis=1)
        for low, high in blocks(tokens.length[text].sum(axis=1)):
            words = _Words(tokens, text[low:high])
            output, reference = _aligned(words, stems)
            order = np.argsort(output)
            output, reference = output[order], reference[order]
            apart = (np.diff(output, prepend=-2) != 1) | (np.diff(reference, prepend=-2) != 1)
            count[low:high] = np.bincount(words.pair[output], minlength=high - low)
            chunks[low:high] = np.bincount(words.pair[output[apart]], minlength=high - low)
        precision = fraction(count, tokens.length[pairs.output])
        recall = fraction(count, tokens.length[pairs.reference])
        mean = fraction(precision * recall, self.alpha * precision + (1 - self.alpha) * recall)
        return (1 - self.gamma * fraction(chunks, count) ** self.beta) * mean


class _Words:
    """The words of some pairs laid end to end: an output's, then its reference's.

    Parameters
    ----------
    tokens : Tokens
        Tokens of the texts.
    text : (n_pairs, 2) array of int
        Output and reference of each pair.

    Attributes
    ----------
    ids : (n_words,) array of int
        Number of each word in the vocabulary.
    vocabulary : sequence of str
        The words that the numbers stand for.
    pair : (n_words,) array of int
        The pair that each word belongs to.
    in_output : (n_words,) array of bool
        Whether each word is the output's.
    """

    def __init__(self, tokens: Tokens, text: Integers) -> None:
        side = np.repeat(np.arange(text.size), tokens.length[text.ravel()])
        self.ids = tokens.of(text.ravel())
        self.vocabulary = tokens.vocabulary
        self.pair = side // 2
        self.in_output = side % 2 == 0


class _Stems:
    """Stems of the words that have no equal word, and synonyms of the stems, worked out once."""

    def __init__(self, wordnet: WordNet | None) -> None:
        self.wordnet = wordnet
        self._stem = np.empty(0, dtype=np.int64)
        self._number: dict[str, int] = {}
        self._names: list[str] = []
        self._synonyms: dict[str, frozenset[str]] = {}

    def numbers(self, ids: Integers, vocabulary: Sequence[str]) -> Integers:
        """Numbers of the stems of words, equal for equal stems."""
        unseen = np.full(len(vocabulary) - len(self._stem), -1)
        self._stem = np.concatenate([self._stem, unseen])
        for word in np.unique(ids[self._stem[ids] < 0]).tolist():
            stem = porter_stem(vocabulary[word])
            if stem not in self._number:
                self._number[stem] = len(self._names)
                self._names.append(stem)
            self._stem[word] = self._number[stem]
        return self._stem[ids]

    def names(self, numbers: Integers) -> list[str]:
        """Return the stems that numbers stand for."""
        return [self._names[number] for number in numbers.tolist()]

    def synonyms(self, stem: str) -> frozenset[str]:
        """Words that share a sense with a stem."""
        if stem not in self._synonyms:
            assert self.wordnet is not None
            self._synonyms[stem] = self.wordnet.synonyms(stem)
        return self._synonyms[stem]


def _aligned(words: _Words, stems: _Stems) -> tuple[Integers, Integers]:
    """Places of the aligned words in the outputs, and of their partners in the references."""
    place = np.arange(len(words.ids))
    exact = _equal(words, place, words.ids)
    place = np.delete(place, np.concatenate(exact))
    number = stems.numbers(words.ids[place], words.vocabulary)
    by_stem = _equal(words, place, number)
    stages = [exact, by_stem]
    if stems.wordnet is not None:
        left = ~np.isin(place, np.concatenate(by_stem))
        stages.append(_synonymous(words, place[left], stems.names(number[left]), stems))
    return (
        np.concatenate([output for output, _ in stages]),
        np.concatenate([reference for _, reference in stages]),
    )


def _equal(words: _Words, place: Integers, name: Integers) -> tuple[Integers, Integers]:
    """Align words of one name: the last of the output with the last of the reference, and so on."""
    if len(place) == 0:
        return place, place
    place, start = sorted_runs(name, place, words.pair)
    total = np.diff(start, append=len(place))
    output = run_sums(words.in_output[place], start)
    both = np.minimum(output, total - output)
    return place[spans(start + output - both, both)], place[spans(start + total - both, both)]


def _synonymous(
    words: _Words, place: Integers, names: list[str], stems: _Stems
) -> tuple[Integers, Integers]:
    """Align each word, from an output's last, with the reference's last word that is a synonym."""
    outputs, references = [], []
    pair = -1
    places: dict[str, list[int]] = {}
    # from the end a pair's reference comes before its output
    for here, name in zip(reversed(place.tolist()), reversed(names), strict=True):
        if words.pair[here] != pair:
            pair = words.pair[here]
            places = {}
        if not words.in_output[here]:
            places.setdefault(name, []).append(here)
            continue
        found = [places[other] for other in places.keys() & stems.synonyms(name)]
        if found:
            best = max(found, key=itemgetter(0))
            outputs.append(here)
            references.append(best.pop(0))
            if not best:
                places = {other: several for other, several in places.items() if several}
    return np.array(outputs, dtype=np.int64), np.array(references, dtype=np.int64)
