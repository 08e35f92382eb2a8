"""What the judgments show of the errors of the means, beside what the model expects."""

import numpy as np

from steelyard.model.campaign import Floats
from steelyard.model.reml import Solution, System

__all__ = ["OWN", "observed_squares"]

# The model's expectation counts as so many blocks beside those that are observed.
OWN = 10.0


def observed_squares(
    system: System, at: Solution, weights: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return observed and expected squares of the blocks' parts in the errors of the means.

    A mean's error is a sum over blocks of weighted judgments. Their squares, added up, show its variance
    whatever the covariance within blocks is; what the fit has taken from them is given back.

    Parameters
    ----------
    system, at
        The equations, and their solution.
    weights : (n, k) array
        The weight of each judgment in each mean.

    Returns
    -------
    observed, expected : (k, k) arrays
        Sums over blocks of the products of their parts in the means.
    freedom : (k,) array
        The number of blocks that each sum of squares rests on.
    """
    k = weights.shape[1]
    left = system.z - system.u @ at.values
    observed, expected = np.zeros((k, k)), np.zeros((k, k))
    taken, fourth = np.zeros(k), np.zeros(k)
    of_kernels = at.theta[len(system.slices) :]
    reach = system.u @ at.m_inverse
    dense = system.u.toarray()
    for size, index in enumerate(system.effects.blocks.index):
        within = sum(
            v * one.within[size] for v, one in zip(of_kernels, system.effects.kernels, strict=True)
        )
        own = weights[index]
        parts = np.einsum("bm,bmk->bk", left[index], own)
        observed += parts.T @ parts
        through = within @ own
        expected += np.einsum("bmk,bml->kl", own, through)
        square = np.einsum("bmk,bmk->bk", own, through)
        fourth += np.sum(square**2, axis=0)
        lost = np.einsum("bmq,blq->bml", reach[index], dense[index])
        taken += np.einsum("bmk,bml,blk->k", own, lost, own, optimize=True)
    full = np.diag(expected)
    kept = np.clip(1 - taken / np.maximum(full, 1e-300), 0.05, 1.0)
    observed /= np.sqrt(np.outer(kept, kept))
    freedom = full**2 / np.maximum(fourth, 1e-300) * kept
    return observed, expected, freedom
