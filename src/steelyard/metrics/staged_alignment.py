"""Words aligned stage by stage from the end of both texts, as NLTK's METEOR aligns them."""

from collections.abc import Sequence
from operator import itemgetter

import numpy as np

from steelyard.arrays import Ints
from steelyard.metrics.overlap import run_sums, sorted_runs
from steelyard.metrics.stemming import porter_stem
from steelyard.metrics.tokens import Tokens, spans
from steelyard.metrics.wordnet import WordNet

__all__ = ["Stems", "Words", "staged_alignment"]


class Words:
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

    def __init__(self, tokens: Tokens, text: Ints) -> None:
        side = np.repeat(np.arange(text.size), tokens.length[text.ravel()])
        self.ids = tokens.of(text.ravel())
        self.vocabulary = tokens.vocabulary
        self.pair = side // 2
        self.in_output = side % 2 == 0


class Stems:
    """Stems of the words that have no equal word, and synonyms of the stems, worked out once."""

    def __init__(self, wordnet: WordNet | None) -> None:
        self.wordnet = wordnet
        self._stem = np.empty(0, dtype=np.int64)
        self._number: dict[str, int] = {}
        self._names: list[str] = []
        self._synonyms: dict[str, frozenset[str]] = {}

    def numbers(self, ids: Ints, vocabulary: Sequence[str]) -> Ints:
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

    def names(self, numbers: Ints) -> list[str]:
        """Return the stems that numbers stand for."""
        return [self._names[number] for number in numbers.tolist()]

    def synonyms(self, stem: str) -> frozenset[str]:
        """Words that share a sense with a stem."""
        if stem not in self._synonyms:
            assert self.wordnet is not None
            self._synonyms[stem] = self.wordnet.synonyms(stem)
        return self._synonyms[stem]


def staged_alignment(words: Words, stems: Stems) -> tuple[Ints, Ints]:
    """Align equal words, then words with equal stems, then a word with a synonym of its stem.

    Parameters
    ----------
    words : Words
        Words of some pairs.
    stems : Stems
        Their stems, and where synonyms are looked up.

    Returns
    -------
    output, reference : (n_aligned,) arrays of int
        Places of the aligned words in the outputs, and of their partners in the references.
    """
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


def _equal(words: Words, place: Ints, name: Ints) -> tuple[Ints, Ints]:
    """Align words of one name: the last of the output with the last of the reference, and so on."""
    if len(place) == 0:
        return place, place
    place, start = sorted_runs(name, place, words.pair)
    total = np.diff(start, append=len(place))
    output = run_sums(words.in_output[place], start)
    both = np.minimum(output, total - output)
    return place[spans(start + output - both, both)], place[spans(start + total - both, both)]


def _synonymous(words: Words, place: Ints, names: list[str], stems: Stems) -> tuple[Ints, Ints]:
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
