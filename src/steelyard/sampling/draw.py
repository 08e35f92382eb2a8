"""Draws of outputs to judge, with the inclusion probabilities they were drawn with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import InvalidArgumentError
from steelyard.model.campaign import Bools, Floats, Ints
from steelyard.sampling.strata import allocation
from steelyard.version import __version__

__all__ = ["Design", "Draw", "by_size", "by_strata", "inclusion_probabilities", "simple"]

Design = Literal["simple", "stratified", "proportional-to-size", "clusters", "paired"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Draw:
    """Outputs drawn from a pool, in random order, and how they were drawn.

    Attributes
    ----------
    positions : (n,) array of int
        Positions in the pool, from 0, in the order in which to judge.
    probability : (n,) array
        Inclusion probability of each; in a paired draw, among the items that differ.
    pool_size : int
        Number of outputs drawn from; in a paired draw, of all items.
    design : str
        How they were drawn.
    strata : (n,) array or None
        Stratum of each, for a stratified draw.
    strata_sizes : mapping of stratum to int
        Number of outputs of each stratum in the pool; empty unless stratified.
    differing : int or None
        In a paired draw, the number of items on which the two systems differ.
    extended : int
        How many of the first positions come from an earlier draw.
    seed : tuple of int
        Seed of the draw.
    systems : int
        Number of systems whose outputs are drawn together, item by item.
    """

    positions: Ints
    probability: Floats
    pool_size: int
    design: Design = "simple"
    strata: NDArray[Any] | None = None
    strata_sizes: Mapping[Any, int] = field(default_factory=dict)
    differing: int | None = None
    extended: int = 0
    seed: tuple[int, ...] = ()
    systems: int = 1

    @property
    def n(self) -> int:
        """Number of outputs drawn."""
        return len(self.positions)

    @property
    def share(self) -> float:
        """Share of the pool that was drawn from: what a mean difference is scaled by."""
        return 1.0 if self.differing is None else self.differing / self.pool_size

    @property
    def by_stratum(self) -> list[tuple[str, int, int]]:
        """Each stratum with the number of its outputs that were drawn, and of all."""
        if self.strata is None:
            return []
        labels, counts = np.unique(self.strata, return_counts=True)
        return [
            (str(label), int(count), int(self.strata_sizes[label]))
            for label, count in zip(labels.tolist(), counts, strict=True)
        ]

    @property
    def signature(self) -> str:
        """One line that identifies the draw."""
        parts = [
            self.design,
            f"n={self.n}",
            f"N={self.pool_size}",
            *([f"systems={self.systems}"] if self.systems > 1 else []),
            *([f"strata={len(self.strata_sizes)}"] if self.strata_sizes else []),
            *([f"differing={self.differing}"] if self.differing is not None else []),
            *([f"extended={self.extended}"] if self.extended else []),
            f"seed={','.join(map(str, self.seed))}",
            f"steelyard={__version__}",
        ]
        return "|".join(parts)


def simple(
    pool_size: int,
    n: int,
    *,
    rng: np.random.Generator,
    earlier: Sequence[int] = (),
    differs: Bools | None = None,
) -> Draw:
    """Draw n outputs with one chance for all: of a whole pool, or of the items on which two systems differ.

    A simple sample of what an earlier one left makes both together a simple sample.

    Parameters
    ----------
    pool_size, n : int
        Number of outputs in the pool, and of those to draw, the earlier ones included.
    rng : numpy.random.Generator
        Source of randomness.
    earlier : sequence of int
        Positions of an earlier draw, with which this one begins.
    differs : (N,) array of bool, optional
        On which items two systems differ: a paired draw.

    Raises
    ------
    InvalidArgumentError
        If n is more than there is, or an earlier output cannot be part of such a draw.
    """
    eligible = np.arange(pool_size) if differs is None else np.flatnonzero(differs)
    if n > len(eligible):
        raise InvalidArgumentError(
            f"`n` must not exceed the {len(eligible)} items on which the systems differ; got {n}"
        )
    rest = np.setdiff1d(eligible, earlier)
    if len(rest) + len(earlier) != len(eligible):
        raise InvalidArgumentError("`extend` must be a draw from the same pool")
    new = rng.choice(rest, n - len(earlier), replace=False, shuffle=True)
    return Draw(
        positions=np.concatenate([np.asarray(earlier, dtype=np.int64), new]),
        probability=np.full(n, n / len(eligible)),
        pool_size=pool_size,
        design="simple" if differs is None else "paired",
        differing=None if differs is None else len(eligible),
        extended=len(earlier),
    )


def by_strata(
    labels: NDArray[Any], n: int, *, rng: np.random.Generator, earlier: Sequence[int] = ()
) -> Draw:
    """Draw n outputs, simply at random within strata; see `allocation` for how many of each.

    Parameters
    ----------
    labels : (N,) array
        Stratum of every output.
    n, rng, earlier
        As in `simple`.
    """
    names, code, counts = np.unique(labels, return_inverse=True, return_counts=True)
    before = np.asarray(earlier, dtype=np.int64)
    kept = np.bincount(code[before], minlength=len(names))
    wanted = allocation(n, counts, at_least=kept)
    new = [
        rng.choice(np.setdiff1d(np.flatnonzero(code == one), before), more, replace=False)
        for one, more in enumerate(wanted - kept)
    ]
    positions = np.concatenate([before, rng.permutation(np.concatenate(new))])
    return Draw(
        positions=positions,
        probability=(wanted / counts)[code[positions]],
        pool_size=len(labels),
        design="stratified",
        strata=labels[positions],
        strata_sizes=dict(zip(names.tolist(), counts.tolist(), strict=True)),
        extended=len(before),
    )


def by_size(size: Floats, n: int, *, rng: np.random.Generator) -> Draw:
    """Draw n outputs with probabilities in proportion to their sizes, which are met exactly.

    All outputs stand in random order on a line, each as long as its probability, and every n-th
    of the line's length after a random start takes one (Hartley and Rao 1962).

    Parameters
    ----------
    size : (N,) array
        Positive sizes.
    n, rng
        As in `simple`.
    """
    chance = inclusion_probabilities(size, n)
    order = rng.permutation(len(chance))
    line = np.cumsum(chance[order])
    # the line is n long, but for rounding
    at = np.minimum(rng.random() + np.arange(n), np.nextafter(line[-1], 0))
    taken = rng.permutation(order[np.searchsorted(line, at, side="right")])
    return Draw(
        positions=taken,
        probability=chance[taken],
        pool_size=len(chance),
        design="proportional-to-size",
    )


def inclusion_probabilities(size: Floats, n: int) -> Floats:
    r"""Return probabilities proportional to size, at most 1, that sum to n.

    :math:`\pi_i = n s_i / \sum s`; where that is 1 or more the output is certain, and what is left
    of n goes to the others in the same way, until none exceeds 1.

    Raises
    ------
    InvalidArgumentError
        If a size is not positive.

    Examples
    --------
    >>> inclusion_probabilities(np.array([1.0, 1.0, 2.0, 8.0]), 2)
    array([0.25, 0.25, 0.5 , 1.  ])
    """
    bad = np.flatnonzero(~(np.isfinite(size) & (size > 0)))
    if len(bad):
        raise InvalidArgumentError(
            f"`size` must be positive and finite; got {size[bad[0]]:g} at position {bad[0]}: an output "
            "of size 0 would never be drawn, so give it a small size"
        )
    certain = np.zeros(len(size), dtype=np.bool_)
    while True:
        left = size[~certain].sum()
        chance = np.where(certain, 1.0, (n - certain.sum()) * size / max(left, 1e-300))
        over = (chance >= 1) & ~certain
        if not over.any():
            return np.asarray(chance)
        certain |= over
