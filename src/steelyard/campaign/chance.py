r"""Whether judged outputs look like a random sample of the pool, by a metric known on all of it.

A simple random sample of n out of N outputs has a mean metric that is off from the pool's by

.. math:: z = \frac{\bar g_n - \bar g_N}{\sqrt{S^2 (1/n - 1/N)}}

standard errors. How far chance takes it depends on the metric's tails, and small samples and skewed
metrics are far from normal. So the probability is bounded, not approximated: for every
:math:`\lambda`, with :math:`x_i = g_i - \bar g_N` over the pool,

.. math:: P(\bar g_n - \bar g_N \ge t)
          \le \exp\Bigl\{-n \bigl(\lambda t - \log \tfrac1N \textstyle\sum_i e^{\lambda x_i}\bigr)\Bigr\},

whatever the pool and however small n (Hoeffding 1963, theorem 4: draws without replacement are no
more spread out than draws with it). The outputs that are not judged are a simple random sample too,
off to the other side; the smaller of the two bounds counts.
"""

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Floats
from steelyard.single.pool import PoolMoments

__all__ = ["chance_bound", "standard_errors_off"]


# Shares of the tilt that is best for a normal metric; skewed ones have theirs elsewhere.
_TILTS = np.geomspace(0.05, 8, 24)


def standard_errors_off(metric: ArrayLike, pool: PoolMoments) -> Floats:
    """Return how far the means of judged outputs are off from the pool's, in standard errors.

    Parameters
    ----------
    metric : (n, p) array
        Metrics of the judged outputs, each output once.
    pool : PoolMoments
        The same metrics over the pool.

    Returns
    -------
    (p,) array
        Zero for a metric that is the same for all outputs, and when all of them are judged.

    Examples
    --------
    >>> pool = np.arange(100.0)
    >>> standard_errors_off(pool[60:, np.newaxis], PoolMoments.of(pool)).round(1)
    array([8.4])
    """
    judged = np.asarray(metric, dtype=np.float64)
    n, size = len(judged), pool.size
    deviation = np.sqrt(np.diag(pool.covariance))
    flat = deviation <= 1e-12 * np.maximum(np.abs(pool.low), np.abs(pool.high))
    if n >= size:
        return np.zeros(len(deviation))
    off = np.where(flat, 0.0, judged.mean(axis=0) - pool.mean)
    error = np.where(flat, 1.0, deviation) * np.sqrt(size / (size - 1) * (1 / n - 1 / size))
    return np.asarray(off / error)


def chance_bound(metric: ArrayLike, metric_pool: ArrayLike) -> float:
    """Return an upper bound on the probability that chance takes a sample this far off.

    Parameters
    ----------
    metric : (n,) array
        A metric of the judged outputs, each output once.
    metric_pool : (N,) array
        The metric of all outputs.

    Returns
    -------
    float
        Probability that the mean of n outputs, drawn simply at random, is as far from the pool's
        mean, on either side, or more.

    Examples
    --------
    >>> pool = np.arange(100.0)
    >>> chance_bound(pool[60:], pool) < 1e-6 < 0.1 < chance_bound(pool[::3], pool)
    True
    """
    values = np.asarray(metric_pool, dtype=np.float64)
    judged = np.asarray(metric, dtype=np.float64)
    n, size = len(judged), len(values)
    centred = values - values.mean()
    deviation = float(centred.std())
    off = float(judged.mean() - values.mean())
    if n >= size or off == 0 or deviation == 0:
        return 1.0
    centred *= np.sign(off) / deviation
    far = abs(off) / deviation
    bounds = (_log_tail(n, far, centred), _log_tail(size - n, far * n / (size - n), -centred))
    return float(min(2 * np.exp(min(bounds)), 1.0))


def _log_tail(n: int, distance: float, values: Floats) -> float:
    """Return the logarithm of the bound on a mean this far above that of `values`, which is 0."""
    greatest = float(values.max())
    found = 0.0
    for tilt in distance * _TILTS:
        # Relative to the greatest, so that nothing overflows.
        spread = tilt * greatest + float(np.log(np.mean(np.exp(tilt * (values - greatest)))))
        found = min(found, n * (spread - tilt * distance))
    return found
