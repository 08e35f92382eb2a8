"""The one-to-one alignment of most words in fewest chunks, by beam search.

References
----------
M. Denkowski, A. Lavie (2014). Meteor Universal: language specific translation evaluation for any
target language. WMT, 376-380.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

__all__ = ["fewest_chunks"]

# Partial alignments that are followed at a time, as many as the authors' program follows
_BEAM = 40
# Places that are tried for one word beside the one that continues a chunk, the nearest first
_TRIED = 16
# Partner of a word that has none; no place comes right after it
_NONE = -2


class _Partial(NamedTuple):
    """An alignment of an output's first words.

    Attributes
    ----------
    cost : (int, int, int)
        Words left without a partner, chunks, and how far partners stand apart: the less the
        better, the first first.
    last : int
        Partner of the last word, as far as the next word can follow it.
    used : int
        Places that are taken, as far as later words want them, a bit for each.
    partners : tuple
        Partner of the last word, and the partners of the words before it in the same form.
    """

    cost: tuple[int, int, int]
    last: int
    used: int
    partners: tuple["_Partners", int] | None


_Partners = tuple["_Partners", int] | None


def fewest_chunks(options: Sequence[Sequence[int]]) -> list[int]:
    """Align words of an output with places in a reference, one to one.

    The alignment sought has the most aligned words; of those, the fewest chunks, runs of words
    whose partners stand side by side in the same order; of those, the least sum of distances
    between a word's place and its partner's.

    Parameters
    ----------
    options : sequence of sequences of int
        For each word of the output, the places of the reference that it may be aligned with.

    Returns
    -------
    list of int
        For each word its partner's place; -1 for none.

    Notes
    -----
    The search goes through the output from its first word and follows the 40 best partial
    alignments, so that for long texts of few different words the best one may be missed. Two
    partial alignments that leave the same to later words count as one.

    Examples
    --------
    "the cat and the dog" with "the dog": the second "the" is chosen, in one chunk.

    >>> fewest_chunks([[0], [], [], [0], [1]])
    [-1, -1, -1, 0, 1]
    """
    wanted = _wanted_later(options)
    beam = [_Partial((0, 0, 0), _NONE, 0, None)]
    for word, places in enumerate(options):
        following = set(options[word + 1]) if word + 1 < len(options) else set()
        nearest = sorted(places, key=lambda place: abs(place - word))[:_TRIED]
        best: dict[tuple[int, int], _Partial] = {}
        for partial in beam:
            unmatched, chunks, distance = partial.cost
            for place in _choices(partial, nearest, places, wanted[word]):
                if place < 0:
                    cost = unmatched + bool(places), chunks, distance
                else:
                    continues = place == partial.last + 1
                    cost = unmatched, chunks + (not continues), distance + abs(place - word)
                # what the next words cannot see is forgotten
                last = place if place + 1 in following and place >= 0 else _NONE
                used = (partial.used | 1 << place if place >= 0 else partial.used) & wanted[word]
                known = best.get((last, used))
                if known is None or cost < known.cost:
                    best[last, used] = _Partial(cost, last, used, (partial.partners, place))
        beam = sorted(best.values(), key=_cost)[:_BEAM]
    partners, found = beam[0].partners, []
    while partners is not None:
        partners, place = partners
        found.append(place)
    return found[::-1]


_cost = attrgetter("cost")


def _wanted_later(options: Sequence[Sequence[int]]) -> list[int]:
    """Places that words after each word may be aligned with, a bit for each place."""
    wanted = [0]
    for places in reversed(options[1:]):
        mask = wanted[-1]
        for place in places:
            mask |= 1 << place
        wanted.append(mask)
    return wanted[::-1]


def _choices(
    partial: _Partial, nearest: Sequence[int], places: Sequence[int], wanted: int
) -> list[int]:
    """Places that a word can take; and -1 for none, where a later word may want all of them."""
    following = partial.last + 1
    if partial.last != _NONE and following not in nearest and following in places:
        nearest = [*nearest, following]
    free = [place for place in nearest if not partial.used >> place & 1]
    if all(wanted >> place & 1 for place in free):
        free.append(-1)
    return free
