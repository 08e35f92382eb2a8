"""What the judgments show of the errors of the means, beside what the model expects."""

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma

from steelyard.model.campaign import Floats
from steelyard.model.forms import Weights
from steelyard.model.reml import Solution, System
from steelyard.model.spread import lent_by
from steelyard.model.within import product

__all__ = ["Observed", "observed"]

# Without other systems to compare with, the model's expectation counts as so many blocks; that is worth as much
# as the squares of so many systems.
_BLOCKS, _SYSTEMS = 10.0, 2.0
# Differences are looked at for so many systems at most: means of more show enough.
_MOST_PAIRED = 200
# So many judgments are looked at together: their weights on all columns are in memory.
_AT_ONCE = 5_000


@dataclass(frozen=True, eq=False)
class Observed:
    """Observed and expected squares of the blocks' parts in the errors of the means.

    Attributes
    ----------
    squares, expected : (k, k) arrays
        Sums over blocks of the products of their parts in the means.
    freedom : (k,) array
        The number of blocks that each sum of squares rests on.
    shared : (k, k) array
        What the freedom of the sums of two means follows from: ``expected**2 / freedom`` on the diagonal.
    kurtosis : float
        Excess kurtosis of the judgments.
    """

    squares: Floats
    expected: Floats
    freedom: Floats
    shared: Floats
    kurtosis: float = 0.0

    @property
    def worth(self) -> Floats:
        """How many blocks of normal judgments each sum of squares says as much as, (k,).

        A square varies 1 + kurtosis / 2 times as much as a normal one's; a sum of 0 says nothing.
        """
        shown = np.diag(self.squares) > 0
        return np.where(shown, self.freedom / (1 + self.kurtosis / 2), 0.0)

    def expectation_worth(self) -> float:
        """Return how many blocks the model's expectation is worth beside those observed.

        As with spreads (Smyth 2004): the less observed squares depart from what is expected, beyond chance, the
        more the expectation is worth. Squares of means and of differences are looked at; the larger
        departure counts.
        """
        own, wanted = np.diag(self.squares), np.diag(self.expected)
        departure = _departure(own / np.maximum(wanted, 1e-300), self.worth, len(own))
        if len(own) > _MOST_PAIRED:
            return lent_by(departure)
        a, b = np.triu_indices(len(own), 1)
        apart = wanted[a] + wanted[b] - 2 * self.expected[a, b]
        known = apart > 1e-9 * (wanted[a] + wanted[b])
        if known.any():
            a, b, apart = a[known], b[known], apart[known]
            seen = own[a] + own[b] - 2 * self.squares[a, b]
            of = np.diag(self.shared)
            spread = np.maximum(of[a] + of[b] + 2 * self.shared[a, b], 1e-300)
            freedom = (wanted[a] + wanted[b]) ** 2 / spread / (1 + self.kurtosis / 2)
            # all pairs of k systems say as much as k - 1 of them
            departure = max(departure, _departure(seen / apart, freedom, len(own)))
        return lent_by(departure)


def _departure(ratio: Floats, freedom: Floats, systems: int) -> float:
    """Return by how much the logarithms of ratios vary, beyond what chance alone would show."""
    expected = float(polygamma(1, _BLOCKS / 2))
    there = (ratio > 1e-12) & (freedom > 0.5)
    if systems < 2 or there.sum() < 1:
        return expected
    half = freedom[there] / 2
    log = np.log(ratio[there]) - digamma(half) + np.log(half)
    excess = np.var(log) * there.sum() / max(there.sum() - 1, 1) - np.mean(polygamma(1, half))
    seen = (systems - 1) * (there.sum() > 1)
    return float((seen * excess + _SYSTEMS * expected) / (seen + _SYSTEMS))


def observed(
    system: System, at: Solution, weights: Weights, expected: Floats, kurtosis: float = 0.0
) -> Observed:
    """Return observed and expected squares of the blocks' parts in the errors of the means.

    A mean's error is a sum over blocks of weighted judgments. Their squares, added up, show its variance
    whatever the covariance within blocks is; what the fit has taken from them is given back.

    Parameters
    ----------
    system, at
        The equations, and their solution.
    weights : Weights
        The weight of each judgment in each mean.
    expected : (k, k) array
        What the model expects of the squares.
    kurtosis : float
        Excess kurtosis of the judgments.
    """
    k = weights.shape[1]
    blocks = system.effects.blocks
    left = system.z - system.u @ at.values
    squares = weights.times(left).through(blocks.groups.members).gram()
    fourth, taken = np.zeros((k, k)), np.zeros(k)
    of_kernels = at.theta[len(system.slices) :]
    for every in blocks.index:
        step = max(_AT_ONCE // every.shape[1], 1)
        for first in range(0, len(every), step):
            index = every[first : first + step]
            pairs = index[:, :, np.newaxis], index[:, np.newaxis, :]
            within = sum(
                v * one.covariance(*pairs)
                for v, one in zip(of_kernels, system.effects.kernels, strict=True)
            )
            own = weights.dense(index.ravel()).reshape(*index.shape, k)
            square = np.einsum("bmk,bmk->bk", own, within @ own)
            fourth += square.T @ square if k <= _MOST_PAIRED else np.diag(np.sum(square**2, axis=0))
            rows = system.u[index.ravel()]
            reach = product(rows, at.m_inverse).reshape(*index.shape, -1)
            lost = reach @ rows.toarray().reshape(reach.shape).swapaxes(1, 2)
            taken += np.sum(own * (lost @ own), axis=(0, 1))
    full = np.diag(expected)
    kept = np.clip(1 - taken / np.maximum(full, 1e-300), 0.05, 1.0)
    both = np.sqrt(np.outer(kept, kept))
    freedom = full**2 / np.maximum(np.diag(fourth), 1e-300) * kept
    return Observed(squares / both, expected, freedom, fourth / both, kurtosis)
