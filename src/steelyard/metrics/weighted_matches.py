"""What METEOR 1.5 counts: aligned words, weighted by how they match and what they are.

References
----------
M. Denkowski, A. Lavie (2014). Meteor Universal: language specific translation evaluation for any
target language. WMT, 376-380.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from steelyard.metrics.chunk_alignment import fewest_chunks
from steelyard.metrics.fractions import fraction
from steelyard.metrics.function_words import function_words, is_mark
from steelyard.metrics.metric import Floats
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.stemming import porter_stem
from steelyard.metrics.tokens import Tokens
from steelyard.metrics.wordnet import WordNet

__all__ = ["WordWeights", "weighted_matches"]

Key = TypeVar("Key", bound=Hashable)

# Weights of a match, the strongest first: METEOR 1.5's for English
_EQUAL, _SYNONYM, _STEM = 1.0, 0.8, 0.6


class WordWeights:
    """Weight, stem and senses of each word, worked out once.

    Parameters
    ----------
    wordnet : WordNet or None
        Where senses are looked up.
    delta : float
        Weight of a content word; a function word has what is left to 1.
    path : str
        File of function words; English ones when it is empty.
    """

    def __init__(self, wordnet: WordNet | None, *, delta: float, path: str) -> None:
        self._wordnet = wordnet
        self._delta = delta
        self._function_words = function_words(path)
        self._known = 0
        self.weight = np.empty(0)
        self.stem: list[str] = []
        self.senses: list[frozenset[tuple[str, int]]] = []

    def learn(self, vocabulary: Sequence[str]) -> None:
        """Work out what is new in a vocabulary that has grown."""
        new = vocabulary[self._known :]
        self._known += len(new)
        content = [word not in self._function_words and not is_mark(word) for word in new]
        weight = np.where(content, self._delta, 1 - self._delta)
        self.weight = np.concatenate([self.weight, weight])
        self.stem.extend(porter_stem(word) for word in new)
        if self._wordnet is not None:
            self.senses.extend(self._wordnet.senses(word) for word in new)


def weighted_matches(
    tokens: Tokens, pairs: Pairs, words: WordWeights
) -> tuple[Floats, Floats, Floats]:
    """Weighted precision and recall of every pair, and the share of chunks.

    Parameters
    ----------
    tokens : Tokens
        Tokens of the batch's texts.
    pairs : Pairs
        The batch.
    words : WordWeights
        Weights of the words.

    Returns
    -------
    precision, recall : (n_pairs,) arrays of float
        Weight of the aligned words, over the weight of all words of output and reference.
    share : (n_pairs,) array of float
        Chunks over aligned words; 0 if all words of both texts are aligned in one chunk.
    """
    words.learn(tokens.vocabulary)
    total = np.array([words.weight[ids].sum() for ids in np.split(tokens.ids, tokens.start[1:-1])])
    found = np.zeros((3, len(pairs)))
    for pair, (output, reference) in enumerate(zip(pairs.output, pairs.reference, strict=True)):
        ours, theirs = (
            tokens.ids[tokens.start[text] : tokens.start[text + 1]].tolist()
            for text in (output, reference)
        )
        found[:, pair] = _one_pair(ours, theirs, words)
    in_output, in_reference, share = found
    # a text without words has no weight, and none of its words is aligned
    return (
        fraction(in_output, total[pairs.output]),
        fraction(in_reference, total[pairs.reference]),
        share,
    )


def _one_pair(
    output: Sequence[int], reference: Sequence[int], words: WordWeights
) -> tuple[float, float, float]:
    """Weight of the aligned words in both texts, and the share of chunks."""
    matches = _matches(output, reference, words)
    partners = fewest_chunks([list(places) for places in matches])
    in_output = in_reference = 0.0
    aligned = chunks = 0
    before = -2
    for word, (place, places) in enumerate(zip(partners, matches, strict=True)):
        if place >= 0:
            in_output += places[place] * words.weight[output[word]]
            in_reference += places[place] * words.weight[reference[place]]
            aligned += 1
            chunks += place != before + 1
        before = place if place >= 0 else -2
    if not aligned:
        return 0.0, 0.0, 0.0
    whole = chunks == 1 and aligned == len(output) == len(reference)
    return in_output, in_reference, 0.0 if whole else chunks / aligned


def _matches(
    output: Sequence[int], reference: Sequence[int], words: WordWeights
) -> list[dict[int, float]]:
    """Places of the reference that each word of the output matches, and the match's weight."""
    equal = _places((word, place) for place, word in enumerate(reference))
    stem = _places((words.stem[word], place) for place, word in enumerate(reference))
    sense = _places(
        (one, place)
        for place, word in enumerate(reference if words.senses else ())
        for one in words.senses[word]
    )
    found = []
    for word in output:
        # later ones are stronger, and take the place of weaker ones
        matches = dict.fromkeys(stem.get(words.stem[word], ()), _STEM)
        for one in words.senses[word] if words.senses else ():
            matches |= dict.fromkeys(sense.get(one, ()), _SYNONYM)
        found.append(matches | dict.fromkeys(equal.get(word, ()), _EQUAL))
    return found


def _places(entries: Iterable[tuple[Key, int]]) -> dict[Key, list[int]]:
    places: defaultdict[Key, list[int]] = defaultdict(list)
    for key, place in entries:
        places[key].append(place)
    return places
