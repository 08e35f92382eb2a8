r"""What outputs with two judgments or more say about the rater variance.

Few of them say little, and nothing at all when their judgments happen to agree. So an imagined output
joins those that were judged again, in the name of the outputs that were not. Its judgments differ as much
as those of any output seen, and as the spread of all outputs allows. Derived in
docs/methods/paper-estimators.md.
"""

from dataclasses import dataclass

import numpy as np

from steelyard.single.judged import JudgedSample

__all__ = ["Repeats"]


# With fewer the interval is no shorter than without the finite-pool correction (measured).
_FEW = 5
# This many outputs, all of them judged again, speak for themselves.
_ENOUGH = 20


@dataclass(frozen=True)
class Repeats:
    r"""The rater variance of the outputs that were judged again, and how much to trust it.

    Attributes
    ----------
    variance : float
        Unbiased rater variance, :math:`\sum_i SS_i / \sum_i (m_i - 1)`.
    outputs : float
        Effective number of outputs behind it,
        :math:`R = (\sum_i (m_i - 1))^2 / \sum_i (m_i - 1)^2`: many judgments of one output count as one.
    largest : float
        Largest variance of one output's judgments; if no two judgments of an output differ, the
        largest that two judgments can have, given the range of all.
    imagined : int
        :math:`\lambda`, the number of imagined outputs: 1, or 0 if there are at least 20 outputs and
        all were judged again.

    Examples
    --------
    >>> from steelyard.single.judged import judged_outputs
    >>> Repeats.of(judged_outputs([1, 3, 2, 6, 4], items=["a", "a", "b", "b", "c"]))
    Repeats(variance=5.0, outputs=2.0, largest=8.0, imagined=1)
    """

    variance: float
    outputs: float
    largest: float
    imagined: int

    @classmethod
    def of(cls, sample: JudgedSample) -> "Repeats | None":
        """Return what `sample` says, None if no output has two judgments."""
        again = sample.count > 1
        if not again.any():
            return None
        freedom, squares = sample.count[again] - 1.0, sample.within[again]
        largest = float((squares / freedom).max()) or float(np.ptp(sample.human)) ** 2 / 2
        return cls(
            variance=float(squares.sum() / freedom.sum()),
            outputs=float(freedom.sum() ** 2 / (freedom @ freedom)),
            largest=largest,
            imagined=0 if len(again) >= _ENOUGH and again.all() else 1,
        )

    def against(self, most: float) -> tuple[float, float] | None:
        r"""Return the rater variance to reckon with and its degrees of freedom.

        .. math:: \tilde\sigma_a^2 = \frac{R \hat\sigma_a^2 + \lambda \max(v, u)}{R + \lambda},
                  \qquad \nu = R + \lambda,

        with v the `largest` variance seen and u the `most` that the spread of outputs allows. None if
        the repeats are too few, or cannot rule `most` out: then nothing is gained by them.
        """
        if self.outputs < _FEW:
            return None
        freedom = self.outputs + self.imagined
        if self.variance >= most:
            # Above the bound by chance, and unbiased as it is.
            return self.variance, freedom
        lifted = self.outputs * self.variance + self.imagined * max(self.largest, most)
        lifted /= freedom
        return (lifted, freedom) if lifted < most else None
