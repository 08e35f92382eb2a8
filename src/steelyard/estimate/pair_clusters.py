r"""The variance of the difference of two means, over clusters of items that may be alike.

With :math:`e` the scores around their side's mean, cluster u adds
:math:`t_u = \sum_{i \in u} e_{ai}/n_a - \sum_{i \in u} e_{bi}/n_b` to the error of a difference, and the clusters err
independently. So :math:`Q = \sum_u t_u^2` shows its variance. If items were independent, with variances and a
covariance :math:`(s_a^2, s_b^2, s_{ab})`, the error had the variance V of `pair_variance` and Q the expectation
:math:`\operatorname{tr} B` with :math:`B = \operatorname{Cov} t`. Hence :math:`Q\,V/\operatorname{tr} B`, with
:math:`(\operatorname{tr} B)^2/\operatorname{tr} B^2` degrees of freedom (Bell and McCaffrey 2002). Derived in
docs/methods/comparison.md.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from steelyard.errors import NotEstimableError

__all__ = ["PairClusters"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairClusters:
    """The clusters of the judged outputs of two systems.

    Attributes
    ----------
    a, b : (n_a,) and (n_b,) array of int
        Number of each output's cluster, from 0.
    both : (C,) array
        Number of items in each cluster that were judged for both.
    """

    a: Integers
    b: Integers
    both: Floats

    @classmethod
    def of(cls, a: Integers, b: Integers, joint: Integers) -> "PairClusters":
        """Number the clusters of two sides, and count their common items, of clusters `joint`.

        Raises
        ------
        NotEstimableError
            If there are fewer than two clusters on a side.
        """
        names, code = np.unique(np.concatenate([a, b, joint]), return_inverse=True)
        ends = np.cumsum([len(a), len(b)])
        in_a, in_b, in_both = np.split(code, ends)
        least = min(len(np.unique(side)) for side in (in_a, in_b))
        if least < 2:
            raise NotEstimableError(
                f"an interval over clusters needs at least 2 of them for each system; got {least}: "
                "judge outputs of more clusters"
            )
        both = np.bincount(in_both, minlength=len(names)).astype(np.float64)
        return cls(in_a, in_b, both)

    def squares(self, a: Floats, b: Floats) -> float:
        """Return Q of the scores of both sides, each around its mean."""
        total = self._sums(self.a, a / len(a)) - self._sums(self.b, b / len(b))
        return float(total @ total)

    def expected(self, a: float, b: float, both: float) -> tuple[float, float]:
        """Return tr B and the degrees of freedom, for independent items of these (co)variances."""
        n, m = len(self.a), len(self.b)
        share_a, share_b = self._sums(self.a) / n, self._sums(self.b) / m
        A, B, C = a * share_a / n, b * share_b / m, both * self.both / (n * m)
        own = A + B - 2 * C
        # B is diagonal, but for what both means share with every cluster.
        U = np.column_stack([share_a, share_b, A - C, C - B])
        inner = np.array([[A.sum(), -C.sum()], [-C.sum(), B.sum()]])
        outer = np.diag([-1.0, 1.0])
        K = np.block([[inner, outer], [outer, np.zeros((2, 2))]])
        low_rank = ((U @ K) * U).sum(axis=1)
        small = K @ (U.T @ U)
        trace = float(own.sum() + low_rank.sum())
        squared = float(own @ own + 2 * own @ low_rank + np.trace(small @ small))
        return trace, max(trace**2 / squared, 1.0)

    def leniency(self, a: csr_array, b: csr_array) -> float:
        """Return what leniency of variance 1 adds to Q, of raters' shares (n, raters) in scores."""
        total = self._shares(self.a, a) - self._shares(self.b, b)
        return float((total * total).sum())

    def _shares(self, side: Integers, shares: csr_array) -> Floats:
        """Return each cluster's sum of shares around their mean, over the number of outputs."""
        n = len(side)
        inside = csr_array((np.ones(n), (side, np.arange(n))), (len(self.both), n))
        mean = np.asarray(shares.sum(axis=0)) / n
        summed = (inside @ shares).toarray() - np.outer(self._sums(side), mean)
        return np.asarray(summed / n)

    def _sums(self, side: Integers, values: Floats | None = None) -> Floats:
        found = np.bincount(side, values, minlength=len(self.both))
        return found.astype(np.float64)
