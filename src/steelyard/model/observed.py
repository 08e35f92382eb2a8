"""What the judgments show of the errors of the means, beside what the model expects."""

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma

from steelyard.model.campaign import Floats
from steelyard.model.reml import Solution, System
from steelyard.model.spread import lent_by

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

        A square varies 1 + kurtosis / 2 times as much as a normal one's.
        """
        return self.freedom / (1 + self.kurtosis / 2)

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


def observed(system: System, at: Solution, weights: Floats, kurtosis: float = 0.0) -> Observed:
    """Return observed and expected squares of the blocks' parts in the errors of the means.

    A mean's error is a sum over blocks of weighted judgments. Their squares, added up, show its variance
    whatever the covariance within blocks is; what the fit has taken from them is given back.

    Parameters
    ----------
    system, at
        The equations, and their solution.
    weights : (n, k) array
        The weight of each judgment in each mean.
    kurtosis : float
        Excess kurtosis of the judgments.
    """
    k = weights.shape[1]
    left = system.z - system.u @ at.values
    squares, expected, fourth = (np.zeros((k, k)) for _ in range(3))
    taken = np.zeros(k)
    of_kernels = at.theta[len(system.slices) :]
    for size, every in enumerate(system.effects.blocks.index):
        step = max(_AT_ONCE // every.shape[1], 1)
        for first in range(0, len(every), step):
            chosen = slice(first, first + step)
            index = every[chosen]
            within = sum(
                v * one.within[size][chosen]
                for v, one in zip(of_kernels, system.effects.kernels, strict=True)
            )
            own = weights[index]
            parts = np.einsum("bm,bmk->bk", left[index], own)
            squares += parts.T @ parts
            through = within @ own
            expected += np.einsum("bmk,bml->kl", own, through)
            square = np.einsum("bmk,bmk->bk", own, through)
            fourth += square.T @ square if k <= _MOST_PAIRED else np.diag(np.sum(square**2, axis=0))
            rows = system.u[index.ravel()]
            shape = (*index.shape, rows.shape[1])
            reach = np.asarray(rows @ at.m_inverse).reshape(shape)
            lost = reach @ rows.toarray().reshape(shape).swapaxes(1, 2)
            taken += np.einsum("bmk,bml,blk->k", own, lost, own, optimize=True)
    full = np.diag(expected)
    kept = np.clip(1 - taken / np.maximum(full, 1e-300), 0.05, 1.0)
    both = np.sqrt(np.outer(kept, kept))
    freedom = full**2 / np.maximum(np.diag(fourth), 1e-300) * kept
    return Observed(squares / both, expected, freedom, fourth / both, kurtosis)
