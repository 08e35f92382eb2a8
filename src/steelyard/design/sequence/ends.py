"""The ends of a sequence by any method, for one run or thousands."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.design.sequence.asymptotic import asymptotic_ends
from steelyard.design.sequence.bernstein import bernstein_ends
from steelyard.design.sequence.betting import betting_ends
from steelyard.design.sequence.options import SequenceOptions
from steelyard.design.sequence.residuals import Residuals

__all__ = ["Ends", "sequence_ends"]

Floats = NDArray[np.float64]

# Judgments that the asymptotic sequence is tuned for when neither a number nor a goal is given.
_TUNED_FOR = 300


@dataclass(frozen=True, eq=False)
class Ends:
    """Intervals of R runs at K times, on the unit scale.

    Attributes
    ----------
    low, high : (R, K) array
        The running intersection, widened by rater noise if that was asked for.
    contradicted : (R, K) array of bool
        Where the running intersection is empty: the sequence has missed the mean, which may
        happen with probability 1 - level, or the outputs were not drawn at random. The ends are
        then those of this moment alone, without the intersection.
    """

    low: Floats
    high: Floats
    contradicted: NDArray[np.bool_]


def sequence_ends(
    residuals: Residuals, times: NDArray[np.int64], *, options: SequenceOptions
) -> Ends:
    """Return the ends after each of `times` judgments.

    Parameters
    ----------
    residuals : Residuals
        Corrected judgments of R runs.
    times : (K,) array
        Numbers of judgments, each at least 1.
    options : SequenceOptions
        Method, level and target.
    """
    low, high = _ends(residuals, times, options, running=True)
    contradicted = low > high + 1e-9  # ends that meet, in a census, may cross by rounding
    if contradicted.any():
        now_low, now_high = _ends(residuals, times, options, running=False)
        certain = now_low > now_high  # not even this moment's: only what holds for certain is left
        now_low = np.where(certain, residuals.floor[:, times - 1], now_low)
        now_high = np.where(certain, residuals.ceiling[:, times - 1], now_high)
        low, high = np.where(contradicted, now_low, low), np.where(contradicted, now_high, high)
    middle = (low + high) / 2
    low, high = np.minimum(low, middle), np.maximum(high, middle)
    noise = options.noise
    return Ends(np.maximum(low - noise, 0), np.minimum(high + noise, 1), contradicted)


def _ends(
    residuals: Residuals, times: NDArray[np.int64], options: SequenceOptions, *, running: bool
) -> tuple[Floats, Floats]:
    if options.method == "betting":
        return betting_ends(
            residuals, times, alpha=options.alpha, goal=options.aim, running=running
        )
    if options.method == "empirical-bernstein":
        low, high = bernstein_ends(
            residuals, alpha=options.alpha, goal=options.aim, running=running
        )
    else:
        low, high = asymptotic_ends(
            residuals,
            alpha=options.alpha,
            tuned_for=options.tuned_for or _TUNED_FOR,
            goal=None if options.tuned_for else options.aim,
            running=running,
        )
    return low[:, times - 1], high[:, times - 1]
