r"""Sums of squared residuals under a draw: what they are worth, and what raters add to them.

In each stratum, residuals :math:`e_i` times design weights :math:`D_i` are added up within clusters
(each output is one where none are named) to :math:`t_u`, and make

.. math:: Q = \sum_u c_u (t_u - \bar t)^2, \qquad \bar t = \sum c_u t_u / \sum c_u,

where :math:`c_u` is one less the probability of being drawn, or one without a finite pool. Of a spread draw, whose outputs
stand for their neighbours along its order, it is :math:`t_u = (D_i e_i - D_j e_j)/\sqrt 2` over pairs of neighbours, and of the next but one, instead, and
:math:`Q = \sum_u t_u^2`. All of this is linear in the
judgments up to the square, :math:`Q = y' T' C\, T y`, so that for errors of one variance :math:`\sigma^2`

.. math:: \operatorname{E} Q = \sigma^2 \operatorname{tr} B, \qquad
          \operatorname{Var} Q = 2 \sigma^4 \operatorname{tr} B^2, \qquad B = C^{1/2} T T' C^{1/2} .

:math:`Q/\operatorname{tr} B` is unbiased for :math:`\sigma^2`, with :math:`(\operatorname{tr} B)^2 / \operatorname{tr} B^2`
degrees of freedom (Bell and McCaffrey 2002): the usual ones for equal probabilities, which are then counted; about four fifths
of them for neighbours. Leniency of
variance :math:`\sigma_r^2` that outputs share through their raters adds
:math:`\sigma_r^2 \operatorname{tr}(Z' T' C\, T Z)` to the expectation, with :math:`Z_{ir}` rater r's share of
the judgments of output i.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from steelyard.arrays import Draw, JudgedOutputs
from steelyard.errors import NotEstimableError
from steelyard.estimate.fit import Fit

__all__ = ["Squares", "leniency_in", "per_rater", "residual_squares"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Squares:
    """The residual variance of each stratum, and its degrees of freedom."""

    variance: Floats
    freedom: Floats


def residual_squares(fit: Fit, draw: Draw, *, limited: bool) -> Squares:
    """Return the residual variances, with or without the finite-pool factor.

    Raises
    ------
    NotEstimableError
        If fewer clusters than fitted numbers were drawn by chance.
    """
    counted = _counted(fit, draw)
    if counted is not None:
        squares = draw.total(fit.residual**2)
        lone = draw.count == 1
        # A stratum whose only output was judged takes the variance of all.
        pooled = squares.sum() / counted[~lone].sum()
        variance = np.where(lone, pooled, squares / np.where(lone, 1, counted))
        return Squares(variance, np.where(lone, max(counted[~lone].sum(), 1), counted))
    found = [_Map.of(fit, draw, stratum, limited=limited) for stratum in range(len(draw.names))]
    parts = [one.variance(fit.residual) for one in found]
    return Squares(*(np.array(column) for column in zip(*parts, strict=True)))


def leniency_in(fit: Fit, sample: JudgedOutputs, draw: Draw, *, limited: bool) -> Floats:
    """Return what leniency of variance 1 adds to the expected residual variance of each stratum."""
    counted = _counted(fit, draw)
    limited = limited and counted is None  # what is counted does not depend on the factor
    maps = [_Map.of(fit, draw, stratum, limited=limited) for stratum in range(len(draw.names))]
    squares = np.array([one.leniency(sample) for one in maps])
    if counted is None:
        worth = np.array([one.expected()[0] for one in maps])
        return np.where(worth > 0, squares / np.where(worth > 0, worth, 1.0), 0.0)
    squares /= np.array([one.D.max() ** 2 for one in maps])
    lone = draw.count == 1
    pooled = squares[~lone].sum() / counted[~lone].sum()
    return np.where(lone, pooled, squares / np.where(lone, 1, counted))


def per_rater(sample: JudgedOutputs, columns: Floats) -> Floats:
    """Return Z'columns, of shape (R, k), for columns of shape (n, k)."""
    assert sample.rater is not None
    share = 1 / sample.count[sample.output]
    parts = (share * column[sample.output] for column in columns.T)
    return np.column_stack([np.bincount(sample.rater, weights=part) for part in parts])


def _counted(fit: Fit, draw: Draw) -> Floats | None:
    """Return the degrees of freedom that can be counted: none with clusters or neighbours."""
    return fit.freedom if draw.cluster is None and draw.place is None else None


@dataclass(frozen=True, eq=False)
class _Map:
    """T = S diag(D) - P R' of one stratum, with S sums within clusters, or differences of neighbours.

    Attributes
    ----------
    S : (m, n) sparse array
        What is squared, of the outputs times their weights.
    D : (n,) array
        Design weights, zero outside the stratum.
    P, R : (m, k) and (n, k) array
        The fit and the centring.
    c : (m,) array
        Zero outside the stratum.
    fitted : int
        How many numbers were fitted.
    centred : bool
        Whether what is squared is taken around its mean; differences are not.
    """

    S: csr_array
    D: Floats
    P: Floats
    R: Floats
    c: Floats
    fitted: int
    centred: bool = True

    @classmethod
    def of(cls, fit: Fit, draw: Draw, stratum: int, *, limited: bool) -> "_Map":
        inside = (draw.stratum == stratum).astype(np.float64)
        D = fit.plain * inside
        columns, solver = fit.columns, fit.solver
        if fit.intercept:
            mean = D / D.sum()
            columns = np.column_stack([columns, np.ones(len(D))])
            solver = np.vstack([solver, mean - (mean @ columns[:, :-1]) @ solver])
        if draw.place is not None:
            # Differences need no centring, and equal chances no factor.
            S = _differences(draw)
            P = S @ (D[:, np.newaxis] * columns)
            return cls(S, D, P, solver.T, np.ones(len(P)), columns.shape[1], centred=False)
        S = _sums(draw.unit)
        each = inside * (1 - draw.inclusion if limited else 1.0)
        c = (S @ each) / S.sum(axis=1)
        total = max(float(c.sum()), 1e-300)
        share = D * (S.T @ c) / total
        centring = share - (share @ columns) @ solver
        P = np.column_stack([S @ (D[:, np.newaxis] * columns), np.ones(len(c))])
        return cls(S, D, P, np.column_stack([solver.T, centring]), c, columns.shape[1])

    def variance(self, residual: Floats) -> tuple[float, float]:
        """Return the residual variance and its degrees of freedom."""
        n, k = int(np.count_nonzero(self.D)), max(self.fitted, 1)
        if self.c.sum() <= 1e-12 * n:  # every output was drawn with certainty
            return 0.0, float(max(n - k, 1))
        drawn = np.count_nonzero(self.c > 1e-12) if self.centred else n
        if drawn <= k:
            what = (
                "cluster(s)" if self.centred and len(self.c) < len(self.D) else "judged output(s)"
            )
            raise NotEstimableError(
                f"an interval needs more than {k} {what} that were not drawn with certainty; got "
                f"{drawn}: judge more outputs"
            )
        t = self.S @ (self.D * residual)
        squares = float(self.c @ (t - (self.c @ t / self.c.sum() if self.centred else 0.0)) ** 2)
        expected, doubt = self.expected()
        return squares / expected, max(expected**2 / doubt, 1.0)

    def expected(self) -> tuple[float, float]:
        """Return tr B and tr B^2; B is a sparse matrix plus one of low rank."""
        c, P, R = self.c, self.P, self.R
        # T T' = own + U K U'
        U = np.column_stack([P, self.S @ (self.D[:, np.newaxis] * R)])
        eye = np.eye(P.shape[1])
        K = np.block([[R.T @ R, -eye], [-eye, np.zeros_like(eye)]])
        low_rank = ((U @ K) * U).sum(axis=1)
        cross = c[:, np.newaxis] * U
        inner = K @ (U.T @ cross)
        diagonal, squares, carried = self._own(cross)
        expected = float(c @ (diagonal + low_rank))
        doubt = squares + float(np.trace(inner @ inner))
        doubt += 2 * float(np.sum((carried @ K) * cross))
        return expected, doubt

    def _own(self, columns: Floats) -> tuple[Floats, float, Floats]:
        """Return the diagonal of O = S D^2 S', c'(O * O)c, and O times columns."""
        if self.centred:  # no output is in two clusters
            diagonal = self.S @ self.D**2
            return (
                diagonal,
                float((self.c * diagonal) @ (self.c * diagonal)),
                (diagonal[:, np.newaxis] * columns),
            )
        weighted = self.S * self.D
        own = csr_array(weighted @ weighted.T)
        return own.diagonal(), float(self.c @ (own * own) @ self.c), own @ columns

    def leniency(self, sample: JudgedOutputs) -> float:
        """Return what leniency of variance 1 adds to the expectation of the squares."""
        assert sample.rater is not None
        share = (1 / sample.count)[sample.output]
        shape = (sample.n_outputs, int(sample.rater.max()) + 1)
        Z = csr_array((share, (sample.output, sample.rater)), shape)
        heard = csr_array((self.S * self.D) @ Z)
        weighed = self.c[:, np.newaxis] * self.P
        pulled = Z.T @ self.R
        squares = float((self.c @ (heard * heard)).sum())
        squares -= 2 * float(np.sum((heard.T @ weighed) * pulled))
        return squares + float(np.sum((pulled.T @ pulled) * (self.P.T @ weighed)))


def _sums(unit: Integers) -> csr_array:
    """Return what adds outputs up within clusters."""
    ends = np.concatenate([[0], np.cumsum(np.bincount(unit))])
    return csr_array((np.ones(len(unit)), np.argsort(unit, kind="stable"), ends))


def _differences(draw: Draw) -> csr_array:
    """Return what takes the differences of neighbours, over the root of 2."""
    pairs = draw.neighbours
    row = np.repeat(np.arange(len(pairs)), 2)
    value = np.tile([np.sqrt(0.5), -np.sqrt(0.5)], len(pairs))
    return csr_array((value, (row, pairs.ravel())), (len(pairs), len(draw.stratum)))
