"""Fractions that are 0 where nothing could be matched."""

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Floats

__all__ = ["f_measure", "fraction"]


def fraction(part: NDArray[np.number], whole: NDArray[np.number]) -> Floats:
    """Divide; 0 where `whole` is 0.

    Examples
    --------
    >>> fraction(np.array([1, 0]), np.array([2, 0]))
    array([0.5, 0. ])
    """
    result = np.zeros(len(whole))
    np.divide(part, whole, out=result, where=whole != 0)
    return result


def f_measure(precision: Floats, recall: Floats, *, beta: float = 1.0) -> Floats:
    r"""Harmonic mean of precision and recall, recall weighing :math:`\beta^2` times as much.

    :math:`F_\beta = (1 + \beta^2) P R / (\beta^2 P + R)`, and 0 where both are 0.

    Examples
    --------
    >>> f_measure(np.array([0.5, 0.0]), np.array([1.0, 0.0]))
    array([0.66666667, 0.        ])
    """
    weight = beta * beta
    return fraction((1 + weight) * precision * recall, weight * precision + recall)
