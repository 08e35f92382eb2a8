"""The ends of a sequence by any method, for one run or thousands."""

import numpy as np
from numpy.typing import NDArray

from steelyard.design.sequence.asymptotic import asymptotic_ends
from steelyard.design.sequence.bernstein import bernstein_ends
from steelyard.design.sequence.betting import betting_ends
from steelyard.design.sequence.options import SequenceOptions
from steelyard.design.sequence.residuals import Residuals

__all__ = ["sequence_ends"]

Floats = NDArray[np.float64]


def sequence_ends(
    residuals: Residuals, times: NDArray[np.int64], *, options: SequenceOptions
) -> tuple[Floats, Floats]:
    """Return the ends after each of `times` judgments, on the unit scale.

    Parameters
    ----------
    residuals : Residuals
        Corrected judgments of R runs.
    times : (K,) array
        Numbers of judgments, each at least 1.
    options : SequenceOptions
        Method, level and target.

    Returns
    -------
    low, high : (R, K) array
        The running intersection, widened by rater noise if the options ask for it. The lower end
        exceeds the upper when no mean fits.
    """
    alpha = options.alpha
    if options.method == "betting":
        low, high = betting_ends(residuals, times, alpha=alpha)
    else:
        if options.method == "empirical-bernstein":
            low, high = bernstein_ends(residuals, alpha=alpha)
        else:
            low, high = asymptotic_ends(residuals, alpha=alpha, tuned_for=options.tuned_for)
        low, high = low[:, times - 1], high[:, times - 1]
    return np.maximum(low - options.noise, 0), np.minimum(high + options.noise, 1)
