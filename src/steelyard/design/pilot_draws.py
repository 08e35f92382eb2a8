r"""Draws from what a pilot tells of variances and correlation, under weak priors.

The variance of single judgments is known as well as its mean squares by output show. Mean squares between and within
outputs make the likelihood of the share of item variance in it, which has a uniform prior. The correlation of control and mean
judgment is zero with probability one fifth, and otherwise anything, before the pilot speaks. Systems differ in spread as
far as the pilot shows it. Derived in docs/methods/planning.md.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, polygamma

from steelyard.design.assumptions import Values
from steelyard.design.later_sample import variance_freedom
from steelyard.design.pilot import Pilot
from steelyard.estimate.borrowed import MIN_SYSTEMS

__all__ = ["pilot_draws"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_DRAWS = 1000
_SEED = 20
# Shares of item variance that are tried.
_SHARES = (np.arange(400) + 0.5) / 400
# Short tails make a variance known as if by so many times the outputs, at most.
_SHORT = 4.0
# Before the pilot speaks: a control without worth, or one whose correlation has this spread.
_WORTHLESS, _CORRELATED = 0.2, 0.7
# Before the pilot speaks: the standard deviation, over systems, of the logarithm of their variances.
_APART = 0.5
# Before the pilot speaks, leniency is a fifth of the rater variance: the share is Beta(1, 4).
_LENIENT = 3


def pilot_draws(pilot: Pilot) -> Values:
    """Return draws of variances, correlation and leniency that go with a pilot.

    Parameters
    ----------
    pilot : Pilot
        Its judged outputs, some of them judged more than once.

    Returns
    -------
    Values
        Draws, (1000,) each, the same each time.
    """
    rng = np.random.default_rng(_SEED)
    share, total = _components(pilot, rng)
    spreads = _system_spreads(pilot, total, rng)
    chosen = rng.integers(0, spreads.shape[1], _DRAWS)
    total = spreads[np.arange(_DRAWS), chosen]
    item, rater = total * share, total * (1 - share)
    correlation: float | Floats = 0.0
    if np.ptp(pilot.control) > 0:
        explained = _correlations(pilot, rng) ** 2 * (item + rater / pilot.each)
        correlation = np.sqrt(np.minimum(explained / np.maximum(item, 1e-300), 0.98))
    lenient: float | Floats = 0.0
    if pilot.raters:
        lenient = _leniencies(pilot, rng)
        if pilot.systems >= MIN_SYSTEMS:
            # As `estimate` has it: leniency counts in proportion to a system's spread.
            lenient = lenient * total / spreads.mean(axis=1)
    return Values(item, rater, correlation, lenient, _others(spreads, chosen))


def _others(spreads: Floats, chosen: Integers) -> Floats | None:
    """Return the variances (D, k - 1) of the other systems over that of the chosen one."""
    k = spreads.shape[1]
    if k == 1:
        return None
    others = (chosen[:, np.newaxis] + np.arange(1, k)) % k
    own = spreads[np.arange(_DRAWS), chosen]
    return np.asarray(np.take_along_axis(spreads, others, axis=1) / own[:, np.newaxis])


def _components(pilot: Pilot, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return draws of the share of item variance in that of single judgments, and of the latter."""
    # Long tails make the two mean squares less certain; of two scores none does.
    known = (1 + pilot.share**2) / pilot.doubt
    known = min(known, 1.0 if pilot.two_scores else _SHORT)
    freedoms = known * np.array([len(pilot.mean) - pilot.systems, float((pilot.count - 1).sum())])
    grown = 1 + pilot.each * _SHARES / (1 - _SHARES)
    within = np.full(len(grown), pilot.rater_variance)
    squares = np.maximum(freedoms @ np.array([pilot.between / grown, within]), 1e-300)
    log = -freedoms[0] * np.log(grown) - freedoms.sum() * np.log(squares)
    weight = np.exp((log - log.max()) / 2)
    at = rng.choice(len(_SHARES), _DRAWS, p=weight / weight.sum())
    rater = squares[at] / rng.chisquare(freedoms.sum(), _DRAWS)
    return _SHARES[at], rater / (1 - _SHARES[at])


def _system_spreads(pilot: Pilot, total: Floats, rng: np.random.Generator) -> Floats:
    """Return draws (D, k) of the variance of single judgments of each system."""
    if pilot.two_scores:
        return _two_scores(pilot, rng)
    ratio = _ratios(pilot, rng)
    return np.asarray(total[:, np.newaxis] * ratio / ratio.mean(axis=1, keepdims=True))


def _two_scores(pilot: Pilot, rng: np.random.Generator) -> Floats:
    """Return the variances p (1 - p) of two scores, with p from Jeffreys' prior.

    Judgments of one output go together, so each counts less than one.
    """
    least, greatest = pilot.ends
    names, position = np.unique(pilot.system, return_inverse=True)
    count = np.bincount(position, pilot.count)
    high = np.bincount(position, pilot.count * (pilot.mean - least) / (greatest - least))
    worth = count / (1 + (count / np.bincount(position) - 1) * pilot.share)
    share = high / count
    p = rng.beta(0.5 + worth * share, 0.5 + worth * (1 - share), (_DRAWS, len(names)))
    # The share that is seen, and a draw around it, each have a variance that is 1 / n too small.
    found = np.minimum(p * (1 - p) * (1 + 2 / worth), 0.25)
    return np.asarray((greatest - least) ** 2 * found)


def _ratios(pilot: Pilot, rng: np.random.Generator) -> Floats:
    """Return draws (D, k) of systems' variances over a common one.

    Logarithms of variances are normal around a common one, with a standard deviation that has a
    half-normal prior. The pilot shows each with the error that its degrees of freedom give.
    """
    names, position = np.unique(pilot.system, return_inverse=True)
    k = len(names)
    if k == 1:
        return np.ones((_DRAWS, 1))
    residual = pilot.around(pilot.mean - pilot.control)
    n = np.bincount(position)
    own = np.bincount(position, residual**2) / np.maximum(n - 1, 1)
    freedom = np.array(
        [variance_freedom(max(one - 1.0, 1.0), max(one, 2), pilot.tails) for one in n]
    )
    known = own > 1e-9 * own.max()
    log = np.log(own, out=np.zeros(k), where=known) - digamma(freedom / 2) + np.log(freedom / 2)
    error = np.where(known, polygamma(1, freedom / 2), 1e6)
    # A grid of standard deviations between systems, with the common logarithm integrated out.
    apart = np.linspace(0.01, 4 * _APART, 200)
    weight = 1 / (error + apart[:, np.newaxis] ** 2)
    middle = weight @ log / weight.sum(axis=1)
    fit = (weight * (log - middle[:, np.newaxis]) ** 2 - np.log(weight)).sum(axis=1)
    fit += np.log(weight.sum(axis=1)) + (apart / _APART) ** 2
    chance = np.exp((fit.min() - fit) / 2)
    at = rng.choice(len(apart), _DRAWS, p=chance / chance.sum())
    common = rng.normal(middle[at], 1 / np.sqrt(weight.sum(axis=1)[at]))
    prior = apart[at, np.newaxis] ** -2
    precision = 1 / error + prior
    pulled = (log / error + prior * common[:, np.newaxis]) / precision
    drawn = rng.normal(pulled, 1 / np.sqrt(precision))
    return np.asarray(np.exp(drawn - common[:, np.newaxis]))


def _correlations(pilot: Pilot, rng: np.random.Generator) -> Floats:
    """Return draws of the correlation of control and mean judgment within systems."""
    error = 1 / max(len(pilot.mean) - pilot.systems - 2, 1)
    seen = np.arctanh(np.sqrt(np.clip(pilot.explained, 0.0, 0.99)))
    # Evidence for a normal prior of the transformed correlation against none at all.
    total = error + _CORRELATED**2
    evidence = min(seen**2 / 2 * (1 / error - 1 / total), 700.0)
    against = np.sqrt(error / total) * np.exp(evidence)
    worthless = _WORTHLESS / (_WORTHLESS + (1 - _WORTHLESS) * against)
    kept = _CORRELATED**2 / total
    drawn = np.tanh(np.abs(rng.normal(kept * seen, np.sqrt(kept * error), _DRAWS)))
    return np.where(rng.uniform(size=_DRAWS) < worthless, 0.0, drawn)


def _leniencies(pilot: Pilot, rng: np.random.Generator) -> Floats:
    r"""Return draws of the variance b between the raters of the campaign, who are those of the pilot and new ones.

    With :math:`\nu` the noise in a rater's mean and u the share of new raters, the mean square between the R raters
    of the pilot is :math:`b + \nu` with a variance of :math:`(2\nu^2 + 4\nu b + 2ub^2)/(R - 1)`. Before the pilot speaks,
    the share of b in the rater variance is Beta(1, 4).
    """
    b = _SHARES * pilot.rater_variance
    log = _LENIENT * np.log(1 - _SHARES)
    if pilot.leniency_error > 0:
        half = max(pilot.raters - 1, 1.0) / 2
        # Of raters drawn anew it would vary by (b + noise)^2 / half.
        noise = max(pilot.leniency_error * np.sqrt(half) - pilot.leniency, 0.0)
        noise = max(noise, 0.05 * (pilot.leniency + noise))
        shape = half * (b + noise) ** 2 / (noise**2 + 2 * noise * b + pilot.new_raters * b**2)
        seen = (pilot.leniency + noise) / (b + noise)
        log = log + shape * (np.log(shape * seen) - seen) - gammaln(shape)
    weight = np.exp(log - log.max())
    return np.asarray(b[rng.choice(len(b), _DRAWS, p=weight / weight.sum())])
