r"""Asymptotic confidence sequences: tight, for judgments in the hundreds, bounds or none.

The weighted sum :math:`M_t = \sum_{s \le t} w_s (r_s - \mu_s(m))` is a martingale when m is the mean, and
:math:`\hat m_t - m = M_t / W_t`. Strong approximation puts a Brownian motion with variance
:math:`\hat\sigma_t^2 W_t` beside it, whose mixture over normal slopes (Robbins 1970) never leaves

.. math:: \hat m_t \pm \hat\sigma_t \sqrt{\frac{W_t \rho^2 + 1}{W_t^2 \rho^2}
          \log \frac{W_t \rho^2 + 1}{\alpha^2}}

with probability :math:`1 - \alpha` (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024, theorem 2.2, with
their :math:`\rho` divided by :math:`\sigma`). Here :math:`\hat\sigma_t^2` is the mean of the squared
deviations with weights :math:`w_s^2`. The finite pool's factor is in :math:`W_t`: for draws without
replacement it is close to :math:`t / (1 - t/N)`, so that the half-width has the factor
:math:`\sqrt{1 - t/N}` of a fixed-size interval.

The approximation needs that no judgment carries a great share of :math:`W_t`; the last one carries about
:math:`1/t + 1/(N-t)`. So there is no interval before 50 judgments, and when fewer than 50 outputs are left
it no longer shrinks but by what is known for certain. Nor is there one while a single judgment makes up
more than a tenth of the weighted sum of squares: of scores that are almost always equal, ten must differ.
Without that rule, sequences of binary scores with a mean of 0.05 miss 12% of the time at a level of 95%.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.design.sequence.residuals import Residuals

__all__ = ["LEAST_JUDGMENTS", "asymptotic_ends"]

Floats = NDArray[np.float64]

LEAST_JUDGMENTS = 50
_GREATEST_SHARE = 0.1


def asymptotic_ends(
    residuals: Residuals, *, alpha: float, tuned_for: int, running: bool = True
) -> tuple[Floats, Floats]:
    r"""Return the ends of the sequence after each judgment.

    Parameters
    ----------
    residuals : Residuals
        Corrected judgments of R runs.
    alpha : float
        Probability with which the sequence may ever miss the mean, asymptotically.
    tuned_for : int
        Number of judgments at which the sequence is to be tightest:
        :math:`\rho^2 = (-2\log\alpha + \log(1 - 2\log\alpha)) / t`.

    running : bool
        Whether a candidate that was ever ruled out stays so: the running intersection.

    Returns
    -------
    low, high : (R, T) array
        On the unit scale.
    """
    information = residuals.information
    doubt = -2 * np.log(alpha)
    scale = (doubt + np.log1p(doubt)) / tuned_for * information  # W rho^2
    width = np.sqrt((scale + 1) / (scale * information) * (np.log1p(scale) + doubt))
    spread, share = _spread(residuals)
    count = np.arange(1, len(information) + 1)
    early = (count < LEAST_JUDGMENTS) | (residuals.left < LEAST_JUDGMENTS)
    half = np.where(early | (share > _GREATEST_SHARE), np.inf, np.sqrt(spread) * width)
    estimate = residuals.estimate
    return residuals.possible(estimate - half, estimate + half, running=running)


def _spread(residuals: Residuals) -> tuple[Floats, Floats]:
    """Weighted variance of the corrected judgments so far, and the share of a single one in it.

    The share is what the judgment farthest from the mean would make up if it came last, where
    weights are greatest; it is infinite while all judgments are equal.
    """
    square, information = residuals.weight**2, residuals.information
    value = residuals.value - 0.5
    count = np.arange(1, value.shape[1] + 1)
    mean = np.cumsum(value, axis=1) / count
    total = np.cumsum(square * value**2, axis=1) - mean * (
        2 * np.cumsum(square * value, axis=1) - mean * information
    )
    farthest = np.maximum(
        np.maximum.accumulate(value, axis=1) - mean, mean - np.minimum.accumulate(value, axis=1)
    )
    share = np.full(total.shape, np.inf)
    # Below this a difference of squares is rounding.
    np.divide(square * farthest**2, total, out=share, where=total > 1e-12 * information)
    spread = np.maximum(total, 0) / information * (count / np.maximum(count - 1, 1))
    return spread, share
