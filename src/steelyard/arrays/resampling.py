"""The bootstrap over outputs, for statistics that are functions of sums over outputs."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

__all__ = ["resampled_sums"]

Floats = NDArray[np.float64]

# Draws held at one time: bounds the memory of a block of resamples.
_BLOCK = 2_000_000


def resampled_sums(features: Floats, *, resamples: int, rng: np.random.Generator) -> Floats:
    """Sums of the rows of `features` over samples of n rows drawn with replacement.

    Every statistic of this project that is bootstrapped is a function of such sums, so one
    product of a sparse matrix of draws with `features` replaces `resamples` evaluations of the
    statistic.

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
        draws = rng.integers(0, n, size=size * n, dtype=np.uint16 if n < 2**16 else np.int64)
        ends = np.arange(0, size * n + 1, n, dtype=np.int32)
        chosen = csr_array((np.ones(size * n), draws.astype(np.int32), ends), shape=(size, n))
        sums[start : start + size] = chosen @ features
    return sums
