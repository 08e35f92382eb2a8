r"""Variance of a weighted mean, and how many degrees of freedom it has.

Estimates from n outputs with probabilities :math:`\pi_i` rest on the sum of squares
:math:`Q = \sum_i c_i (r_i - \bar r)^2`, where :math:`r_i = e_i/\pi_i` are expanded residuals and
:math:`\bar r = \sum c_i r_i / \sum c_i`. All of this is linear in the judgments up to the square,
:math:`Q = y' T' C\, T y`, so that for errors of one variance :math:`\sigma^2`

.. math:: \operatorname{E} Q = \sigma^2 \operatorname{tr} B, \qquad
          \operatorname{Var} Q = 2 \sigma^4 \operatorname{tr} B^2, \qquad B = C^{1/2} T T' C^{1/2} .

:math:`Q/\operatorname{tr} B` is unbiased for :math:`\sigma^2`, with :math:`(\operatorname{tr} B)^2 / \operatorname{tr} B^2`
degrees of freedom (Bell and McCaffrey 2002). For equal probabilities these are the usual ones.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import NotEstimableError
from steelyard.estimate.drawn import Part

__all__ = ["ExpandedResiduals"]

Floats = NDArray[np.float64]


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
        total = float(counts.sum())
        if total <= 1e-12 * n:  # every output was drawn with certainty
            return 0.0, float(max(n - max(k, 1), 1))
        drawn = np.count_nonzero(counts > 1e-12)
        if drawn <= max(k, 1):
            raise NotEstimableError(
                f"an interval needs more than {max(k, 1)} judged output(s) that were not drawn with "
                f"certainty; got {drawn}: judge more outputs"
            )
        squares, expected, doubt = self._squares(counts, total)
        value = squares / expected * max(float(weights @ weights) - exhausted, 0.0)
        return value, max(expected**2 / doubt, 1.0)

    def _squares(self, counts: Floats, total: float) -> tuple[float, float, float]:
        """Return Q, tr B and tr B^2; B is a diagonal matrix plus one of low rank."""
        D = 1 / self.probability
        residual = D * (self.mean - self.columns @ (self.solver @ self.mean))
        Q = float(counts @ (residual - counts @ residual / total) ** 2)
        # T = diag(D) - P R' with the fit and the centring as columns
        share = counts * D / total
        centring = share - (share @ self.columns) @ self.solver
        P = np.column_stack([D[:, np.newaxis] * self.columns, np.ones(len(D))])
        R = np.column_stack([self.solver.T, centring])
        # T T' = diag(D^2) + U K U'
        U = np.column_stack([P, D[:, np.newaxis] * R])
        eye = np.eye(P.shape[1])
        K = np.block([[R.T @ R, -eye], [-eye, np.zeros_like(eye)]])
        low_rank = ((U @ K) * U).sum(axis=1)
        inner = K @ (U.T @ (counts[:, np.newaxis] * U))
        expected = float(counts @ (D**2 + low_rank))
        doubt = float(counts**2 @ (D**4 + 2 * D**2 * low_rank) + np.trace(inner @ inner))
        return Q, expected, doubt
