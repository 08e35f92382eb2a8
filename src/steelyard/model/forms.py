"""Forms: weights on judgments, and weights on means."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from steelyard.model.campaign import Floats, Ints

__all__ = ["Weights", "squares"]

# Of so few means all weights are multiplied: sparse ones took 40% of a look at four systems, 2 ms each.
_FEW = 60
# So many weights are looked at together.
_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class Weights:
    """The weight of each of n judgments in each of f answers: ``own + common @ coefficients``.

    With thousands of systems a judgment says much of its own system, and of all others only through a few
    effects that they share: no array of judgments by systems is held.

    Attributes
    ----------
    common : (n, r) array
        The weights themselves where there are no coefficients.
    own : sparse (n, f) array, optional
        Weights of which most are 0.
    coefficients : (r, f) array, optional
        The weight of each common part in each answer.
    """

    common: Floats
    own: csr_array | None = None
    coefficients: Floats | None = None

    def onto(self, values: Floats | csr_array) -> Floats:
        """Return ``W'v`` for values of judgments, (n,) or (n, g)."""
        found = np.asarray(values.T @ self.common).T
        if self.coefficients is not None:
            found = self.coefficients.T @ found
        if self.own is None:
            return found
        own = self.own.T @ values
        return np.asarray(found + (own.toarray() if not isinstance(own, np.ndarray) else own))

    def through(self, matrix: csr_array) -> "Weights":
        """Return ``B W`` for a sparse matrix B."""
        own = None if self.own is None else csr_array(matrix @ self.own)
        return replace(self, common=np.asarray(matrix @ self.common), own=own)

    def times(self, factor: Floats) -> "Weights":
        """Return the weights, those of each judgment times a factor."""
        column = factor[:, np.newaxis]
        own = None if self.own is None else csr_array(self.own.multiply(column))
        return replace(self, common=self.common * column, own=own)

    def gram(self) -> Floats:
        """Return ``W'W``."""
        found = self.common.T @ self.common
        if self.coefficients is not None:
            found = self.coefficients.T @ found @ self.coefficients
        if self.own is None:
            return np.asarray(found)
        across = self.own.T @ self.common
        if self.coefficients is not None:
            across = across @ self.coefficients
        return np.asarray(found + across + across.T + (self.own.T @ self.own).toarray())

    def dense(self, rows: slice | Ints = slice(None)) -> Floats:
        """Return the weights of some judgments as an array."""
        found = self.common[rows]
        if self.coefficients is not None:
            found = found @ self.coefficients
        return found if self.own is None else found + self.own[rows].toarray()

    def parts(self) -> Iterator[Floats]:
        """Yield the weights as arrays, some judgments at a time."""
        n, f = self.shape
        step = max(_AT_ONCE // max(f, 1), 1)
        for first in range(0, n, step):
            yield self.dense(slice(first, first + step))

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of judgments and of answers."""
        last = self.common if self.coefficients is None else self.coefficients
        return self.common.shape[0], last.shape[1]


def squares(forms: Floats, covariance: Floats) -> Floats:
    """Return the square ``f C f'`` of each form f.

    Parameters
    ----------
    forms : (f, k) array
        The weight of each mean in each form.
    covariance : (k, k) array
        A covariance of the means.
    """
    if forms.shape[1] <= _FEW:
        return np.asarray(((forms @ covariance) * forms).sum(axis=1))
    nonzero = csr_array(forms)
    return np.asarray(nonzero.multiply(nonzero @ covariance).sum(axis=1)).ravel()
