"""Translation edit rate: edits and shifts of blocks of words.

References
----------
M. Snover, B. Dorr, R. Schwartz, L. Micciulla, J. Makhoul (2006). A study of translation edit rate
with targeted human annotation. AMTA, 223-231.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from steelyard.metrics.alignment import Alignment, Beam, aligned, beam_distances
from steelyard.metrics.fractions import fraction
from steelyard.metrics.metric import Floats, Metric, over_references
from steelyard.metrics.pairs import Pairs
from steelyard.metrics.tokenizers import TercomTokenizer, Tokenizer, WhitespaceTokenizer

__all__ = ["Ter", "edits"]

Words = TypeVar("Words", str, list[int])

# The limits of the search, as Tercom and sacrebleu have them
_LONGEST_SHIFT = 10
_FARTHEST_SHIFT = 50
_MOST_SHIFTS = 1000


@dataclass(frozen=True, kw_only=True)
class Ter(Metric):
    """TER: edits for the output to become the reference, a shift of a block counting as one.

    The number of insertions, deletions, substitutions and shifts of blocks of words over the
    length of the reference: 0 for equal texts, and more than 1 when the output is much longer
    than the reference. Lower is better. It equals sacrebleu's ``sentence_ter`` / 100.

    Attributes
    ----------
    normalized : bool
        Whether punctuation is set apart and entities are resolved.
    case_sensitive : bool
        Whether case matters.
    references : {"joint", "best", "mean"}
        With several references: the fewest edits over the mean length of the references, as TER
        is defined; the best or the mean of the values against each alone.
    """

    higher_is_better: ClassVar[bool] = False

    normalized: bool = False
    case_sensitive: bool = False
    references: Literal["joint", "best", "mean"] = "joint"

    @property
    def tokenizer(self) -> Tokenizer:
        """What splits texts into tokens."""
        if self.normalized:
            return TercomTokenizer(case_sensitive=self.case_sensitive)
        return WhitespaceTokenizer(lowercase=not self.case_sensitive)

    def scores(self, pairs: Pairs) -> Floats:
        """Score every example against its references."""
        tokens = pairs.tokens(self.tokenizer)
        symbols = tokens.symbols
        number = np.fromiter(
            (
                edits(symbols[output], symbols[reference])
                for output, reference in zip(
                    pairs.output.tolist(), pairs.reference.tolist(), strict=True
                )
            ),
            np.float64,
            count=len(pairs),
        )
        length = tokens.length[pairs.reference].astype(np.float64)
        if self.references == "joint":
            fewest = over_references(number, pairs, preference=-number)
            return _rate(fewest, over_references(length, pairs))
        values = _rate(number, length)
        return over_references(
            values, pairs, preference=None if self.references == "mean" else -values
        )


def _rate(number: Floats, length: Floats) -> Floats:
    """Edits over length; against an empty reference 1, or 0 when there is nothing to delete."""
    return np.where(length > 0, fraction(number, length), number > 0)


def edits(output: Words, reference: Words) -> int:
    """Number of edits and shifts that TER's greedy search finds.

    Parameters
    ----------
    output, reference : sequences of words
        Any hashable words; a string is a sequence of one-letter words.

    Returns
    -------
    int

    Notes
    -----
    As long as a shift of a block of words to where the reference has it lowers the edit distance,
    the best one is made; then the remaining edits are counted. When the search has looked at 1000
    shifts it ends without the shift it was about to choose.

    Examples
    --------
    >>> edits("dabc", "abcd"), edits("abc", "abd"), edits("abcde", "")
    (1, 1, 5)
    """
    if not reference:
        return len(output)
    beam = Beam(len(output), len(reference))
    alignment = aligned(output, reference, beam)
    shifts = looked_at = 0
    while alignment.distance:
        candidates = []
        for several in _shifts(output, reference, alignment):
            candidates += several
            if looked_at + len(candidates) >= _MOST_SHIFTS:
                return shifts + alignment.distance
        looked_at += len(candidates)
        best = _best_shift(output, reference, candidates, beam=beam, distance=alignment.distance)
        if best is None:
            break
        output, alignment = best
        shifts += 1
    return shifts + alignment.distance


def _shifts(
    output: Words, reference: Words, alignment: Alignment
) -> Iterator[list[tuple[int, int, int]]]:
    """Shifts worth trying, as (length, start, target): lists that share a block and its match.

    A block is shifted to, or near, a place where the reference has the same words, if some of
    them are wrong where they stand now, and some words are wrong there.
    """
    places = defaultdict(list)
    for place, word in enumerate(reference):
        places[word].append(place)
    for start, word in enumerate(output):
        at = places.get(word, [])
        near = bisect_left(at, start - _FARTHEST_SHIFT), bisect_right(at, start + _FARTHEST_SHIFT)
        for place in at[slice(*near)]:
            targets = [alignment.target[place - 1] + 1 if place else 0]
            here_wrong = there_wrong = False
            block = zip(
                output[start : start + _LONGEST_SHIFT],
                reference[place : place + _LONGEST_SHIFT],
                strict=False,
            )
            for length, (one, other) in enumerate(block, 1):
                if one != other:
                    break
                here_wrong = here_wrong or alignment.output_wrong[start + length - 1]
                there_wrong = there_wrong or alignment.reference_wrong[place + length - 1]
                target = alignment.target[place + length - 1] + 1
                if target != targets[-1]:
                    targets.append(target)
                within = start <= alignment.target[place] < start + length
                if here_wrong and there_wrong and not within:
                    yield [(length, start, target) for target in targets]


def _best_shift(
    output: Words,
    reference: Words,
    candidates: Sequence[tuple[int, int, int]],
    *,
    beam: Beam,
    distance: int,
) -> tuple[Words, Alignment] | None:
    """Make the shift that lowers the distance most, if there is one.

    Of several, it is the one of the longest block, then of the first block, then to the first
    place. Distances without the beam are at most those within it, so a shift that is best without
    and has the same distance within is the best.
    """
    candidates = list(dict.fromkeys(candidates))
    if not candidates:
        return None
    shifted = [_shifted(output, *candidate) for candidate in candidates]
    whole = cdist([reference], shifted, scorer=Levenshtein.distance, dtype=np.int64)[0]
    best = _first(whole, candidates)
    if whole[best] >= distance:
        return None
    alignment = aligned(shifted[best], reference, beam)
    if not alignment.inside:
        number = {word: code for code, word in enumerate({*output, *reference})}
        coded = np.array([[number[word] for word in words] for words in shifted])
        within = beam_distances(coded, np.array([number[word] for word in reference]), beam)
        best = _first(within, candidates)
        if within[best] >= distance:
            return None
        alignment = aligned(shifted[best], reference, beam)
    return shifted[best], alignment


def _first(distances: NDArray[np.int64], candidates: Sequence[tuple[int, int, int]]) -> int:
    length, start, target = np.array(candidates).T
    return int(np.lexsort((target, start, -length, distances))[0])


def _shifted(words: Words, length: int, start: int, target: int) -> Words:
    end = start + length
    if target < start:
        order = (words[:target], words[start:end], words[target:start], words[end:])
    elif target > end:
        order = (words[:start], words[end:target], words[start:end], words[target:])
    else:
        order = (
            words[:start],
            words[end : target + length],
            words[start:end],
            words[target + length :],
        )
    return order[0] + order[1] + order[2] + order[3]
