"""The bootstrap over outputs, for statistics that are functions of sums over outputs."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["resampled_sums"]

Floats = NDArray[np.float64]

# Draws held at one time: bounds the memory of a block of resamples.
_BLOCK = 2_000_000


def resampled_sums(features: Floats, *, resamples: int, rng: np.random.Generator) -> Floats:
    """Sums of the rows of `features` over samples of n rows drawn with replacement.

    Every statistic of this project that is bootstrapped is a function of such sums, so one
    product of a count matrix with `features` replaces `resamples` evaluations of the statistic.

    Parameters
    ----------
    features : (n, k) array
        One row an output.
    resamples : int
        Number of bootstrap samples B.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    (B, k) array
    """
    n, k = features.shape
    sums = np.empty((resamples, k))
    block = max(1, _BLOCK // n)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        draws = rng.integers(0, n, size=(size, n), dtype=np.int64)
        draws += np.arange(size)[:, np.newaxis] * n
        counts = np.bincount(draws.ravel(), minlength=size * n).reshape(size, n)
        sums[start : start + size] = counts.astype(np.float64) @ features
    return sums
