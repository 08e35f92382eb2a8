r"""What all pairs of systems tell of the spread of one pair's differences, where tails are long.

Errors that are counted, and scores with few bad items, have differences with long tails: the variance of a few of them is
mostly too small, and Student's interval too short. The differences of all pairs show how long the tails are and how large a variance to
expect, as the residuals of all systems do for means (`borrowed`). Derived in docs/methods/comparison.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs
from steelyard.estimate.borrowed import MIN_SYSTEMS, Spread, borrowed_spread, long_tailed_freedoms
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.pair_neighbours import PairNeighbours

__all__ = ["PairTails"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Of more systems, each is set against so many neighbours.
_ALL_PAIRS, _NEIGHBOURS = 150, 10


@dataclass(frozen=True)
class PairTails:
    """Spread of the differences of two systems on the same items, from all pairs.

    Attributes
    ----------
    n_items : int
        Items that all systems were judged on.
    spread : Spread
        What to expect of the variance of a pair's differences.
    freedom : float
        Degrees of freedom of one pair's own variance, with tails as all pairs show them.
    """

    n_items: int
    spread: Spread
    freedom: float

    @classmethod
    def of(
        cls,
        systems: Sequence[JudgedSystem],
        samples: Sequence[JudgedOutputs],
        beside: Integers | None = None,
    ) -> "PairTails | None":
        """Learn from all pairs; None unless four systems or more were judged on the same items.

        `beside` are pairs (m, 2) of items that are neighbours in a spread draw.
        """
        items = systems[0].items
        same = all(one.clusters is None and np.array_equal(one.items, items) for one in systems)
        if len(systems) < MIN_SYSTEMS or not same or len(items) < 3:
            return None
        residuals = np.stack([sample.mean - sample.mean.mean() for sample in samples])
        differences = np.stack([residuals[a] - residuals[b] for a, b in _pairs(residuals)])
        own = len(items) - 1.0
        squared = differences
        if beside is not None:
            near = PairNeighbours.of(beside, np.sort(items))
            own = near.freedom
            squared = (near.S @ differences[:, np.argsort(items)].T).T
        scale = own if beside is None else 2 * len(beside)
        variances = np.einsum("pn,pn->p", squared, squared) / scale
        freedoms = np.full(len(variances), own)
        freedoms = long_tailed_freedoms(list(differences), variances, freedoms)
        spread = borrowed_spread(variances, freedoms)
        if not spread.freedom:
            return None
        # Pairs that share a system do not know more than the systems themselves.
        most = (len(systems) - 1) / 2 * float(freedoms[0])
        return cls(
            len(items), Spread(spread.variance, min(spread.freedom, most)), float(freedoms[0])
        )

    @property
    def lent(self) -> float:
        """Share of what is known of a variance that the other pairs lend."""
        return self.spread.freedom / (self.spread.freedom + self.freedom)

    def moderated(self, variance: float) -> tuple[float, float]:
        """Return the variance of a mean difference with what is lent, and the variance of that."""
        found, freedom = self.spread.moderated(variance * self.n_items, self.freedom)
        value = found / self.n_items
        return value, 2 * value**2 / freedom


def _pairs(residuals: Floats) -> list[tuple[int, int]]:
    """Return all pairs, or neighbours in the order of their spread where systems are many."""
    count = len(residuals)
    if count <= _ALL_PAIRS:
        return list(combinations(range(count), 2))
    order = np.argsort((residuals**2).sum(axis=1), kind="stable")
    return [
        (int(order[place]), int(order[place + step]))
        for step in range(1, _NEIGHBOURS + 1)
        for place in range(count - step)
    ]
