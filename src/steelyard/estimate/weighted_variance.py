r"""Variance of a weighted mean, and how many degrees of freedom it has.

Estimates from n outputs with probabilities :math:`\pi_i` rest on the sum of squares
:math:`Q = \sum_i c_i (r_i - \bar r)^2`, where :math:`r_i = e_i/\pi_i` are expanded residuals and
:math:`\bar r = \sum c_i r_i / \sum c_i`. All of this is linear in the judgments up to the square,
:math:`Q = y' T' C\, T y`, so that for errors of one variance :math:`\sigma^2`

.. math:: \operatorname{E} Q = \sigma^2 \operatorname{tr} B, \qquad
          \operatorname{Var} Q = 2 \sigma^4 \operatorname{tr} B^2, \qquad B = C^{1/2} T T' C^{1/2} .

:math:`Q/\operatorname{tr} B` is unbiased for :math:`\sigma^2`, with :math:`(\operatorname{tr} B)^2 / \operatorname{tr} B^2`
degrees of freedom (Bell and McCaffrey 2002). For equal probabilities these are the usual ones. Leniency
of variance :math:`\sigma_r^2` that outputs share through their raters adds
:math:`\sigma_r^2 \operatorname{tr}(Z' T' C\, T Z)` to the expectation, with :math:`Z_{ir}` rater r's share of
the judgments of output i.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs
from steelyard.errors import NotEstimableError
from steelyard.estimate.drawn import Part

__all__ = ["ExpandedResiduals", "RaterShares"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RaterShares:
    """Who judged what: Z, a row for each output and a column for each rater, never spelt out.

    Attributes
    ----------
    output, rater : (M,) array of int
        Output and rater of each judgment.
    share : (M,) array
        One over the number of judgments of the output.
    squares : (n,) array
        Sum of the squared shares of each output: 1/m if nobody judged it twice.
    """

    output: NDArray[np.int64]
    rater: NDArray[np.int64]
    share: Floats
    squares: Floats

    @classmethod
    def of(cls, sample: JudgedOutputs) -> "RaterShares":
        """Return the shares of the raters of `sample`, who must be known."""
        assert sample.rater is not None
        n_raters = int(sample.rater.max()) + 1
        pair, count = np.unique(sample.output * n_raters + sample.rater, return_counts=True)
        output = pair // n_raters
        squares = np.zeros(sample.n_outputs)
        np.add.at(squares, output, (count / sample.count[output]) ** 2)
        return cls(sample.output, sample.rater, 1 / sample.count[sample.output], squares)

    def per_rater(self, columns: Floats) -> Floats:
        """Return Z'columns, of shape (R, k), for columns of shape (n, k)."""
        parts = (self.share * column[self.output] for column in columns.T)
        return np.column_stack([np.bincount(self.rater, weights=part) for part in parts])


@dataclass(frozen=True, eq=False)
class ExpandedResiduals:
    """What is left of the judgments after a fit, over the outputs' probabilities.

    Attributes
    ----------
    mean : (n,) array
        Mean judgment of each output, less a slope that was given.
    probability : (n,) array
        Inclusion probabilities.
    columns, solver : (n, k) and (k, n) array
        What is fitted: the residual of y is y - columns @ (solver @ y). k may be 0.
    """

    mean: Floats
    probability: Floats
    columns: Floats
    solver: Floats

    def part(self, counts: Floats, weights: Floats, *, exhausted: float) -> Part:
        r"""Return the variance :math:`\hat\sigma^2 (\sum w_i^2 - x)` and its degrees of freedom.

        Parameters
        ----------
        counts : (n,) array
            :math:`c_i`: one less the probability, or one without the finite-pool factor.
        weights : (n,) array
            Weight of each output's judgments in the estimate, the slope's part included.
        exhausted : float
            x, what the finite pool takes off the sum of squared weights.

        Raises
        ------
        NotEstimableError
            If fewer outputs than fitted numbers were drawn by chance.
        """
        n, k = len(self.mean), self.columns.shape[1]
        if counts.sum() <= 1e-12 * n:  # every output was drawn with certainty
            return 0.0, float(max(n - max(k, 1), 1))
        drawn = np.count_nonzero(counts > 1e-12)
        if drawn <= max(k, 1):
            raise NotEstimableError(
                f"an interval needs more than {max(k, 1)} judged output(s) that were not drawn with "
                f"certainty; got {drawn}: judge more outputs"
            )
        expected, doubt = self._expected(counts)
        value = self._squares(counts) / expected * max(float(weights @ weights) - exhausted, 0.0)
        return value, max(expected**2 / doubt, 1.0)

    def leniency(self, counts: Floats, shares: RaterShares) -> float:
        r"""Return what leniency of variance 1 adds to the expectation of :math:`\hat\sigma^2`.

        Parameters
        ----------
        counts : (n,) array
            As in `part`.
        shares : RaterShares
            Who judged what.
        """
        if counts.sum() <= 1e-12 * len(self.mean):
            return 0.0
        D, P, R = self._map(counts)
        weighed = counts[:, np.newaxis] * P
        pulled = shares.per_rater(R)
        squares = float(counts * D**2 @ shares.squares)
        squares -= 2 * float(np.sum(shares.per_rater(D[:, np.newaxis] * weighed) * pulled))
        squares += float(np.sum((pulled.T @ pulled) * (P.T @ weighed)))
        return squares / self._expected(counts)[0]

    def _map(self, counts: Floats) -> tuple[Floats, Floats, Floats]:
        """Return D, P and R of T = diag(D) - P R', with the fit and the centring as columns."""
        D = 1 / self.probability
        share = counts * D / counts.sum()
        centring = share - (share @ self.columns) @ self.solver
        P = np.column_stack([D[:, np.newaxis] * self.columns, np.ones(len(D))])
        return D, P, np.column_stack([self.solver.T, centring])

    def _squares(self, counts: Floats) -> float:
        """Return Q."""
        residual = self.mean - self.columns @ (self.solver @ self.mean)
        residual = residual / self.probability
        return float(counts @ (residual - counts @ residual / counts.sum()) ** 2)

    def _expected(self, counts: Floats) -> tuple[float, float]:
        """Return tr B and tr B^2; B is a diagonal matrix plus one of low rank."""
        D, P, R = self._map(counts)
        # T T' = diag(D^2) + U K U'
        U = np.column_stack([P, D[:, np.newaxis] * R])
        eye = np.eye(P.shape[1])
        K = np.block([[R.T @ R, -eye], [-eye, np.zeros_like(eye)]])
        low_rank = ((U @ K) * U).sum(axis=1)
        inner = K @ (U.T @ (counts[:, np.newaxis] * U))
        expected = float(counts @ (D**2 + low_rank))
        doubt = float(counts**2 @ (D**4 + 2 * D**2 * low_rank) + np.trace(inner @ inner))
        return expected, doubt
