"""Draws of fixed size with unequal inclusion probabilities that are met exactly."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.errors import InvalidArgumentError

__all__ = ["inclusion_probabilities", "nested_sample"]

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
    ranked = _Ranked.of(size, n)
    pi = np.ones(len(ranked.order))
    if n < len(pi):
        others = ranked.entry > n
        pi[ranked.order[others]] = ranked.rate(np.asarray(n)) * ranked.size[others]
    return np.minimum(pi, 1.0)


def nested_sample(size: ArrayLike, n: int, *, rng: np.random.Generator) -> Integers:
    r"""Draw n outputs with probabilities proportional to size, inside every larger such draw.

    All N outputs are there at first, and one after the other is eliminated, until n are left. Of
    k + 1 outputs that are there, output i goes with probability

    .. math:: r_i = 1 - \pi_i(k) / \pi_i(k+1),

    where :math:`\pi_i(k)` are the `inclusion_probabilities` of a draw of k. Over any k + 1 outputs
    that can be there these sum to 1, so that :math:`\pi_i(n)` is met exactly at every n.

    Parameters
    ----------
    size : (N,) array
        Positive sizes.
    n : int
        Number of outputs to draw.
    rng : numpy.random.Generator
        Source of randomness. It gives 3N numbers whatever n is: from the same state a smaller draw
        is part of a larger one.

    Returns
    -------
    (n,) array of int
        Positions of the drawn outputs, in random order; a smaller draw from the same state has its
        outputs in the same order.

    Raises
    ------
    InvalidArgumentError
        As in `inclusion_probabilities`.

    Notes
    -----
    Two outputs are drawn together with probability :math:`\prod_{k=n}^{N-1}(1 - r_i - r_j)`. With
    equal sizes every output goes with the same probability: simple random sampling. Outputs that
    are not certain in a draw of k + 1 share one :math:`r_i`; so those that are there are kept in
    random order and the last goes, and steps in which no output ceases to be certain are made all
    at once. Beside sorting, work is proportional to N.

    References
    ----------
    Tille (1996), An elimination procedure for unequal probability sampling without replacement,
    Biometrika 83; Tille (2006), Sampling algorithms, chapter 6.

    Examples
    --------
    >>> size = [1, 2, 3, 4, 5, 6]
    >>> small, large = (nested_sample(size, n, rng=np.random.default_rng(1)) for n in (2, 4))
    >>> [one for one in large if one in small] == small.tolist()
    True
    """
    ranked = _Ranked.of(size, n)
    pool_size = len(ranked.order)
    chance, place = rng.random((2, pool_size)).tolist()
    turn = rng.random(pool_size)
    loss = ranked.first_loss().tolist()
    # Ranks that are there and not certain, in random order given which they are.
    kept: list[int] = []
    certain = pool_size
    for k, still in ranked.changes(n):
        # The steps down to k + 1, in which the same outputs are certain.
        del kept[k + 1 - certain :]
        gone = _first_below(chance[k], loss, range(still, certain))
        if gone is None and kept:
            kept.pop()
        elif gone is None:
            # All were certain, so their losses sum to 1, and only rounding leads here.
            gone = certain - 1
        for rank in range(still, certain):
            if rank != gone:
                other = int(place[rank] * (len(kept) + 1))
                kept.append(rank)
                kept[-1], kept[other] = kept[other], rank
        certain = still
    del kept[n - certain :]
    drawn = ranked.order[[*range(certain), *kept]]
    return drawn[np.argsort(turn[drawn])]


def _first_below(chance: float, loss: list[float], ranks: range) -> int | None:
    """Return the first rank up to which losses sum to more than the chance; None if none does."""
    for rank in ranks:
        chance -= loss[rank]
        if chance < 0:
            return rank
    return None


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Sizes from the largest to the smallest, and from which n on each is certain to be drawn.

    Attributes
    ----------
    order : (N,) array of int
        Position of each rank; equal sizes in the order of their positions.
    size : (N,) array
        Size of each rank.
    left : (N,) array
        Sum of the sizes from each rank on.
    entry : (N,) array of int
        The least n with which each rank is certain.
    """

    order: Integers
    size: Floats
    left: Floats
    entry: Integers

    @classmethod
    def of(cls, size: ArrayLike, n: int) -> "_Ranked":
        s = np.asarray(size, dtype=np.float64)
        if not (np.isfinite(s).all() and (s > 0).all()):
            bad = int(np.flatnonzero(~(np.isfinite(s) & (s > 0)))[0])
            raise InvalidArgumentError(
                f"`size` must be positive and finite; got {s[bad]:g} at position {bad}: an output "
                "of size 0 would never be drawn, so give it a small size"
            )
        if not 1 <= n <= len(s):
            raise InvalidArgumentError(
                f"`n` must be from 1 to the size of the pool, {len(s)}; got {n}"
            )
        order = np.argsort(-s, kind="stable")
        ordered = s[order]
        left = np.cumsum(ordered[::-1])[::-1]
        # Rank j is certain if (n - j) s_j >= s_j + what is left after it. Written without s_j on
        # both sides no rounding can give all of n to the largest and nothing to the others.
        ranks = np.arange(len(s) - 1)
        beyond = np.maximum(np.ceil(left[1:] / ordered[:-1]), 1.0)
        entry = np.minimum(ranks + 1 + beyond, len(s)).astype(np.int64)
        return cls(order, ordered, left, np.maximum.accumulate(np.append(entry, len(s))))

    def certain(self, n: Integers) -> Integers:
        """Return how many ranks are certain in a draw of n."""
        return np.asarray(np.searchsorted(self.entry, n, side="right"))

    def rate(self, n: Integers) -> Floats:
        """Return what the sizes of the others are multiplied by in a draw of n, below N."""
        certain = self.certain(n)
        return np.asarray((n - certain) / self.left[certain])

    def first_loss(self) -> Floats:
        """Return with what probability each rank goes in the step that ends its certainty."""
        # Rounding must not make a probability of 0 negative.
        return np.maximum(1 - self.rate(self.entry - 1) * self.size, 0.0)

    def changes(self, n: int) -> Iterator[tuple[int, int]]:
        """Yield each k from N - 1 down to n with fewer certain ranks than k + 1, and how many."""
        levels = np.unique(self.entry - 1)[::-1]
        levels = levels[levels >= n]
        return zip(levels.tolist(), self.certain(levels).tolist(), strict=True)
