"""Draws with equal probabilities that are spread over several values at once.

The local pivotal method (Grafstrom, Lundstrom and Schelin 2012): an output chosen at random fights a duel against its nearest
neighbour among those still in play, until all are drawn or out. What is near a drawn output is seldom drawn too.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

__all__ = ["Nearest", "local_pivotal", "tour"]

Floats = NDArray[np.float64]
Won = Callable[[int, int], bool]
# A number below this one, each equally likely.
Chosen = Callable[[int], int]

_NEIGHBOURS = 12


class Nearest:
    """The nearest points that are still in play; a k-d tree, made anew when half of it is gone."""

    def __init__(self, points: Floats) -> None:
        self._points = points
        self.left = list(range(len(points)))
        self._slot = list(range(len(points)))
        self._there = [True] * len(points)
        self._build()

    def _build(self) -> None:
        self._member = np.array(self.left)
        self._tree = cKDTree(self._points[self._member])
        self._rank = {one: rank for rank, one in enumerate(self.left)}
        count = min(_NEIGHBOURS + 1, len(self.left))
        found = self._tree.query(self._points[self._member], k=count)[1].reshape(-1, count)
        self._near = self._member[found].tolist()

    def remove(self, one: int) -> None:
        """Take a point out of play."""
        slot, last = self._slot[one], self.left[-1]
        self.left[slot], self._slot[last] = last, slot
        self.left.pop()
        self._there[one] = False
        if self.left and 2 * len(self.left) < len(self._member) > _NEIGHBOURS:
            self._build()

    def of(self, one: int) -> int:
        """Return the nearest other point in play to one that was in play when the tree was made."""
        near = self._near[self._rank[one]] if one in self._rank else []
        count = max(len(near), 1)
        while True:
            for other in near:
                if other != one and self._there[other]:
                    return int(other)
            count = min(4 * count, len(self._member))
            found = self._tree.query(self._points[one], k=count)[1]
            near = self._member[np.atleast_1d(found)].tolist()


def local_pivotal(points: Floats, n: int, won: Won, chosen: Chosen) -> list[int]:
    """Return which n of the points are drawn, each with probability n/N.

    Parameters
    ----------
    points : (N, p) array
        The values of each output.
    n : int
        How many to draw.
    won, chosen : callable
        The source of chance: whether something of a weight, of a total, happens; and a number below
        another.
    """
    size = len(points)
    if n == size:
        return list(range(size))
    chance, drawn, near = [n] * size, [], Nearest(points)
    while len(near.left) > 1:
        one = near.left[chosen(len(near.left))]
        other = near.of(one)
        both = chance[one] + chance[other]
        if both < size:
            stays, goes = (one, other) if won(chance[one], both) else (other, one)
            chance[stays] = both
        else:
            first = won(size - chance[other], 2 * size - both)
            goes, stays = (one, other) if first else (other, one)
            drawn.append(goes)
            chance[stays] = both - size
        near.remove(goes)
        if chance[stays] == 0:
            near.remove(stays)
    return drawn


def tour(points: Floats) -> list[int]:
    """Return the points in an order in which each is followed by the nearest that is left."""
    start = int(np.argmin(points @ np.ones(points.shape[1])))
    near, found = Nearest(points), [start]
    while len(near.left) > 1:
        here = found[-1]
        following = near.of(here)
        near.remove(here)
        found.append(following)
    return found
