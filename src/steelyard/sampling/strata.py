"""Strata made from a metric."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.errors import InvalidArgumentError

__all__ = ["quantile_strata"]


def quantile_strata(metric: ArrayLike, count: int) -> NDArray[np.int64]:
    r"""Return the stratum, from 1, of each output when the metric is cut at its quantiles.

    An output of average rank :math:`r` among N goes to stratum
    :math:`\lfloor k (r - 1/2)/N \rfloor + 1`. Without ties the strata differ by one output at most;
    outputs with equal metrics always share a stratum, so that with many ties there are fewer
    strata than asked for.

    Parameters
    ----------
    metric : (N,) array
        Metric of every output of the pool.
    count : int
        Number of strata k.

    Returns
    -------
    (N,) array of int
        Strata 1, 2, ... in the order of the metric, none of them empty.

    Raises
    ------
    InvalidArgumentError
        If the metric is not finite or has one value only, or `count` is not from 2 to N.

    Examples
    --------
    >>> quantile_strata([0.1, 0.9, 0.5, 0.4, 0.8, 0.2], 3)
    array([1, 3, 2, 2, 3, 1])
    >>> quantile_strata([0, 0, 0, 1], 4)
    array([1, 1, 1, 2])
    """
    g = np.asarray(metric, dtype=np.float64)
    if g.ndim != 1 or not np.isfinite(g).all():
        raise InvalidArgumentError("`metric` must be one finite number an output of the pool")
    if not 2 <= count <= len(g):
        raise InvalidArgumentError(
            f"`quantiles` must be from 2 to the size of the pool, {len(g)}; got {count}"
        )
    _, code, ties = np.unique(g, return_inverse=True, return_counts=True)
    if len(ties) == 1:
        raise InvalidArgumentError(
            f"`metric` must vary to make strata; every output has {g[0]:g}: draw a simple sample"
        )
    # Twice the average rank minus one: whole numbers, so that no quantile falls to rounding.
    middle = 2 * np.cumsum(ties) - ties
    stratum = (count * middle) // (2 * len(g))
    return np.asarray(np.unique(stratum, return_inverse=True)[1][code] + 1, dtype=np.int64)
