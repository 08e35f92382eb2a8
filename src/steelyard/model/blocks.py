"""Covariances that are zero between blocks of judgments, such as those of different items."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from steelyard.model.campaign import Floats, Ints

__all__ = ["Blocks", "Groups"]


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of judgments that share a value: as a covariance, 1 within a group and 0 between groups."""

    label: Ints

    @cached_property
    def members(self) -> csr_array:
        """Which judgments each group has, (g, n)."""
        n = len(self.label)
        order = np.argsort(self.label, kind="stable")
        ends = np.concatenate([[0], np.cumsum(np.bincount(self.label))])
        return csr_array((np.ones(n), order, ends), shape=(len(ends) - 1, n))

    def holds(self, finer: "Groups") -> bool:
        """Whether each group of the other kind lies in one group of these."""
        _, first, number = np.unique(finer.label, return_index=True, return_inverse=True)
        return bool(np.array_equal(self.label[first][number], self.label))

    def weighted(self, weights: Floats) -> csr_array:
        """Return the same with a weight for each judgment."""
        known = self.members
        return csr_array((weights[known.indices], known.indices, known.indptr), shape=known.shape)

    def sums(self, values: Floats) -> Floats:
        """Return the sums over groups of values of judgments, (n, q)."""
        return np.asarray(self.members @ values)

    def __matmul__(self, values: Floats) -> Floats:
        return self.sums(values)[self.label]

    def diagonal(self) -> Floats:
        """The variance of each judgment."""
        return np.ones(len(self.label))


@dataclass(frozen=True, eq=False)
class Blocks:
    """Judgments put into blocks; blocks of one size are kept together, so that numpy works on all at once.

    Attributes
    ----------
    index : sequence of (B, m) arrays
        For each size m that occurs, the judgments of the B blocks of this size.
    """

    n: int
    index: tuple[Ints, ...]

    @classmethod
    def of(cls, label: Ints) -> "Blocks":
        """Return the blocks of judgments with the same label."""
        order = np.argsort(label, kind="stable")
        sizes = np.bincount(label)
        sizes = sizes[sizes > 0]
        starts = np.cumsum(sizes) - sizes
        index = tuple(
            order[starts[sizes == m][:, np.newaxis] + np.arange(m)] for m in np.unique(sizes)
        )
        return cls(len(label), index)

    @cached_property
    def groups(self) -> Groups:
        """The number of each judgment's block."""
        number, first = np.empty(self.n, dtype=np.int64), 0
        for one in self.index:
            number[one] = first + np.arange(len(one))[:, np.newaxis]
            first += len(one)
        return Groups(number)

    @property
    def number(self) -> Ints:
        """The number of each judgment's block, (n,)."""
        return self.groups.label

    def sums(self, values: Floats) -> Floats:
        """Return the sums over blocks of values of judgments, (n, q)."""
        return self.groups.sums(values)

    def kernel(self, value: Callable[[Ints, Ints], Floats]) -> list[Floats]:
        """Return a covariance within blocks from a function of pairs of judgments."""
        return [
            np.asarray(value(one[:, :, np.newaxis], one[:, np.newaxis, :]), dtype=np.float64)
            for one in self.index
        ]

    @cached_property
    def _cells(self) -> tuple[Ints, Ints, Ints]:
        """The order of the cells of all blocks by rows, their columns, and where each row starts."""
        rows = np.concatenate([np.repeat(one, one.shape[1], axis=1).ravel() for one in self.index])
        columns = np.concatenate([np.tile(one, (1, one.shape[1])).ravel() for one in self.index])
        order = np.lexsort((columns, rows))
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=self.n))])
        return order, columns[order], starts

    def matrix(self, kernel: Sequence[Floats]) -> csr_array:
        """Return a kernel as a sparse (n, n) matrix."""
        order, columns, starts = self._cells
        data = np.concatenate([one.ravel() for one in kernel])[order]
        return csr_array((data, columns, starts), shape=(self.n, self.n))
