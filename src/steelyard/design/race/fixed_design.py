r"""Fixed designs beside a race: all systems are judged on the same n items, and then everything is decided or not.

Pairs are decided by one-sided paired t tests with the finite-pool correction: for the best system the leader against each of the
others at :math:`\alpha/(K-1)`, for an order all pairs at the same level, as only true neighbours can be
mistaken, and for differences all m pairs at :math:`\alpha/m`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from steelyard.design.race.options import RaceOptions

__all__ = ["fixed_decisions"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def fixed_decisions(scores: Floats, numbers: Sequence[int], options: RaceOptions) -> Bools:
    """Return in which campaigns so many items decide; (R, numbers).

    Parameters
    ----------
    scores : (R, N, K) array
        All scores of R pools, in the order of the draw.
    numbers : sequence of int
        Numbers of items, in ascending order, at least 2.
    options : RaceOptions
        Goal, margin and level of the race.

    Examples
    --------
    >>> scores = np.array([[[0.9, 0.1], [0.7, 0.3], [0.9, 0.2], [0.5, 0.0], [0.4, 0.4]]])
    >>> fixed_decisions(scores, [2, 3, 4], RaceOptions()).tolist()
    [[False, True, True]]
    """
    runs, size, systems = scores.shape
    total = np.zeros((runs, systems))
    products = np.zeros((runs, systems, systems))
    found, before = [], 0
    for n in numbers:
        part = scores[:, before:n]
        total += part.sum(axis=1)
        products += part.transpose(0, 2, 1) @ part
        before = n
        mean = (total[:, :, np.newaxis] - total[:, np.newaxis, :]) / n  # [a, b]: a less b
        own = np.diagonal(products, axis1=1, axis2=2)
        squares = own[:, :, np.newaxis] + own[:, np.newaxis, :] - 2 * products
        variance = np.maximum(squares - n * mean**2, 0) / (n - 1)
        error = np.sqrt(variance * (1 / n - 1 / size))
        found.append(_decided(mean, error, n, options))
    return np.stack(found, axis=1)


def _decided(mean: Floats, error: Floats, n: int, options: RaceOptions) -> Bools:
    systems = mean.shape[1]
    tests = systems * (systems - 1) / 2 if options.goal == "difference" else systems - 1
    reach = float(stdtrit(n - 1, 1 - options.alpha / tests)) * error
    if options.goal == "best":
        # The leader is ahead of every other, or at most the margin behind.
        ahead = mean - reach > -(options.margin or 0)
        leader = mean.sum(axis=2).argmax(axis=1)
        own = np.arange(systems) == leader[:, np.newaxis]
        chosen = np.take_along_axis(ahead, leader[:, np.newaxis, np.newaxis], axis=1)[:, 0]
        return np.asarray((chosen | own).all(axis=1))
    decided = np.abs(mean) > reach
    if options.goal == "difference":
        decided |= np.abs(mean) + reach < (options.margin or 0)
    return np.asarray((decided | np.eye(systems, dtype=bool)).all(axis=(1, 2)))
