r"""The variance of the difference of two means, over items of which some were judged for both.

With :math:`n_a, n_b` judged outputs, :math:`n_{ab}` of them of the same items,

.. math:: V = \frac{s_a^2}{n_a} + \frac{s_b^2}{n_b} - 2 s_{ab} \frac{n_{ab}}{n_a n_b},

the paired t test's when all items are shared, Welch's when none is. Where items come in clusters, `pair_clusters` counts
clusters instead; where they were drawn spread, `pair_neighbours` takes differences of neighbours. Derived in docs/methods/comparison.md.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from steelyard.estimate.pair_clusters import PairClusters
from steelyard.estimate.pair_neighbours import PairNeighbours

__all__ = ["PairScores", "SideScores"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# On fewer common items the spread of differences over items is not known well enough.
_FEW_ITEMS = 5
# A variance below this share of its parts is rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SideScores:
    """Scores (n,) of judged outputs of one system, with their items and numbers of judgments.

    `clusters` are those of the items; None where each item stands for itself.
    """

    items: Integers
    scores: Floats
    count: Integers
    clusters: Integers | None = None

    @property
    def units(self) -> Integers:
        """What errs independently: each output's cluster, or else its item."""
        return self.items if self.clusters is None else self.clusters

    @cached_property
    def residual(self) -> Floats:
        """The scores around their mean."""
        return np.asarray(self.scores - self.scores.mean())

    @cached_property
    def variance(self) -> float:
        """Variance of the scores, 0 where it is rounding."""
        found = float(self.residual @ self.residual) / (len(self.scores) - 1)
        return found if found > (1e-14 * float(np.abs(self.scores).max())) ** 2 else 0.0


@dataclass(frozen=True, eq=False)
class PairScores:
    """Two systems' scores, and the positions of the items that were judged for both."""

    a: SideScores
    b: SideScores
    in_a: Integers
    in_b: Integers
    neighbours: PairNeighbours | None = None

    @classmethod
    def of(cls, a: SideScores, b: SideScores, beside: Integers | None = None) -> "PairScores":
        """Find the common items of two sides.

        `beside` are pairs (m, 2) of items that are neighbours in a spread draw of both.
        """
        items, in_a, in_b = np.intersect1d(a.items, b.items, return_indices=True)
        same = len(items) == len(a.items) == len(b.items)
        near = PairNeighbours.of(beside, items) if beside is not None and same else None
        return cls(a, b, in_a, in_b, near)

    @cached_property
    def covariance(self) -> float:
        """Covariance of the two systems' scores of an item, 0 where too few were judged for both."""
        if len(self.in_a) < 2:
            return 0.0
        product = float(self.a.residual[self.in_a] @ self.b.residual[self.in_b])
        most = float(np.sqrt(self.a.variance * self.b.variance))
        return float(np.clip(product / (len(self.in_a) - 1), -most, most))

    @property
    def n_units(self) -> int:
        """Items, or clusters of them, of the side that has fewer."""
        return min(len(np.unique(side.units)) for side in (self.a, self.b))

    @property
    def spread(self) -> float:
        """Variance of the difference of two single scores of one item, as if it stood for itself."""
        own = self.a.variance + self.b.variance - 2 * self.covariance
        return own * self.inflation

    @cached_property
    def inflation(self) -> float:
        """How much clusters or neighbours change the variance of the difference; 1 without them."""
        alone = self._of_items()[0] if self.clusters or self.neighbours else 0.0
        return self.variance()[0] / alone if alone > 0 else 1.0

    @cached_property
    def clusters(self) -> PairClusters | None:
        """The clusters of both sides, if there are any."""
        if self.a.clusters is None or self.b.clusters is None:
            return None
        joint = self.a.clusters[self.in_a]
        return PairClusters.of(self.a.clusters, self.b.clusters, joint)

    def variance(self) -> tuple[float, float]:
        """Return the variance of the difference of means, and the variance of that estimate."""
        return self._variance

    @cached_property
    def _variance(self) -> tuple[float, float]:
        alone, doubt = self._of_items()
        if self.neighbours is not None and alone > 0:
            value = self.neighbours.squares(self.a.residual[self.in_a] - self.b.residual[self.in_b])
            return value, 2 * value**2 / self.neighbours.freedom
        if self.clusters is None or alone == 0:
            return alone, doubt
        factor, freedom = self._cluster_factor(alone)
        value = factor * self.clusters.squares(self.a.residual, self.b.residual)
        return value, 2 * value**2 / freedom

    def _cluster_factor(self, alone: float) -> tuple[float, float]:
        """Return what makes the squares unbiased if items are independent, and their freedom."""
        assert self.clusters is not None
        model = (self.a.variance, self.b.variance, self.covariance)
        expected, freedom = self.clusters.expected(*model)
        return alone / expected, freedom

    def _of_items(self) -> tuple[float, float]:
        n, m, c = len(self.a.scores), len(self.b.scores), len(self.in_a)
        A, B, C = self.a.variance / n, self.b.variance / m, self.covariance * c / (n * m)
        value = A + B - 2 * C
        doubt = 2 * A**2 / (n - 1) + 2 * B**2 / (m - 1)
        if c >= 2:
            # Moments of normal sums of squares and products; the paired t test's when c = n = m.
            product = C**2 + A * B * (c / n) * (c / m)
            doubt += 4 * product / (c - 1) + 4 * C**2 * (c - 1) / ((n - 1) * (m - 1))
            doubt -= 8 * C * (A / (n - 1) + B / (m - 1))
        if value <= _ROUNDING * (A + B):
            return 0.0, 0.0
        return value, max(doubt, 0.0)

    def between_items(self, noise: float) -> float:
        """Return the variance over items of the true difference, 0 where it is not known.

        Parameters
        ----------
        noise : float
            Variance of judgments of one output.
        """
        if len(self.in_a) < _FEW_ITEMS:
            return 0.0
        return max(self.spread - noise * self.heard, 0.0)

    @property
    def heard(self) -> float:
        """How much of the variance of judgments is in the difference of two scores of one item."""
        return float(np.mean(1 / self.a.count) + np.mean(1 / self.b.count))

    def leniency(self, a: csr_array, b: csr_array) -> float:
        """Return what leniency of variance 1 adds to `variance` on average.

        Parameters
        ----------
        a, b : (n, raters) sparse array
            Each rater's share in each score. A rater who judged both outputs of an item cancels,
            one who judged everything shifts all scores alike.
        """
        if self.neighbours is not None:
            return self.neighbours.leniency(csr_array(a[self.in_a] - b[self.in_b]))
        if self.clusters is not None:
            alone = self._of_items()[0]
            return self._cluster_factor(alone)[0] * self.clusters.leniency(a, b) if alone else 0.0
        n, m, c = len(self.a.scores), len(self.b.scores), len(self.in_a)
        mean_a, mean_b = a.sum(axis=0) / n, b.sum(axis=0) / m
        value = (float((a * a).sum()) - n * mean_a @ mean_a) / (n * (n - 1))
        value += (float((b * b).sum()) - m * mean_b @ mean_b) / (m * (m - 1))
        if c >= 2:
            both_a, both_b = a[self.in_a], b[self.in_b]
            cross = float((both_a * both_b).sum()) + c * mean_a @ mean_b
            cross -= both_a.sum(axis=0) @ mean_b + mean_a @ both_b.sum(axis=0)
            value -= 2 * cross / (c - 1) * c / (n * m)
        return max(float(value), 0.0)
