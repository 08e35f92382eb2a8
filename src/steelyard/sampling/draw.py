"""A sample that was drawn, with the inclusion probabilities it was drawn with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.version import __version__

__all__ = ["Design", "Draw", "listed"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Design = Literal["simple", "stratified", "proportional-to-size", "clusters", "paired"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Draw:
    """Outputs drawn from a pool, in random order, and how they were drawn.

    Attributes
    ----------
    positions : (n,) array of int
        Positions in the pool, from 0, in the order in which to judge: see `draw_sample`.
    probability : (n,) array
        Inclusion probability of each; in a paired draw, among the items that differ.
    strata : (n,) array or None
        Stratum of each, for a stratified draw.
    strata_sizes : mapping of stratum to int
        Number of outputs of each stratum in the pool; empty unless stratified.
    design : str
        "simple", "stratified", "proportional-to-size", "clusters" or "paired".
    pool_size : int
        Number of outputs drawn from; in a paired draw, of all items.
    differing : int or None
        In a paired draw, the number of items on which the two systems differ.
    seed : tuple of int
        Seed of the draw.
    extended : int
        How many of the first positions come from an earlier draw.
    systems : int
        Number of systems whose outputs are drawn together, item by item.
    """

    positions: Integers
    probability: Floats
    strata: NDArray[Any] | None
    strata_sizes: Mapping[Any, int]
    design: Design
    pool_size: int
    differing: int | None
    seed: tuple[int, ...]
    extended: int
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
    def signature(self) -> str:
        """One line that tells which draw it was."""
        parts = [
            self.design,
            f"n={self.n}",
            f"N={self.pool_size}",
            *([f"systems={self.systems}"] if self.systems > 1 else []),
            *([f"strata={len(self.strata_sizes)}"] if self.strata_sizes else []),
            *([f"differing={self.differing}"] if self.differing is not None else []),
            *([f"extended={self.extended}"] if self.extended else []),
            f"seed={listed(self.seed)}",
            f"steelyard={__version__}",
        ]
        return "|".join(parts)


def listed(seed: tuple[int, ...]) -> str:
    """Return the numbers of a seed, as a signature holds them."""
    return ",".join(map(str, seed))
