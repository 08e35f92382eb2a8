"""Ways to estimate the systems of a drawn campaign, each as error, low and high about the truth."""

import numpy as np
from scipy.special import stdtrit

from benchmarks.replays import drawn
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.options import Options


def replay(campaigns, n, *, shared, runs):
    """Return, by contestant, errors, lows and highs about the truth, (runs, k, 3)."""
    rng = np.random.default_rng(n)
    draws = [
        drawn(campaigns[run % len(campaigns)], n, shared=shared, rng=rng) for run in range(runs)
    ]
    plain = np.array([[plain_t(one) for one in systems] for systems in draws])
    single = np.array([[least_squares(one) for one in systems] for systems in draws])
    best = int(np.nanargmin(squared_error(single).mean(axis=(0, 1))))
    found = {"plain t": plain, "best metric": single[:, :, best]}
    found["fixed"] = np.array([default(systems, raters=False) for systems in draws])
    if draws[0][0].raters is not None:
        found["adjusted"] = np.array([default(systems) for systems in draws])
    return found


def _around(one, estimate, low, high):
    """Return error, low and high about the truth, in standard deviations of human scores."""
    return (np.array([estimate, low, high]) - one.system.truth) / one.system.human.std()


def plain_t(one):
    n = len(one.human)
    reach = stdtrit(n - 1, 0.975) * one.human.std(ddof=1) / np.sqrt(n)
    mean = one.human.mean()
    return _around(one, mean, mean - reach, mean + reach)


def least_squares(one):
    """Least squares on each metric alone, (p, 3); `control_variates` gives the same (slope "least-squares")."""
    n, y, x = len(one.human), one.human, one.metrics
    centred, rest = x - x.mean(axis=0), y - y.mean()
    size = (centred**2).sum(axis=0)
    known = size > 1e-12 * np.maximum((x**2).sum(axis=0), 1e-300)
    slope = np.divide(centred.T @ rest, size, out=np.zeros_like(size), where=known)
    gap = x.mean(axis=0) - one.system.pool.mean
    estimate = y.mean() - slope * gap
    squares = ((rest[:, None] - centred * slope) ** 2).sum(axis=0) / (n - 2)
    leverage = 1 / n + np.divide(gap**2, size, out=np.zeros_like(size), where=known)
    reach = stdtrit(n - 2, 0.975) * np.sqrt(squares * leverage)
    return _around(one, estimate, estimate - reach, estimate + reach).T


def default(systems, *, raters=True):
    options = Options(raters_as="adjusted" if raters else "fixed")
    found = campaign_means([one.judged(raters=raters) for one in systems], options=options)
    return [
        plain_t(one)
        if isinstance(got, Exception)
        else _around(one, got.estimate, got.low, got.high)
        for one, got in zip(systems, found, strict=True)
    ]


def squared_error(found):
    return found[..., 0] ** 2


def held(found):
    """Share of intervals that hold the truth."""
    return ((found[..., 1] <= 0) & (found[..., 2] >= 0)).mean()


def width(found):
    return (found[..., 2] - found[..., 1]).mean()
