r"""Intervals by betting: exact at every moment for scores between 0 and 1 (Waudby-Smith and Ramdas 2024).

Against a candidate mean m a gambler stakes a share of her capital on the next score,

.. math:: K_t^\pm(m) = \prod_{s \le t} \bigl(1 \pm \lambda_s^\pm(m) (y_s - \mu_s(m))\bigr),

where :math:`\mu_s(m)` is the mean of what is left if the mean of all is m: m itself with replacement, and
:math:`(N m - \sum_{r<s} y_r) / (N - s + 1)` of N outputs without. If m is the mean, the game is fair, and
by Ville's inequality the capital ever reaches :math:`2/\alpha` with probability at most
:math:`\alpha/2`. The candidates against which neither capital ever did are an interval, because every
factor of :math:`K^+` falls as m rises and every factor of :math:`K^-` rises.
"""

import numpy as np
from scipy.special import logsumexp

from steelyard.arrays import Floats

__all__ = ["betting_interval"]


# A bet may lose at most this share of the capital.
_LOSS = 0.75
_HALVINGS = 30
# Numbers of scores that gamblers have in mind.
_HORIZONS = 25.0 * 4.0 ** np.arange(6)


def betting_interval(
    score: Floats, *, alpha: float, pool_size: int | None = None
) -> tuple[float, float]:
    """Return the ends of the sequence after the last score.

    Parameters
    ----------
    score : (t,) array
        Scores between 0 and 1, in the order of the draw.
    alpha : float
        Probability with which the sequence may ever miss the mean.
    pool_size : int, optional
        Number of outputs, of which each is drawn once; None where they are drawn with replacement.

    Examples
    --------
    >>> low, high = betting_interval(np.tile([0.0, 1.0], 100), alpha=0.05)
    >>> round(low, 3), round(high, 3)
    (0.389, 0.611)
    """
    low, high = _reachable(score, pool_size)
    bet = _bets(score, alpha, pool_size)
    found = (
        _end(score, bet, alpha, pool_size, sign=sign, outside=outside, inside=inside)
        for sign, outside, inside in ((1, low, high), (-1, high, low))
    )
    below, above = found
    return (below, above) if below <= above else (low, high)


def _reachable(score: Floats, pool_size: int | None) -> tuple[float, float]:
    """Return the least and the greatest mean that all outputs together can still have."""
    if pool_size is None:
        return 0.0, 1.0
    total = float(score.sum())
    return total / pool_size, (total + pool_size - len(score)) / pool_size


def _bets(score: Floats, alpha: float, pool_size: int | None) -> Floats:
    """Return the stakes of each gambler on each score, from the scores before it, (gamblers, t).

    A stake is best for one number of scores, so the capital is divided among gamblers who have different
    ones in mind. Without replacement what is left moves faster than the mean of all, and so do stakes.
    """
    t = np.arange(1, len(score) + 1)
    mean = (0.5 + np.cumsum(score)) / (t + 1)
    variance = (0.25 + np.cumsum((score - mean) ** 2)) / (t + 1)
    before = np.concatenate([[0.25], variance[:-1]])
    most = np.inf if pool_size is None else max(2 * pool_size, 2 * _HORIZONS[0])
    horizon = _HORIZONS[most > _HORIZONS]
    stake = np.sqrt(2 * np.log(2 / alpha) / (before * horizon[:, np.newaxis]))
    faster = 1.0 if pool_size is None else pool_size / (pool_size - t + 1)
    return np.asarray(stake * faster)


def _end(
    score: Floats,
    bet: Floats,
    alpha: float,
    pool_size: int | None,
    *,
    sign: int,
    outside: float,
    inside: float,
) -> float:
    """Return the last candidate that is ruled out, coming from outside."""
    before = np.concatenate([[0.0], np.cumsum(score)[:-1]])
    left = np.full(len(score), np.inf) if pool_size is None else pool_size - np.arange(len(score))

    def ruled_out(mean: float) -> bool:
        expected = np.full(len(score), mean)
        if pool_size is not None:
            expected = (pool_size * mean - before) / left
        worst = np.maximum(expected if sign > 0 else 1 - expected, 1e-12)
        factor = 1 + sign * np.minimum(bet, _LOSS / worst) * (score - expected)
        capital = np.cumsum(np.log(np.maximum(factor, 1e-300)), axis=1)
        together = logsumexp(capital, axis=0) - np.log(len(bet))
        return bool(together.max(initial=-np.inf) >= np.log(2 / alpha))

    if not ruled_out(outside):
        return outside
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        if ruled_out(middle):
            outside = middle
        else:
            inside = middle
    return outside
