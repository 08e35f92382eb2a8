"""Covariances that are zero between blocks of judgments, such as those of different items."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from steelyard.model.campaign import Floats, Ints

__all__ = ["Blocks"]


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
    _rows: Ints
    _columns: Ints
    _order: Ints
    _starts: Ints

    @classmethod
    def of(cls, label: Ints) -> "Blocks":
        """Return the blocks of judgments with the same label."""
        n = len(label)
        order = np.argsort(label, kind="stable")
        sizes = np.unique(label, return_counts=True)[1]
        starts = np.cumsum(sizes) - sizes
        index = tuple(
            order[starts[sizes == m][:, np.newaxis] + np.arange(m)] for m in np.unique(sizes)
        )
        rows = np.concatenate([np.repeat(one, one.shape[1], axis=1).ravel() for one in index])
        columns = np.concatenate([np.tile(one, (1, one.shape[1])).ravel() for one in index])
        into = np.lexsort((columns, rows))
        ends = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
        return cls(n, index, rows, columns, into, ends)

    @property
    def largest(self) -> int:
        """Judgments in the largest block."""
        return max(int(one.shape[1]) for one in self.index)

    @cached_property
    def number(self) -> Ints:
        """The number of each judgment's block, (n,)."""
        found, first = np.empty(self.n, dtype=np.int64), 0
        for one in self.index:
            found[one] = first + np.arange(len(one))[:, np.newaxis]
            first += len(one)
        return found

    def sums(self, values: Floats) -> Floats:
        """Return the sums over blocks of values of judgments, (n, q)."""
        found = np.zeros((int(self.number.max()) + 1, values.shape[1]))
        np.add.at(found, self.number, values)
        return found

    def kernel(self, value: Callable[[Ints, Ints], Floats]) -> list[Floats]:
        """Return a covariance within blocks from a function of pairs of judgments."""
        return [
            np.asarray(value(one[:, :, np.newaxis], one[:, np.newaxis, :]), dtype=np.float64)
            for one in self.index
        ]

    def matrix(self, kernel: Sequence[Floats]) -> csr_array:
        """Return a kernel as a sparse (n, n) matrix."""
        data = np.concatenate([one.ravel() for one in kernel])[self._order]
        return csr_array((data, self._columns[self._order], self._starts), shape=(self.n, self.n))

    def inverse(self, kernel: Sequence[Floats]) -> tuple[list[Floats], float]:
        """Return the inverse of a positive definite kernel, and the logarithm of its determinant."""
        found, log = [], 0.0
        for one in kernel:
            if one.shape[1] == 1:
                found.append(1 / one)
                log += float(np.log(one).sum())
            else:
                found.append(np.asarray(np.linalg.inv(one), dtype=np.float64))
                log += float(np.linalg.slogdet(one)[1].sum())
        return found, log
