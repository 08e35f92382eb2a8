"""Student's distribution by its upper tail; `scipy.stats` has the same and takes long to import."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

__all__ = ["student_reach"]


def student_reach(tail: ArrayLike, freedom: ArrayLike) -> NDArray[np.float64]:
    """Return the value that Student's t exceeds with this probability; infinite for 0.

    Examples
    --------
    >>> student_reach([0.025, 0.0], 10).round(3)
    array([2.228,   inf])
    """
    tails = np.asarray(tail, dtype=np.float64)
    return np.asarray(np.where(tails > 0, -stdtrit(freedom, tails), np.inf))
