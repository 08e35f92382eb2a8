"""METEOR: aligned words, their number and their order.

References
----------
S. Banerjee, A. Lavie (2005). METEOR: an automatic metric for MT evaluation with improved
correlation with human judgments. ACL workshop on evaluation measures, 65-72.

A. Lavie, A. Agarwal (2007). METEOR: an automatic metric for MT evaluation with high levels of
correlation with human judgments. WMT, 228-231.
"""

import os
from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import InvalidArgumentError
from steelyard.metrics.fractions import fraction
from steelyard.metrics.metric import Floats, PairMetric
from steelyard.metrics.overlap import sorted_runs
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
        words = _Words(tokens, pairs)
        output, reference = _aligned(words, tokens.vocabulary, self.synonyms)
        count = np.bincount(words.pair[output], minlength=len(pairs))
        order = np.argsort(output)
        output, reference = output[order], reference[order]
        joined = (np.diff(output) == 1) & (np.diff(reference) == 1)
        chunks = count - np.bincount(words.pair[output[1:][joined]], minlength=len(pairs))
        precision = fraction(count, tokens.length[pairs.output])
        recall = fraction(count, tokens.length[pairs.reference])
        mean = fraction(precision * recall, self.alpha * precision + (1 - self.alpha) * recall)
        return (1 - self.gamma * fraction(chunks, count) ** self.beta) * mean


class _Words:
    """The words of all pairs laid end to end: an output's, then its reference's.

    Attributes
    ----------
    ids : (n_words,) array of int
        Number of each word in the vocabulary.
    pair : (n_words,) array of int
        The pair that each word belongs to.
    in_output : (n_words,) array of bool
        Whether each word is the output's.
    """

    def __init__(self, tokens: Tokens, pairs: Pairs) -> None:
        text = np.stack([pairs.output, pairs.reference], axis=1).ravel()
        length = tokens.length[text]
        side = np.repeat(np.arange(len(text)), length)
        self.ids = tokens.ids[spans(tokens.start[text], length)]
        self.pair = side // 2
        self.in_output = side % 2 == 0


def _aligned(
    words: _Words, vocabulary: tuple[str, ...], synonyms: WordNet | None
) -> tuple[Integers, Integers]:
    """Places of the aligned words in the outputs, and of their partners in the references."""
    place = np.arange(len(words.ids))
    exact = _equal(words, place, words.ids)
    place = np.delete(place, np.concatenate(exact))
    # only what is left over is stemmed
    left, position = np.unique(words.ids[place], return_inverse=True)
    stems = [porter_stem(vocabulary[number]) for number in left.tolist()]
    number = {stem: code for code, stem in enumerate(dict.fromkeys(stems))}
    stem = np.zeros(len(words.ids), dtype=np.int64)
    stem[place] = np.array([number[word] for word in stems], dtype=np.int64)[position]
    by_stem = _equal(words, place, stem)
    stages = [exact, by_stem]
    if synonyms is not None:
        place = np.setdiff1d(place, np.concatenate(by_stem), assume_unique=True)
        near = [
            frozenset(number[other] for other in synonyms.synonyms(word) if other in number)
            for word in number
        ]
        stages.append(_synonymous(words, place, stem, near))
    return (
        np.concatenate([output for output, _ in stages]),
        np.concatenate([reference for _, reference in stages]),
    )


def _equal(words: _Words, place: Integers, name: Integers) -> tuple[Integers, Integers]:
    """Align words of one name: the last of the output with the last of the reference, and so on."""
    if len(place) == 0:
        return place, place
    size = int(name.max()) + 1
    _, place, start = sorted_runs(words.pair[place] * size + name[place], place)
    total = np.diff(start, append=len(place))
    output = np.add.reduceat(words.in_output[place].astype(np.int64), start)
    both = np.minimum(output, total - output)
    return place[spans(start + output - both, both)], place[spans(start + total - both, both)]


def _synonymous(
    words: _Words, place: Integers, stem: Integers, near: list[frozenset[int]]
) -> tuple[Integers, Integers]:
    """Align each word left over, from the last, with the last word that is a synonym of it."""
    outputs, references = [], []
    for group in np.split(place, np.flatnonzero(np.diff(words.pair[place])) + 1):
        places = defaultdict(list)
        mine = []
        for here, name, own in zip(
            group.tolist(), stem[group].tolist(), words.in_output[group].tolist(), strict=True
        ):
            if own:
                mine.append((here, name))
            else:
                places[name].append(here)
        for here, name in reversed(mine):
            found = [places[other] for other in near[name] if places.get(other)]
            if found:
                outputs.append(here)
                references.append(max(found, key=lambda several: several[-1]).pop())
    return np.array(outputs, dtype=np.int64), np.array(references, dtype=np.int64)
