"""The covariance A of judgments within blocks at given variances, and its inverse.

With U the columns of the mixed-model equations, all that is needed is ``A^-1 v`` for a few v, ``U'A^-1 U``, and how
this and ``log|A|`` move with each variance. Where effects are groups within groups (outputs in items in
clusters), sums over groups give all of it (Sherman and Morrison, level by level); else there are small inverses.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array, eye_array

from steelyard.model.blocks import Blocks, Groups
from steelyard.model.campaign import Floats, Ints

__all__ = ["Dense", "Inverse", "Nested", "product"]

# Columns of which a larger share is not 0 are multiplied as dense ones, which is a hundred times as fast a cell.
_DENSE = 0.1
# Times a dense matrix, rows with less than this share in them are faster as sparse ones.
_SPARSE = 0.01


class Inverse(Protocol):
    """The inverse of A at given variances.

    Attributes
    ----------
    log : float
        The logarithm of the determinant of A.
    """

    log: float

    def times(self, values: Floats) -> Floats:
        """Return ``A^-1 v``."""

    def matrix(self) -> csr_array:
        """Return the inverse as a sparse matrix."""

    def gram(self) -> Floats:
        """Return ``U'A^-1 U``."""

    def slopes(self, m_inverse: Floats) -> Floats:
        """Return the derivatives of ``log|A| + log|M|`` by the variances of all effects but noise."""

    def diagonal(self) -> Floats:
        """Return the diagonal of the inverse, (n,)."""

    def inside(self, index: Ints) -> Floats:
        """Return the inverse within each of B blocks of m judgments, (B, m, m)."""

    def rows(self, index: Ints) -> Floats:
        """Return the rows of ``A^-1 U`` of these judgments, dense."""


class Nested:
    """Effects of groups within groups.

    Parameters
    ----------
    u : sparse (n, q) array
        The columns.
    groups : sequence of Groups
        The groups of each effect but noise, from the coarsest to the finest.
    """

    def __init__(self, u: csr_array, groups: Sequence[Groups]) -> None:
        self.u = u
        self.groups = tuple(groups)[::-1]
        self.square = _gram(u)
        self.first = csr_array(self.groups[0].members @ u) if groups else None

    def at(self, theta: Floats) -> "_NestedInverse":
        """Return the inverse at the variances of all effects, noise last."""
        return _NestedInverse(self, theta)


class _Level:
    """What one effect changes in the inverse of the finer ones: ``- Y diag(c) Y'``, Y the groups weighted by r."""

    def __init__(self, groups: Groups, theta: float, r: Floats) -> None:
        self.groups, self.theta, self.r = groups, theta, r
        self.s = np.bincount(groups.label, r)
        self.grown = 1 + theta * self.s
        self.c: Floats = np.asarray(theta / self.grown, np.float64)


class _NestedInverse:
    def __init__(self, of: Nested, theta: Floats) -> None:
        n, self.noise = of.u.shape[0], float(theta[-1])
        self.of, self.log = of, n * float(np.log(self.noise))
        self.levels: list[_Level] = []
        r = np.full(n, 1 / self.noise)
        for groups, v in zip(of.groups, theta[-2::-1], strict=True):
            level = _Level(groups, float(v), r)
            self.levels.append(level)
            self.log += float(np.log(level.grown).sum())
            r = r / level.grown[groups.label]
        self.sums: list[Floats | csr_array] = []
        for number, level in enumerate(self.levels):
            if number == 0:
                assert of.first is not None
                found = of.first / self.noise
            else:
                found = csr_array(level.groups.weighted(level.r) @ of.u)
            dense = found.nnz > _DENSE * found.shape[0] * found.shape[1]
            self.sums.append(found.toarray() if dense else found)

    def times(self, values: Floats) -> Floats:
        column = values.reshape(len(values), -1)
        found = column / self.noise
        for level in self.levels:
            r = level.r[:, np.newaxis]
            part = level.groups.sums(r * column) * level.c[:, np.newaxis]
            found -= r * part[level.groups.label]
        return found.reshape(values.shape)

    def matrix(self) -> csr_array:
        found = eye_array(self.of.u.shape[0], format="csr") / self.noise
        for level in self.levels:
            y = level.groups.weighted(level.r)
            found = found - y.T @ y.multiply(level.c[:, np.newaxis])
        return csr_array(found)

    def gram(self) -> Floats:
        found = self.of.square / self.noise
        for level, sums in zip(self.levels, self.sums, strict=True):
            found -= _gram(sums, level.c)
        return found

    def slopes(self, m_inverse: Floats) -> Floats:
        found = np.zeros(len(self.levels))
        reached = [one @ m_inverse if isinstance(one, np.ndarray) else None for one in self.sums]
        for moved in range(len(self.levels)):
            # how r, s and c of this and all coarser levels move with the variance of this one
            dr: Floats | None = None
            for number, level in enumerate(self.levels[moved:], moved):
                own = 1.0 * (number == moved)
                label, theta = level.groups.label, level.theta
                ds = 0.0 if dr is None else np.bincount(label, dr)
                growth = own * level.s + theta * ds
                dc = np.asarray(own / level.grown - level.c * growth / level.grown, np.float64)
                found[moved] += float(np.sum(growth / level.grown))
                found[moved] -= self._move(number, reached[number], m_inverse, dc, dr)
                if number + 1 < len(self.levels):
                    lost = level.r * growth[label] / level.grown[label] ** 2
                    kept = 0.0 if dr is None else dr / level.grown[label]
                    dr = np.asarray(kept - lost, np.float64)
        return found[::-1]

    def _move(
        self, number: int, reached: Floats | None, m_inverse: Floats, dc: Floats, dr: Floats | None
    ) -> float:
        """Return the trace of M^-1 with the move of ``Y'U diag(c) U'Y``."""
        level, sums = self.levels[number], self.sums[number]
        change: csr_array | None = None
        if dr is not None:
            change = csr_array(
                level.groups.weighted(2 * dr * level.c[level.groups.label]) @ self.of.u
            )
        if reached is None:
            found = float(np.sum(_gram(sums, dc) * m_inverse))
            if change is not None:
                found += float(
                    np.sum((csr_array(csr_array(sums).T) @ change).toarray() * m_inverse)
                )
            return found
        found = float(dc @ np.einsum("gq,gq->g", np.asarray(sums), reached))
        if change is not None:
            found += float(change.multiply(reached).sum())
        return found

    def diagonal(self) -> Floats:
        found = np.full(self.of.u.shape[0], 1 / self.noise)
        for level in self.levels:
            found -= level.r**2 * level.c[level.groups.label]
        return found

    def inside(self, index: Ints) -> Floats:
        found = np.broadcast_to(np.eye(index.shape[1]) / self.noise, (*index.shape, index.shape[1]))
        for level in self.levels:
            label, r = level.groups.label[index], level.r[index]
            same = label[:, :, np.newaxis] == label[:, np.newaxis, :]
            both = r[:, :, np.newaxis] * (r * level.c[label])[:, np.newaxis, :]
            found = found - same * both
        return np.array(found)

    def rows(self, index: Ints) -> Floats:
        found = self.of.u[index].toarray() / self.noise
        for level, sums in zip(self.levels, self.sums, strict=True):
            label = level.groups.label[index]
            part = sums[label]
            part = part if isinstance(part, np.ndarray) else part.toarray()
            found -= (level.r[index] * level.c[label])[:, np.newaxis] * part
        return np.asarray(found)


class Dense:
    """Effects with any covariance within blocks.

    Parameters
    ----------
    u : sparse (n, q) array
        The columns.
    blocks : Blocks
        The blocks.
    kernels : sequence of lists of (B, m, m) arrays
        The covariance of each effect within blocks, noise last.
    """

    def __init__(self, u: csr_array, blocks: Blocks, kernels: Sequence[Sequence[Floats]]) -> None:
        self.u, self.blocks, self.kernels = u, blocks, kernels
        filled = np.bincount(u.indices, minlength=u.shape[1]) > _DENSE * u.shape[0]
        self.full, self.thin = np.flatnonzero(filled), np.flatnonzero(~filled)
        self.of_full = u[:, self.full].toarray()
        self.of_thin = csr_array(u[:, self.thin])
        self.of_thin_transposed = csr_array(self.of_thin.T)

    def at(self, theta: Floats) -> "_DenseInverse":
        """Return the inverse at the variances of all effects, noise last."""
        return _DenseInverse(self, theta)

    def gram(self, within: csr_array) -> Floats:
        """Return ``U'BU`` for a symmetric B within blocks."""
        found = np.empty((self.u.shape[1], self.u.shape[1]))
        through = np.asarray(within @ self.of_full)
        found[np.ix_(self.full, self.full)] = self.of_full.T @ through
        across = self.of_thin_transposed @ through
        found[np.ix_(self.thin, self.full)] = across
        found[np.ix_(self.full, self.thin)] = across.T
        inside = self.of_thin_transposed @ csr_array(within @ self.of_thin)
        found[np.ix_(self.thin, self.thin)] = inside.toarray()
        return found


class _DenseInverse:
    def __init__(self, of: Dense, theta: Floats) -> None:
        self.of, self.log = of, 0.0
        self.parts: list[Floats] = []
        for size in range(len(of.blocks.index)):
            a = sum(v * one[size] for v, one in zip(theta, of.kernels, strict=True))
            self.parts.append(np.asarray(np.linalg.inv(a), dtype=np.float64))
            self.log += float(np.linalg.slogdet(a)[1].sum())
        self.inverse = of.blocks.matrix(self.parts)

    def times(self, values: Floats) -> Floats:
        return np.asarray(self.inverse @ values)

    def matrix(self) -> csr_array:
        return self.inverse

    def gram(self) -> Floats:
        return self.of.gram(self.inverse)

    def slopes(self, m_inverse: Floats) -> Floats:
        found = []
        for kernel in self.of.kernels[:-1]:
            moved = [part @ one @ part for part, one in zip(self.parts, kernel, strict=True)]
            own = sum(float(np.sum(a * b)) for a, b in zip(self.parts, kernel, strict=True))
            gram = self.of.gram(self.of.blocks.matrix(moved))
            found.append(own - float(np.sum(gram * m_inverse)))
        return np.array(found)

    def diagonal(self) -> Floats:
        return np.asarray(self.inverse.diagonal())

    def inside(self, index: Ints) -> Floats:
        return np.asarray(np.stack([self.inverse[rows][:, rows].toarray() for rows in index]))

    def rows(self, index: Ints) -> Floats:
        return np.asarray(csr_array(self.inverse[index] @ self.of.u).toarray())


def product(rows: Floats | csr_array, matrix: Floats) -> Floats:
    """Return ``R m``: as sparse rows where hardly anything is in them."""
    filled = rows.nnz if isinstance(rows, csr_array) else np.count_nonzero(rows)
    if filled < _SPARSE * rows.shape[0] * rows.shape[1]:
        return np.asarray(csr_array(rows) @ matrix)
    dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
    return np.asarray(dense @ matrix)


def _gram(rows: Floats | csr_array, weights: Floats | None = None) -> Floats:
    """Return ``R' diag(w) R``."""
    if isinstance(rows, np.ndarray):
        return np.asarray(rows.T @ (rows if weights is None else weights[:, np.newaxis] * rows))
    weighted = rows if weights is None else rows.multiply(weights[:, np.newaxis])
    return np.asarray((csr_array(rows.T) @ csr_array(weighted)).toarray())
