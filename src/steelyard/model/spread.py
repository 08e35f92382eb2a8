"""The spread of each system's judgments, moderated towards the others'."""

import numpy as np
from scipy.special import digamma, polygamma

from steelyard.model.campaign import Floats

__all__ = ["lent_by", "moderated"]

_MOST = 1e3


def moderated(squares: Floats, freedom: Floats) -> tuple[Floats, float]:
    """Moderate variances towards a common one (Smyth 2004).

    Variances are taken for draws from a scaled inverse chi-square, whose degrees of freedom and centre
    are found from the mean and the variance of their logarithms.

    Parameters
    ----------
    squares : (k,) array
        Variances.
    freedom : (k,) array
        Degrees of freedom of each.

    Returns
    -------
    (k,) array, float
        The moderated variances, and the degrees of freedom that the others lend; 0 for fewer than three systems.
    """
    known = freedom > 0
    if not known.any():
        return np.ones(len(squares)), 0.0
    common = float(np.average(squares[known], weights=freedom[known]))
    v = _with_floor(squares[known], freedom[known] + 1)
    if known.sum() < 3:
        found = np.full(len(squares), common)
        found[known] = v
        return found, 0.0
    half = freedom[known] / 2
    log = np.log(v) - digamma(half) + np.log(half)
    excess = np.var(log, ddof=1) - np.mean(polygamma(1, half))
    lent = lent_by(float(excess))
    common = float(np.exp(log.mean()))
    if lent < _MOST:
        common *= float(np.exp(digamma(lent / 2) - np.log(lent / 2)))
    all_squares = np.full(len(squares), common)
    all_squares[known] = v
    weight = np.where(known, freedom, 0.0)
    return (lent * common + weight * all_squares) / (lent + weight), lent


def lent_by(excess: float) -> float:
    """Return the degrees of freedom of an inverse chi-square whose logarithm has this variance."""
    if excess <= 0:
        return _MOST
    x = 0.5 + 1 / excess
    for _ in range(50):
        x += polygamma(1, x) * (1 - polygamma(1, x) / excess) / polygamma(2, x)
    return float(min(2 * x, _MOST))


def _with_floor(squares: Floats, n: Floats) -> Floats:
    """Raise variances of systems whose judgments are all equal.

    Of n judgments that are all equal, up to 3 of n could have been others (Hanley and Lippman-Hand 1983),
    which would differ as the judgments of the other systems do.
    """
    least = 1e-4 * np.mean(squares)
    varied = squares > 1e-12 * squares.max()
    if varied.all():
        return np.maximum(squares, least)
    common = float(np.average(squares[varied], weights=n[varied]))
    return np.maximum(np.where(varied, squares, 3 / (n + 3) * common), least)
