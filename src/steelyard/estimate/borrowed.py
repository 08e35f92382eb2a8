r"""Spread and shape that the systems of a campaign lend one another.

The variance of a few judgments is itself a guess, and so is their skew. Systems of one campaign are
judged under one prompt by the same people, so their variances are draws from one distribution,
:math:`s_0^2\, d_0 / \chi^2_{d_0}`, which tells what to expect of each (Smyth 2004); and their residuals, over
their standard deviations, are draws from one shape, whose Student statistics are simulated instead
of taken to be normal. Derived in docs/methods/campaign.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, polygamma

__all__ = [
    "MIN_SYSTEMS",
    "Shape",
    "Spread",
    "borrowed_spread",
    "long_tailed_freedoms",
    "moderated_deviations",
    "tail_excess",
    "with_tails",
]

Floats = NDArray[np.float64]

# Fewer systems say too little of how much systems differ.
MIN_SYSTEMS = 4
# Beyond so many judged outputs a mean is normal whatever the shape.
_ENOUGH = 1000
# Simulated samples of each size: for each system, and for all of thousands of systems.
_DRAWS, _LEAST_DRAWS, _ALL_DRAWS = 8000, 2000, 1_600_000


@dataclass(frozen=True)
class Spread:
    """What to expect of a system's residual variance: `variance`, as if known from `freedom`.

    `alike` is the slope of what is lent on the variance to which it is lent. That variance is itself one of those behind it, and
    where systems are judged on the same items, the draw that makes one variance small makes others small.
    """

    variance: float
    freedom: float
    alike: float = 0.0

    def moderated(self, own: float, freedom: float) -> tuple[float, float]:
        """Return a system's variance and its degrees of freedom, with what is lent to it."""
        total = self.freedom + freedom
        return (self.freedom * self.variance + freedom * own) / total, total


def borrowed_spread(variances: Floats, freedoms: Floats, *, overlap: float = 0.0) -> Spread:
    r"""Fit the distribution of the systems' variances by the moments of their logarithms.

    :math:`\operatorname{Var} \log s_k^2 = \psi'(d_k/2) + \psi'(d_0/2)`. The expected variance is never taken to
    be known better than all variances together know it. Systems that share outputs or items have variances of
    correlation r, which differ by chance only :math:`1 - r` times as much, and know together what
    :math:`k / (1 + (k - 1) r)` know, of which a system's own part is its own.

    Parameters
    ----------
    variances, freedoms : (k,) array
        Residual variances and their degrees of freedom; zeros do not count.
    overlap : float
        Mean correlation of two variances, from draw to draw.

    Returns
    -------
    Spread
        Of no degrees of freedom when there are fewer than four variances.

    References
    ----------
    Smyth (2004), Linear models and empirical Bayes methods for assessing differential expression in
    microarray experiments, Statistical Applications in Genetics and Molecular Biology 3.
    """
    known = (variances > 0) & (freedoms > 0)
    if known.sum() < MIN_SYSTEMS:
        return Spread(0.0, 0.0)
    half = freedoms[known] / 2
    centred = np.log(variances[known]) - digamma(half) + np.log(half)
    excess = float(centred.var(ddof=1) - (1 - overlap) * polygamma(1, half).mean())
    most = float(freedoms[known].sum()) / (1 + (len(half) - 1) * overlap)
    most -= overlap * float(freedoms[known].mean())
    if most < 1:
        return Spread(0.0, 0.0)
    freedom = most if excess <= 0 else min(2 * _inverse_trigamma(excess), most)
    location = float(centred.mean() + digamma(freedom / 2) - np.log(freedom / 2))
    return Spread(float(np.exp(location)), freedom, (1 + (len(half) - 1) * overlap) / len(half))


def moderated_deviations(scores: Sequence[Floats]) -> Floats:
    """Return a moderated standard deviation of each system's scores, never near zero."""
    own = np.array([one.var(ddof=1) if len(one) > 1 else 0.0 for one in scores])
    freedom = np.array([len(one) - 1.0 for one in scores])
    lent = borrowed_spread(own, freedom)
    whole = float(own @ freedom) / max(float(freedom.sum()), 1.0)
    if whole <= 0:
        return np.ones(len(scores))
    moderated = [
        lent.moderated(variance, known)[0] if known else whole
        for variance, known in zip(own, freedom, strict=True)
    ]
    return np.asarray(np.sqrt(np.maximum(moderated, 0.02 * whole)))


def long_tailed_freedoms(
    residuals: Sequence[Floats], variances: Floats, freedoms: Floats
) -> Floats:
    r"""Degrees of freedom of variances, given the tails that all residuals have together.

    :math:`\operatorname{Var} s^2 = \sigma^4 (2/d + \kappa/n)`, with :math:`\kappa` the excess kurtosis of
    the systems' residuals over their standard deviations; short tails count as normal ones.

    Parameters
    ----------
    residuals : sequence of arrays
        Residuals of each system.
    variances, freedoms : (k,) array
        Their variances, and degrees of freedom under normality.
    """
    return with_tails(freedoms, tail_excess(residuals, variances, freedoms))


def tail_excess(residuals: Sequence[Floats], variances: Floats, freedoms: Floats) -> float:
    """Return the excess kurtosis of all residuals together, at least 0; parameters as above."""
    spread = borrowed_spread(variances, freedoms)
    if len(residuals) < MIN_SYSTEMS or not spread.freedom:
        return 0.0
    together = np.concatenate(
        [
            residual / np.sqrt(spread.moderated(variance, freedom)[0])
            for residual, variance, freedom in zip(residuals, variances, freedoms, strict=True)
            if variance > 0 and freedom > 0
        ]
    )
    squares = float(np.mean(together**2))
    return max(float(np.mean(together**4)) / squares**2 - 3, 0.0) if squares > 0 else 0.0


def with_tails(freedoms: Floats, excess: float) -> Floats:
    """Return degrees of freedom of variances whose residuals have an excess kurtosis."""
    known = np.maximum(freedoms, 1e-300)
    return np.where(freedoms > 0, 2 / (2 / known + excess / (known + 1)), 0.0)


def _inverse_trigamma(value: float) -> float:
    """Solve trigamma(x) = value by Newton's method on 1/trigamma, which is convex."""
    x = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(polygamma(1, x))
        step = trigamma * (1 - trigamma / value) / float(polygamma(2, x))
        x += step
        if abs(step) < 1e-10 * x:
            break
    return x


class Shape:
    """The common shape of residuals, and the Student statistics that it makes.

    Parameters
    ----------
    residuals : sequence of arrays
        Residuals of each system, over its standard deviation.
    seed : int
        Seed of the simulation.
    """

    def __init__(self, residuals: Sequence[Floats], *, seed: int) -> None:
        together = np.sort(np.concatenate(residuals))
        together = together - together.mean()
        self._residuals = together / max(float(together.std()), 1e-300)
        self._seed = seed
        self._draws = int(np.clip(_ALL_DRAWS // len(residuals), _LEAST_DRAWS, _DRAWS)) // 2 * 2
        self._simulated: dict[int, tuple[Floats, Floats, Floats]] = {}
        self._drawn: tuple[Floats, np.random.Generator, Any] | None = None

    def quantiles(
        self,
        n: int,
        *,
        own: Spread,
        lent: Spread,
        outputs: float,
        rest: float,
        level: float,
        neighbours: bool = False,
    ) -> tuple[float, float] | None:
        """Return the quantiles of error over standard error; None if Student's do.

        Parameters
        ----------
        n : int
            Judged outputs of the system.
        own, lent : Spread
            The system's moderated variance with the degrees of freedom of its own judgments, and
            what was lent to it.
        outputs : float
            Share of the error variance that lies between outputs; the rest is normal.
        rest : float
            Degrees of freedom of the rest.
        level : float
            Confidence level.
        neighbours : bool
            Whether the variance comes from differences of neighbours, as in a spread draw.
        """
        if n > _ENOUGH:
            return None
        mean, around, beside = self._samples(n)
        variance = beside if neighbours else around
        prior = lent.variance / own.variance if lent.freedom else 0.0
        total = own.freedom + lent.freedom
        lending = prior * (1 + lent.alike * (variance - 1))
        estimated = (lent.freedom * lending + own.freedom * variance) / total
        noise, rng = self._noise()
        spread = rng.chisquare(rest, len(mean) // 2) / rest if np.isfinite(rest) else np.ones(1)
        spread = np.concatenate([spread, spread]) if len(spread) > 1 else spread
        error = np.sqrt(outputs) * mean + np.sqrt(1 - outputs) * noise
        student = error / np.sqrt(np.maximum(outputs * estimated + (1 - outputs) * spread, 1e-12))
        student.sort()
        # Between neighbours in a straight line, as np.quantile does it.
        tail = (1 - level) / 2 * (len(student) - 1)
        below = int(tail)
        low = student[below] + (tail - below) * (student[below + 1] - student[below])
        high = student[-1 - below] - (tail - below) * (student[-1 - below] - student[-2 - below])
        return float(low), float(high)

    def _noise(self) -> tuple[Floats, np.random.Generator]:
        """Return normal noise, mirrored, and the generator as it is after drawing it."""
        if self._drawn is None:
            rng = np.random.default_rng(self._seed)
            half = rng.standard_normal(self._draws // 2)
            self._drawn = np.concatenate([half, -half]), rng, rng.bit_generator.state
        noise, rng, state = self._drawn
        rng.bit_generator.state = state
        return noise, rng

    def _samples(self, n: int) -> tuple[Floats, Floats, Floats]:
        """Return means over their standard error, and variances, of simulated samples of n.

        Variances are taken around the mean, and from differences of neighbours.
        """
        if n not in self._simulated:
            rng, m = np.random.default_rng(self._seed), len(self._residuals)
            mean, variance, beside = np.empty((3, self._draws))
            half, block = self._draws // 2, max(1, 1_000_000 // n)
            for start in range(0, half, block):
                chosen = rng.integers(0, m, size=(min(block, half - start), n))
                # Mirrored draws, so that turning the scale around turns the interval around.
                for first, draws in ((start, chosen), (half + start, m - 1 - chosen)):
                    drawn = self._residuals[draws]
                    part = slice(first, first + len(drawn))
                    mean[part] = drawn.mean(axis=1) * np.sqrt(n)
                    variance[part] = drawn.var(axis=1, ddof=1) if n > 1 else 1.0
                    beside[part] = _of_neighbours(drawn) if n > 1 else 1.0
            self._simulated[n] = mean, variance, beside
        return self._simulated[n]


def _of_neighbours(drawn: Floats) -> Floats:
    """Return the variance of each row from differences of neighbours, and of the next but one."""
    next_one, next_but_one = drawn[:, 1:] - drawn[:, :-1], drawn[:, 2:] - drawn[:, :-2]
    squares = (next_one**2).sum(axis=1) + (next_but_one**2).sum(axis=1)
    return np.asarray(squares / (2 * (next_one.shape[1] + next_but_one.shape[1])))
