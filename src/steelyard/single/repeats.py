r"""What outputs with two judgments or more tell of the rater variance.

Few of them tell little, and nothing at all when their judgments happen to agree. So an imagined
output joins those that were judged again, in the name of the outputs that were not. Its judgments
differ as much as those of any output seen, and as the spread of all outputs allows. Derived in
docs/methods/paper-estimators.md.
"""

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Floats
from steelyard.single.judged import JudgedSample

__all__ = ["FEW_REPEATS", "Repeats"]


# With fewer the interval is no shorter than without the finite-pool correction (measured).
FEW_REPEATS = 5
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
        :math:`R = (\sum_i (m_i - 1))^2 / \sum_i (m_i - 1)^2`: their number, where all were judged
        equally often. Outputs differ in how far raters agree on them, so many judgments of one
        output count as one.
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
    def of(
        cls, sample: JudgedSample, *, weights: Floats | None = None, lent: bool = False
    ) -> "Repeats | None":
        """Return what `sample` tells, None if no output has two judgments.

        Parameters
        ----------
        sample : JudgedSample
            The judged outputs.
        weights : (n,) array, optional
            How many outputs of the pool each one stands for, where they were drawn with unequal
            probabilities.
        lent : bool
            Whether it is to speak for outputs that are not in it.
        """
        again = sample.count > 1
        if not again.any():
            return None
        freedom, squares = sample.count[again] - 1.0, sample.within[again]
        weight = np.ones(len(freedom)) if weights is None else weights[again]
        largest = float((squares / freedom).max())
        if largest == 0:
            largest = float(np.ptp(sample.human)) ** 2 / 2
        enough = len(again) >= _ENOUGH and again.all() and not lent
        weighted = weight * freedom
        return cls(
            variance=float(weight @ squares / weighted.sum()),
            outputs=float(weighted.sum() ** 2 / (weighted @ weighted)),
            largest=largest,
            imagined=0 if enough else 1,
        )

    def against(self, most: float) -> tuple[float, float] | None:
        r"""Return the rater variance to reckon with and its degrees of freedom.

        .. math:: \tilde\sigma_a^2 = \frac{R \hat\sigma_a^2 + \lambda \max(v, u)}{R + \lambda},
                  \qquad \nu = R + \lambda,

        with v the `largest` variance seen and u the `most` that the spread of outputs allows.

        Parameters
        ----------
        most : float
            The rater variance at which all of the outputs' spread would be rater noise.

        Returns
        -------
        (float, float) or None
            None if the repeats are too few, or cannot rule `most` out: then nothing is gained by
            them.
        """
        if self.outputs < FEW_REPEATS:
            return None
        freedom = self.outputs + self.imagined
        if self.variance >= most:
            # Above the bound by chance, and unbiased as it is.
            return self.variance, freedom
        lifted = self.outputs * self.variance + self.imagined * max(self.largest, most)
        lifted /= freedom
        return (lifted, freedom) if lifted < most else None
