"""The spread of each system's judgments, moderated towards the others', and how long tails are."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import digamma, polygamma

from steelyard.errors import NotEstimableError
from steelyard.model.campaign import Campaign, Floats

__all__ = [
    "Spread",
    "freedom_of",
    "half_scale",
    "least_noise",
    "lent_by",
    "moderated",
    "raw_squares",
    "spread_of",
]

_MOST = 1e3
# Kurtosis and moderated spreads depend on each other: so many rounds are enough.
_ROUNDS = 3
# Where squares rest on one judgment alone, their mean says at least this share of what it would for normal ones.
_LEAST_KNOWN = 0.1
# Scores that have so many times fewer values than there are judgments are levels of a scale.
_LEVELS = 4


@dataclass(frozen=True, eq=False)
class Spread:
    """The spread of each system's judgments.

    Attributes
    ----------
    variance : (k,) array
        Variances, moderated towards a common one.
    lent : float
        Degrees of freedom that the systems lend each other.
    kurtosis : float
        Excess kurtosis of the judgments, never below 0: the longer the tails, the less squares show.
    """

    variance: Floats
    lent: float
    kurtosis: float


def spread_of(
    residual: Floats, own: Floats | csr_array, squares: Floats, freedom: Floats
) -> Spread:
    """Moderate variances of judgments whose tails may be long.

    A sum of squares of normal judgments has the variance of chi-square; with an excess kurtosis of g it is
    1 + g / 2 times that, so that it is worth so many times fewer degrees of freedom. The kurtosis is that of all
    systems' residuals, each over its moderated spread.

    Parameters
    ----------
    residual : (n,) array
        What is left of each judgment.
    own : (n, k) array
        The share of each system in each judgment.
    squares, freedom : (k,) arrays
        Variances, and degrees of freedom of each.
    """
    kurtosis = 0.0
    variance, lent = moderated(squares, freedom)
    moments = _moments(residual, csr_array(own))
    for _ in range(_ROUNDS):
        kurtosis = _kurtosis(*moments, variance)
        n = np.maximum(freedom, 1e-9)
        variance, lent = moderated(
            squares, np.where(freedom > 0, n / (1 + kurtosis * n / (2 * n + 2)), 0.0)
        )
    return Spread(variance, lent, kurtosis)


def _moments(residual: Floats, own: csr_array) -> tuple[Floats, Floats, Floats]:
    """Return the number of residuals that are one system's alone, and their second and fourth moments."""
    k, alone = own.shape[1], own.data == 1
    system = own.indices[alone]
    value = np.repeat(residual, np.diff(own.indptr))[alone]
    n = np.bincount(system, minlength=k).astype(np.float64)
    several = np.maximum(n, 1)
    off = value - (np.bincount(system, value, minlength=k) / several)[system]
    second, fourth = (np.bincount(system, off**power, minlength=k) / several for power in (2, 4))
    return n, second, fourth


def _kurtosis(n: Floats, second: Floats, fourth: Floats, variance: Floats) -> float:
    """Return the excess kurtosis of residuals: the pooled fourth cumulant over the pooled squared variance (Fisher 1930).

    The squared variance is corrected for its own error, which grows with the kurtosis; the whole is shrunk by what chance
    would show of normal judgments, 24 / n.
    """
    known = (n > 3) & (second > 1e-12 * second.max(initial=0.0))
    if not known.any():
        return 0.0
    n, second = n[known], second[known] / variance[known]
    fourth = fourth[known] / variance[known] ** 2
    square = (n / (n - 1) * second) ** 2
    cumulant = n**2 * ((n + 1) * fourth - 3 * (n - 1) * second**2)
    cumulant /= (n - 1) * (n - 2) * (n - 3)
    ratio = max(float(n @ cumulant) / float(n @ square), 0.0)
    usual = float(n @ n / n.sum())
    found = ratio * (1 + 2 / (usual - 1)) / max(1 - ratio / usual, _LEAST_KNOWN)
    return float(found**3 / (found**2 + 24 / n.sum()))


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
        value = polygamma(1, x)
        step = value * (1 - value / excess) / polygamma(2, x)
        x += step
        if abs(step) <= 1e-12 * x:
            break
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


def least_noise(campaign: Campaign) -> float:
    """Return the share of noise that no judgments can exclude.

    Of n judgments with a few possible values that are all as expected, up to 3 of n could have been others
    (Hanley and Lippman-Hand 1983). One judgment of each item that was judged for several systems shows only how
    hard the item is. Scores that hardly repeat show their noise themselves.
    """
    n = campaign.n
    if campaign.other is None:
        if _LEVELS * len(np.unique(campaign.score)) > n:
            return 0.0
        texts = np.bincount(campaign.item[np.unique(campaign.output)])
        n -= int(np.count_nonzero(texts > 1))
    return 3 / (n + 3)


def half_scale(campaign: Campaign) -> float:
    """Return half the length of the scale, where judgments show nothing of their spread."""
    if campaign.scale_ends is None:
        raise NotEstimableError(
            "all judgments of each system are equal, so nothing shows how much judgments vary: judge more, "
            "or give the ends of the scale (--bounds)"
        )
    low, high = campaign.scale_ends
    return (high - low) / 2


def freedom_of(campaign: Campaign) -> Floats:
    """Judged texts of each system less one."""
    wrote = campaign.writer_rows[np.unique(campaign.output)] > 0
    return np.asarray(np.maximum(wrote.sum(axis=0) - 1.0, 0.0))


def raw_squares(campaign: Campaign) -> Floats:
    """The variance of each system's judgments."""
    own = campaign.contrast
    mass = np.maximum(own.sum(axis=0), 1e-300)
    mean = (own.T @ campaign.score) / mass
    off = campaign.score[np.repeat(np.arange(campaign.n), np.diff(own.indptr))] - mean[own.indices]
    squares = np.bincount(own.indices, own.data * off**2, minlength=campaign.k)
    n = freedom_of(campaign) + 1
    return np.asarray(squares / mass * n / np.maximum(n - 1, 1))
