r"""The variance of a mean difference where items were drawn spread: differences of neighbours.

With :math:`u_i = d_i - \bar d` on the c judged items on which two systems differ, and 0 on those on which they do not, n in all,

.. math:: V = \frac{n}{2 m c^2} \sum_{(i, j)} (u_i - u_j)^2

over the m pairs of neighbours along what the draw was spread by. Items on which the two do not differ count as well: how
many of the others there are is not spread exactly. Derived in docs/methods/spread.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from steelyard.estimate.controlled import JudgedSystem

__all__ = ["PairNeighbours", "between_neighbours", "item_neighbours"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairNeighbours:
    """Neighbours among the judged items of a spread draw.

    Attributes
    ----------
    n : int
        Judged items, also those on which the two systems do not differ.
    S : (m, c) sparse array
        Takes the difference of neighbours, over items that differ; what does not differ counts as 0.
    """

    n: int
    S: csr_array

    @classmethod
    def of(cls, beside: Integers, items: Integers) -> "PairNeighbours":
        """Find neighbours among `items` (c,), of pairs (m, 2) of neighbours among all judged items."""
        place = np.searchsorted(items, beside).clip(max=len(items) - 1)
        inside = items[place] == beside
        row = np.broadcast_to(np.arange(len(beside))[:, np.newaxis], beside.shape)
        sign = np.broadcast_to(np.array([1.0, -1.0]), beside.shape)
        S = csr_array((sign[inside], (row[inside], place[inside])), shape=(len(beside), len(items)))
        return cls(len(np.unique(beside)), S)

    @property
    def _factor(self) -> float:
        pairs, differing = self.S.shape
        return float(self.n / (2 * pairs * differing**2))

    def squares(self, residual: Floats) -> float:
        """Return the variance of the mean of differences with these residuals (c,)."""
        t = self.S @ residual
        return self._factor * float(t @ t)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variance."""
        c = self.S.shape[1]
        return _freedom(self.S) * (1.0 if c == self.n else (c - 1) / c)

    def leniency(self, shares: csr_array) -> float:
        """Return what leniency of variance 1 adds to `squares`, with raters' shares (c, R)."""
        mean = shares.sum(axis=0) / shares.shape[0]
        own, edge = csr_array(self.S @ shares), self.S.sum(axis=1)
        squares = float((own * own).sum()) - 2 * float((own.T @ edge) @ mean)
        return self._factor * (squares + float(edge @ edge) * float(mean @ mean))


def _freedom(S: csr_array) -> float:
    """Return the degrees of freedom of the sum of squares of S times independent errors."""
    gram = csr_array(S.T @ S)
    return float(gram.diagonal().sum()) ** 2 / max(float((gram * gram).sum()), 1e-300)


def item_neighbours(systems: Sequence[JudgedSystem]) -> Integers | None:
    """Return pairs of items that are neighbours in a spread draw of the same items for all systems."""
    one = systems[0]
    for other in systems:
        if one.draw.place is None or other.draw.place is None:
            return None
        same = np.array_equal(other.items, one.items)
        if not same or not np.array_equal(other.draw.place, one.draw.place):
            return None
    return np.asarray(one.items[one.draw.neighbours])


def between_neighbours(influence: Floats, beside: Integers | None) -> Floats:
    """Return what items add to an error; in a spread draw, what lies between neighbours.

    There are no more numbers than items: each is one that errs by itself.
    """
    if beside is None:
        return influence
    first, second = influence[beside[: len(influence)].T]
    found = np.zeros_like(influence)
    found[: len(first)] = (first - second) * np.sqrt(len(influence) / (2 * len(first)))
    return found
