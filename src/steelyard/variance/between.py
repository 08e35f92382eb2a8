r"""What is between the levels of an absorbed factor, with fixed effects of groups taken off.

With weights w of the absorbed levels and W their sum over a group, the operator

.. math:: D = \operatorname{diag}(w) - w w' / W \quad \text{within each group}

takes off the weighted mean of every group; without groups it is :math:`\operatorname{diag}(w)`.
Only :math:`\mu' D^k \mu` for a table :math:`\mu` and the traces of :math:`D^k` are needed. They are sums
over groups, so that thousands of groups cost no more than one. Derived in docs/methods/variance.md.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Between", "Groups", "Sums", "crossed_table", "scaled", "weighted_product"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# A dense or a sparse matrix: both know products, transposition and scaling.
Sums = Any

# Cells of a table that is kept dense: below this, sparse matrices cost more than they save.
_DENSE = 250_000


def crossed_table(absorbed: Integers, kept: Integers) -> Sums:
    """Return the number of rows of each pair of levels, sparse when there are many pairs."""
    shape = (int(absorbed.max()) + 1, int(kept.max()) + 1)
    if shape[0] * shape[1] <= _DENSE:
        flat = np.bincount(absorbed * shape[1] + kept, minlength=shape[0] * shape[1])
        return flat.reshape(shape).astype(np.float64)
    from scipy.sparse import csr_array  # noqa: PLC0415 - keeps the import of the package light

    return csr_array((np.ones(len(absorbed)), (absorbed, kept)), shape=shape)


def scaled(table: Sums, weights: Floats) -> Sums:
    """Return diag(weights) table."""
    found = table * weights[:, np.newaxis]
    return found if isinstance(found, np.ndarray) else found.tocsr()


def weighted_product(left: Sums, weights: Floats, right: Sums | None = None) -> Floats:
    """Return left' diag(weights) right as a dense array; `right` is `left` when not given."""
    right = left if right is None else right
    product = left.T @ scaled(right, weights)
    return np.asarray(product if isinstance(product, np.ndarray) else product.toarray())


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of absorbed levels.

    Attributes
    ----------
    of_level : (n_a,) array of int
        Group of each level.
    sums : (S, n_a) sparse array
        Sums levels over groups.
    """

    of_level: Integers
    sums: Sums

    @classmethod
    def of(cls, of_level: Integers) -> Self:
        """Return the groups with these numbers, from 0 without gaps."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - as above

        levels = np.arange(len(of_level))
        return cls(of_level, csr_array((np.ones(len(levels)), (of_level, levels))))

    @property
    def number(self) -> int:
        """How many groups there are."""
        return int(self.sums.shape[0])


@dataclass(frozen=True, eq=False)
class Between:
    """The operator D and a table that it stands between.

    Attributes
    ----------
    weight : (n_a,) array
        w, one weight a level.
    table : (n_a, n_k) array, dense or sparse
        The table.
    groups : Groups or None
        Groups whose means are taken off.
    """

    weight: Floats
    table: Sums
    groups: Groups | None

    @property
    def log_information(self) -> float:
        """Log determinant of the information on the group effects."""
        return 0.0 if self.groups is None else float(np.log(self._total(1)).sum())

    def times(self, values: Floats) -> Floats:
        """Return D times an (n_a, c) array."""
        weighted = self.weight[:, np.newaxis] * values
        if self.groups is None:
            return weighted
        mean = (self.groups.sums @ weighted) / self._total(1)[:, np.newaxis]
        return np.asarray(weighted - self.weight[:, np.newaxis] * mean[self.groups.of_level])

    def trace(self, power: int) -> float:
        """Return the trace of D to the power 1 or 2."""
        plain = float((self.weight**power).sum())
        if self.groups is None:
            return plain
        one, two, three = (self._total(k) for k in (1, 2, 3))
        if power == 1:
            return plain - float((two / one).sum())
        return plain - float((2 * three / one - (two / one) ** 2).sum())

    def power(self, power: int) -> Floats:
        """Return table' D^power table for a power of 1, 2 or 3."""
        found = weighted_product(self.table, self.weight**power)
        if self.groups is None:
            return found
        one, two, three = (self._total(k) for k in (1, 2, 3))
        a = self._grouped
        if power == 1:
            return found - weighted_product(a(1), 1 / one)
        if power == 2:
            crossed = weighted_product(a(1), 1 / one, a(2))
            return found - crossed - crossed.T + weighted_product(a(1), two / one**2)
        crossed = weighted_product(a(1), 1 / one, a(3))
        crossed = crossed - weighted_product(a(1), two / one**2, a(2))
        return (
            found
            - crossed
            - crossed.T
            - weighted_product(a(2), 1 / one)
            + weighted_product(a(1), three / one**2 - two**2 / one**3)
        )

    def _total(self, power: int) -> Floats:
        """Sums of w^power over groups."""
        return self._totals[power - 1]

    @cached_property
    def _totals(self) -> list[Floats]:
        assert self.groups is not None
        return [self.groups.sums @ self.weight**power for power in (1, 2, 3)]

    def _grouped(self, power: int) -> Sums:
        """Return sums over groups of w^power times the table."""
        assert self.groups is not None
        return self.groups.sums @ scaled(self.table, self.weight**power)
