r"""Draws with equal probabilities that are spread over the pool, along a value or over several.

Along one value, outputs fight duels in its order (the ordered pivotal method: Deville and Tille 1998; Chauvet 2012). Each
starts with the chance :math:`n/N`. The first two play; one of them is out, or is drawn; and the one that keeps a chance plays against
the next. Every output is drawn with probability exactly :math:`n/N`, and each run of :math:`N/n` neighbours has about one
output in the sample. Over several values, neighbours play (`local_pivotal`).
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.design.local_pivotal import Won, local_pivotal, tour
from steelyard.errors import InvalidArgumentError

__all__ = ["common_value", "ordered_pivotal", "spread_order", "spread_sample"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Which of some outputs, given along the order, make up so large a part of them.
Part = Callable[[Sequence[int], int], list[int]]


def spread_sample(by: ArrayLike, n: int, *, rng: np.random.Generator) -> tuple[Integers, Floats]:
    r"""Draw n outputs that are spread over values, in an order of which each first part is spread.

    Parameters
    ----------
    by : (N,) or (N, p) array
        What to spread over: one value of each output, such as a metric, or several. Ties are put in
        random order.
    n : int
        Number of outputs to draw.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    positions : (n,) array of int
        The drawn outputs. Output i is among the first k with probability exactly :math:`k/N`, for
        every k.
    place : (n,) array
        Between 0 and 1: where each lies in the order of the value, ties at their mean; or, of several
        values, on a tour from neighbour to neighbour.

    Raises
    ------
    InvalidArgumentError
        If values are not finite, or the same for all outputs.

    Examples
    --------
    >>> drawn, _ = spread_sample(np.arange(100), 4, rng=np.random.default_rng(1))
    >>> (np.sort(drawn) // 25).tolist()
    [0, 1, 2, 3]
    """
    x = np.asarray(by, dtype=np.float64)
    if x.ndim not in {1, 2} or not np.isfinite(x).all():
        raise InvalidArgumentError("`by` must be finite numbers, one or several for each output")
    if len(x) > 1 and not np.ptp(x, axis=0).any():
        raise InvalidArgumentError(
            "`by` must vary to spread a draw over it; every output has the same: draw a simple sample"
        )

    def won(weight: int, total: int) -> bool:
        return rng.random() * total < weight

    if x.ndim == 1:
        along = np.lexsort((rng.random(len(x)), x))

        def part(places: Sequence[int], count: int) -> list[int]:
            return [places[one] for one in sorted(ordered_pivotal(len(places), count, won))]

        drawn = along[spread_order(part(range(len(x)), n), part)]
        return drawn, _places_along(x)[drawn]

    def near(places: Sequence[int], count: int) -> list[int]:
        found = local_pivotal(x[list(places)], count, won, lambda below: int(rng.integers(below)))
        return [places[one] for one in found]

    drawn = np.array(spread_order(near(range(len(x)), n), near), dtype=np.int64)
    place = np.empty(n)
    place[tour(x[drawn])] = (np.arange(n) + 0.5) / n
    return drawn, place


def common_value(values: Floats) -> Floats:
    """Return what columns (N, p) have most in common, whatever way they point: the first component.

    Examples
    --------
    >>> common_value(np.array([[1.0, -2.0], [2.0, -4.0], [6.0, -12.0]])).round(2).tolist()
    [-1.31, -0.65, 1.96]
    """
    z = (values - values.mean(axis=0)) / values.std(axis=0)
    leading = np.linalg.eigh(z.T @ z)[1][:, -1]
    # The sign is arbitrary; the first column's is kept.
    return np.asarray(z @ leading * (-1 if leading[0] < 0 else 1))


def ordered_pivotal(size: int, n: int, won: Won) -> list[int]:
    r"""Return which n of the places 0, ..., size - 1 are drawn, each with probability n/size.

    Chances are whole numbers of 1/size, so nothing is rounded. Of two places with chances a and b, of
    which the sum is below 1, one gets all of it: the first with probability :math:`a/(a+b)`. Otherwise one is
    drawn, the first with probability :math:`(1-b)/(2-a-b)`, and the other keeps what is beyond 1.

    Parameters
    ----------
    size, n : int
        Places, and how many to draw.
    won : callable
        Called with a weight and a total: whether something of that probability happens.
    """
    if n == size:
        return list(range(size))
    drawn = []
    here, chance = 0, n
    for other in range(1, size):
        both = chance + n
        if both < size:
            here = here if won(chance, both) else other
            chance = both
        else:
            first = won(size - n, 2 * size - both)
            drawn.append(here if first else other)
            here, chance = (other if first else here), both - size
    return drawn


def spread_order(places: Sequence[int], part: Part) -> list[int]:
    """Return drawn outputs in an order such that each first part of it is spread.

    One half is drawn as the whole was, spread over it, and goes first; either half is put in order
    in the same way. So the first k are at most log2(n) + 1 samples, each spread by itself.
    """
    if len(places) < 2:
        return list(places)
    first = part(places, (len(places) + 1) // 2)
    others = set(first)
    rest = [one for one in places if one not in others]
    return spread_order(first, part) + spread_order(rest, part)


def _places_along(x: Floats) -> Floats:
    """Return the place of each output in the order, between 0 and 1; ties share their mean."""
    _, code, ties = np.unique(x, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(ties) - ties / 2)[code] / len(x))
