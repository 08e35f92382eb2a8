"""Strata made from a metric, and how many outputs to judge in each."""

import numpy as np

from steelyard.errors import InvalidArgumentError
from steelyard.model.campaign import Floats, Ints

__all__ = ["allocation", "quantile_strata"]


def quantile_strata(metric: Floats, count: int) -> Ints:
    r"""Return the stratum, from 1, of each output when the metric is cut at its quantiles.

    An output of average rank :math:`r` among N goes to stratum
    :math:`\lfloor k (r - 1/2)/N \rfloor + 1`. Without ties the strata differ by one output at most;
    outputs with equal metrics always share a stratum, so that with many ties there are fewer
    strata than asked for.

    Raises
    ------
    InvalidArgumentError
        If the metric has one value only, or `count` is not from 2 to N.

    Examples
    --------
    >>> quantile_strata(np.array([0.1, 0.9, 0.5, 0.4, 0.8, 0.2]), 3)
    array([1, 3, 2, 2, 3, 1])
    """
    if not 2 <= count <= len(metric):
        raise InvalidArgumentError(
            f"the number of strata must be from 2 to the size of the pool, {len(metric)}; got {count}"
        )
    _, code, ties = np.unique(metric, return_inverse=True, return_counts=True)
    if len(ties) == 1:
        raise InvalidArgumentError(
            f"a metric must vary to make strata; every output has {metric[0]:g}: draw a simple sample"
        )
    # Twice the average rank minus one: whole numbers, so that no quantile falls to rounding.
    middle = 2 * np.cumsum(ties) - ties
    stratum = (count * middle) // (2 * len(metric))
    return np.asarray(np.unique(stratum, return_inverse=True)[1][code] + 1, dtype=np.int64)


def allocation(n: int, sizes: Ints, *, at_least: Ints) -> Ints:
    r"""Return the whole numbers of outputs that give a stratified mean the least variance.

    Of all :math:`n_h` that sum to n with :math:`\min(2, N_h) \le n_h \le N_h`, those that minimise
    :math:`\sum_h N_h^2 / n_h` exactly: beginning from the least, each further output goes to
    the stratum with the greatest :math:`N_h / \sqrt{n_h (n_h + 1)}` (Wright 2017).

    Parameters
    ----------
    n : int
        Number of outputs to draw, at most the pool's.
    sizes : (H,) array of int
        Number of outputs in each stratum, :math:`N_h`.
    at_least : (H,) array of int
        Outputs already drawn, which an extension keeps.

    Raises
    ------
    InvalidArgumentError
        If n is below two for each stratum.

    Examples
    --------
    >>> allocation(10, np.array([20, 80]), at_least=np.zeros(2, int))
    array([2, 8])
    """
    found = np.maximum(np.minimum(2, sizes), at_least)
    if n < found.sum():
        raise InvalidArgumentError(
            f"`n` must be at least {found.sum()}, two outputs in each of {len(sizes)} strata and those "
            f"already drawn; got {n}: draw more, or use fewer strata"
        )

    stratum = np.repeat(np.arange(len(sizes)), sizes - found)
    count = np.concatenate([np.arange(low, high) for low, high in zip(found, sizes, strict=True)])
    size = sizes[stratum]
    # of equal worth, the larger stratum comes first
    order = np.lexsort((stratum, -size, -size / np.sqrt(count * (count + 1.0))))
    found = found + np.bincount(stratum[order[: n - found.sum()]], minlength=len(sizes))
    return np.asarray(found)
