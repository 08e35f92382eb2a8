"""What the learned control of a planned campaign will take out."""

import numpy as np

from steelyard.design.assumptions import Values
from steelyard.design.later_sample import Number

__all__ = ["left_variance"]


def left_variance(values: Values, n_metrics: int, *, noise: float, n: int) -> Number:
    """Return the item variance that a control learned from n units leaves.

    The learned control is slow to trust few items: of what metrics could explain it takes the share
    x / (x + 2 + log2(1 + p)), with x the ratio of signal and noise in the sum of n units. Fitted to
    simulation.

    Parameters
    ----------
    values : Values
        Variances and correlation.
    n_metrics : int
        Number p of metrics.
    noise : float
        Share of the rater variance in the mean of an output's judgments.
    n : int
        Judged outputs, or pairs.
    """
    item = np.asarray(values.item, dtype=np.float64)
    explained = item * np.square(values.correlation)
    rest = item - explained + values.rater * noise
    signal = n * np.divide(
        explained, rest, out=np.full_like(explained + rest, np.inf), where=rest > 0
    )
    slow = 2 + np.log2(1 + n_metrics)
    share = np.where(np.isfinite(signal), signal / (signal + slow), 1.0) if n_metrics else 0.0
    return np.asarray(item - explained * share)
