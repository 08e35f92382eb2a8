r"""What all pairs of systems tell of the spread of one pair's differences, where tails are long.

Errors that are counted, and scores with few bad items, have differences with long tails: the variance of a few of them is
mostly too small, and Student's interval too short. All pairs together show how long the tails are and how large a variance to
expect, as the residuals of all systems do for means (`borrowed`). Pairs need not have the same items, nor the same number: a variance
is compared with that which the mean variance of a score and the mean covariance of two scores of an item would give to its items.
Derived in docs/methods/comparison.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs
from steelyard.estimate.borrowed import (
    MIN_SYSTEMS,
    Spread,
    borrowed_spread,
    tail_excess,
    with_tails,
)
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.pair_variance import PairScores, SideScores

__all__ = ["PairTails"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Of more systems, each is set against so many neighbours.
_ALL_PAIRS, _NEIGHBOURS = 150, 10
# Two systems with at least this share of items in common are seen as judged on the same items.
_TOGETHER = 0.5


@dataclass(frozen=True)
class PairTails:
    """Spread of the differences of two systems, from all pairs.

    Attributes
    ----------
    score, covariance : float
        Mean variance of a system's scores, and mean covariance of two systems' scores of an item.
    spread : Spread
        What to expect of the variance of a difference, over what these two would make of it.
    excess : float
        Excess kurtosis of the differences, or of scores where systems have few items in common.
    """

    score: float
    covariance: float
    spread: Spread
    excess: float

    @classmethod
    def of(
        cls,
        systems: Sequence[JudgedSystem],
        samples: Sequence[JudgedOutputs],
        beside: Integers | None = None,
    ) -> "PairTails | None":
        """Learn from all pairs; None for fewer than four systems, or where items come in clusters.

        `beside` are pairs (m, 2) of items that are neighbours in a spread draw.
        """
        sides = [
            SideScores(one.items, sample.mean, sample.count)
            for one, sample in zip(systems, samples, strict=True)
            if sample.n_outputs > 2
        ]
        if len(sides) < MIN_SYSTEMS or any(one.clusters is not None for one in systems):
            return None
        pairs = [PairScores.of(sides[a], sides[b], beside) for a, b in _pairs(sides)]
        score = float(np.mean([one.variance for one in sides]))
        common = [one.covariance for one in pairs if _is_together(one)]
        usual = cls(score, float(np.mean(common)) if common else 0.0, Spread(0.0, 0.0), 0.0)
        ratios, freedoms = np.array([usual._own(one) for one in pairs]).T
        excess = _excess(sides, pairs)
        freedoms = with_tails(freedoms, excess)
        spread = borrowed_spread(ratios, freedoms)
        if not spread.freedom:
            return None
        # Pairs that share a system do not know more than the systems themselves.
        most = (len(sides) - 1) / 2 * float(freedoms[ratios > 0].mean())
        spread = Spread(spread.variance, min(spread.freedom, most))
        return cls(usual.score, usual.covariance, spread, excess)

    def _expected(self, both: PairScores) -> float:
        """Return the variance of a difference between two systems like all others."""
        n, m, common = len(both.a.scores), len(both.b.scores), len(both.in_a)
        found = self.score * (1 / n + 1 / m) - 2 * self.covariance * common / (n * m)
        return max(found, 1e-9 * self.score * (1 / n + 1 / m))

    def _own(self, both: PairScores) -> tuple[float, float]:
        """Return a pair's own variance over the expected one, and its degrees of freedom."""
        value, doubt = both.variance()
        expected = self._expected(both)
        if value <= 0 or doubt <= 0 or expected <= 0:
            return 0.0, 0.0
        freedom = with_tails(np.array([2 * value**2 / doubt]), self.excess)
        return value / expected, float(freedom[0])

    def lent(self, both: PairScores) -> float:
        """Return the share of what is known of a pair's variance that the other pairs lend."""
        return self.spread.freedom / (self.spread.freedom + self._own(both)[1])

    def moderated(self, both: PairScores) -> tuple[float, float]:
        """Return the variance of a mean difference with what is lent, and the variance of that."""
        found, freedom = self.spread.moderated(*self._own(both))
        value = found * self._expected(both)
        return value, 2 * value**2 / freedom


def _is_together(both: PairScores) -> bool:
    """Whether two systems were judged on the same items, but for some."""
    most = min(len(both.a.scores), len(both.b.scores))
    return len(both.in_a) >= max(_TOGETHER * most, 3)


def _excess(sides: Sequence[SideScores], pairs: Sequence[PairScores]) -> float:
    """Return the excess kurtosis of differences on common items, or else of scores."""
    same = [one for one in pairs if _is_together(one)]
    residuals = [one.a.residual[one.in_a] - one.b.residual[one.in_b] for one in same]
    if not residuals:
        residuals = [one.residual for one in sides]
    freedoms = np.array([len(one) - 1.0 for one in residuals])
    variances = np.array([one.var(ddof=1) for one in residuals])
    if same and same[0].neighbours is not None:
        own = [one.variance() for one in same]
        freedoms = np.array([2 * value**2 / doubt if doubt else 0.0 for value, doubt in own])
        variances = np.array([value * len(same[0].in_a) for value, _ in own])
    return tail_excess(residuals, variances, freedoms)


def _pairs(sides: Sequence[SideScores]) -> list[tuple[int, int]]:
    """Return all pairs, or neighbours in the order of their spread where systems are many."""
    count = len(sides)
    if count <= _ALL_PAIRS:
        return list(combinations(range(count), 2))
    order = np.argsort([one.variance for one in sides], kind="stable")
    return [
        (int(order[place]), int(order[place + step]))
        for step in range(1, _NEIGHBOURS + 1)
        for place in range(count - step)
    ]
