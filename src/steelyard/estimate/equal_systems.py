"""Which pairs of systems can be equal at the same time.

If a equals b and b equals c, then a equals c. So the pairs of equal systems are those within the groups of some partition
of the systems: three systems have five partitions, not the eight subsets of their three pairs.
"""

from collections.abc import Hashable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["equal_sets", "largest_sets", "members"]

# Ten systems have 115,975 partitions, eleven 678,570.
_MOST_SYSTEMS = 10


def equal_sets(pairs: Sequence[tuple[Hashable, Hashable]]) -> NDArray[np.uint64] | None:
    """Return the sets of pairs that can be equal at the same time, as bits; None for too many systems."""
    numbers = {system: None for pair in pairs for system in pair}
    if len(numbers) > _MOST_SYSTEMS:
        return None
    place = {system: number for number, system in enumerate(numbers)}
    return _sets(tuple((place[a], place[b]) for a, b in pairs), len(place))


def members(one: np.uint64) -> NDArray[np.intp]:
    """Return the numbers of the pairs in a set."""
    return np.flatnonzero(one >> np.arange(64, dtype=np.uint64) & np.uint64(1))


def largest_sets(sets: NDArray[np.uint64], *, most: int) -> list[NDArray[np.intp]] | None:
    """Return the sets that no other one contains, or None if they are more than `most`."""
    found: list[NDArray[np.intp]] = []
    # A set has a greater number than any set within it.
    left = np.sort(sets)[::-1]
    while len(left):
        if len(found) == most:
            return None
        found.append(members(left[0]))
        left = left[left & ~left[0] != 0]
    return found


@lru_cache(maxsize=4)
def _sets(pairs: tuple[tuple[int, int], ...], systems: int) -> NDArray[np.uint64]:
    groups = _partitions(systems)
    found = np.zeros(len(groups), dtype=np.uint64)
    for number, (a, b) in enumerate(pairs):
        found |= (groups[:, a] == groups[:, b]).astype(np.uint64) << np.uint64(number)
    return np.unique(found)


@lru_cache(maxsize=2)
def _partitions(systems: int) -> NDArray[np.int8]:
    """Return all partitions of so many systems: the number of each one's group, by first appearance."""
    found = np.zeros((1, 1), dtype=np.int8)
    for _ in range(1, systems):
        choices = found.max(axis=1) + 2
        grown = np.repeat(found, choices, axis=0)
        first = np.repeat(np.cumsum(choices) - choices, choices)
        found = np.column_stack([grown, (np.arange(len(grown)) - first).astype(np.int8)])
    return found
