"""Draws of fixed size with unequal inclusion probabilities that are met exactly."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.errors import InvalidArgumentError

__all__ = ["inclusion_probabilities", "pivotal"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def inclusion_probabilities(size: ArrayLike, n: int) -> Floats:
    r"""Return probabilities proportional to size, at most 1, that sum to n.

    :math:`\pi_i = n s_i / \sum s`; where that is 1 or more the output is certain, and what is left
    of n goes to the others in the same way, until none exceeds 1.

    Parameters
    ----------
    size : (N,) array
        Positive sizes.
    n : int
        Number of outputs to draw.

    Returns
    -------
    (N,) array

    Raises
    ------
    InvalidArgumentError
        If a size is not positive: that output could never be judged, and the mean of all outputs
        not be estimated.

    Examples
    --------
    >>> inclusion_probabilities([1, 1, 2, 8], 2)
    array([0.25, 0.25, 0.5 , 1.  ])
    """
    s = np.asarray(size, dtype=np.float64)
    if not (np.isfinite(s).all() and (s > 0).all()):
        bad = int(np.flatnonzero(~(np.isfinite(s) & (s > 0)))[0])
        raise InvalidArgumentError(
            f"`size` must be positive and finite; got {s[bad]:g} at position {bad}: an output "
            "of size 0 would never be drawn, so give it a small size"
        )
    if not 1 <= n <= len(s):
        raise InvalidArgumentError(f"`n` must be from 1 to the size of the pool, {len(s)}; got {n}")
    # In order of size, output k is certain if its share of what the larger ones left is a whole.
    order = np.argsort(-s, kind="stable")
    left = np.cumsum(s[order][::-1])[::-1]
    certain = np.zeros(len(s), dtype=bool)
    taken = 0
    while taken < n and (n - taken) * s[order[taken]] >= left[taken]:
        certain[order[taken]] = True
        taken += 1
    pi = np.ones(len(s))
    if taken < len(s):
        pi[~certain] = (n - taken) * s[~certain] / s[~certain].sum()
    return np.minimum(pi, 1.0)


def pivotal(probability: ArrayLike, *, rng: np.random.Generator) -> Integers:
    r"""Draw a sample of fixed size in which each output has exactly its probability.

    Outputs meet in random pairs. A pair with probabilities a and b whose sum is below 1 fights for
    it: one takes a + b, with probability a/(a+b) the first, and the other 0. If the sum is 1 or
    more, one takes 1, with probability (1-b)/(2-a-b) the first, and the other a + b - 1. Either way
    the expectation of each is unchanged, and one of the two is decided.

    Parameters
    ----------
    probability : (N,) array
        Inclusion probabilities above 0 and up to 1 with a whole sum n.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    (n,) array of int
        Positions of the drawn outputs, in ascending order.

    Raises
    ------
    InvalidArgumentError
        If probabilities do not sum to a whole number.

    Notes
    -----
    Since pairs are random, equal probabilities give simple random sampling exactly, and unequal
    ones a design of high entropy, for which the variance of `weighted_mean` holds. Each round
    decides half of the outputs, so that all takes time proportional to N.

    References
    ----------
    Deville and Tille (1998), Unequal probability sampling without replacement through a splitting
    method, Biometrika 85; Grafstrom (2010), Entropy of unequal probability sampling designs.

    Examples
    --------
    >>> pivotal([1, 0.5, 0.5, 1], rng=np.random.default_rng(0)).size
    3
    """
    pi = np.array(probability, dtype=np.float64)
    total = float(pi.sum())
    if abs(total - round(total)) > 1e-6 or not ((pi > 0) & (pi <= 1)).all():
        raise InvalidArgumentError(
            f"`probability` must lie above 0 and up to 1 with a whole sum; got sum {total:g}"
        )
    undecided = np.flatnonzero(pi < 1)
    while len(undecided) > 1:
        undecided = rng.permutation(undecided)
        half = len(undecided) // 2
        first, second = undecided[:half], undecided[half : 2 * half]
        a, b = pi[first], pi[second]
        both = a + b
        small = both < 1
        chance = np.where(small, a / both, (1 - b) / np.maximum(2 - both, 1e-300))
        wins = rng.random(half) < chance
        winner, loser = np.where(small, both, 1.0), np.where(small, 0.0, both - 1)
        pi[first], pi[second] = np.where(wins, winner, loser), np.where(wins, loser, winner)
        # Rounding leaves crumbs of about 1e-16 beside 0 and 1.
        undecided = undecided[(pi[undecided] > 1e-12) & (pi[undecided] < 1 - 1e-12)]
    return np.flatnonzero(np.round(pi) == 1)
