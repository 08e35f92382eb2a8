r"""Draws from what a pilot tells of variances and correlation, under weak priors.

The variance of single judgments is known as well as its mean squares by output show. Mean squares between and within
outputs make the likelihood of the share of item variance in it, which has a uniform prior. The correlation of control and mean
judgment is zero with probability one fifth, and otherwise anything, before the pilot speaks. Systems differ in spread as
far as the pilot shows it. Derived in docs/methods/planning.md.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.design.assumptions import Values
from steelyard.errors import NotEstimableError
from steelyard.estimate.borrowed import Spread, borrowed_spread

__all__ = ["Pilot", "pilot_draws"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_DRAWS = 1000
_SEED = 20
# Shares of item variance that are tried.
_SHARES = (np.arange(400) + 0.5) / 400
# Tails are seen badly by few outputs: so many imagined ones join them.
_IMAGINED = 30
# Excess kurtosis that goes with squared skewness, halved: 0.75 for gamma distributions, more for
# longer tails; and few outputs show too little of both.
_SKEWED = 2.5
# Before the pilot speaks: a control without worth, or one whose correlation has this spread.
_WORTHLESS, _CORRELATED = 0.2, 0.7
# What few systems may be taken to differ in spread: as if known from so many outputs.
_FEW_SYSTEMS = 10.0
# Before the pilot speaks, leniency is a fifth of the rater variance: the share is Beta(1, 4).
_LENIENT = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Pilot:
    """The judged outputs of a pilot.

    Attributes
    ----------
    mean, within : (n,) array
        Mean judgment of each output, and sum of squares of its judgments around it.
    count : (n,) array of int
        Judgments of each output.
    system : (n,) array of int
        Whose output it is.
    control : (n,) array
        Control of each output; zeros without one.
    explained : float
        Share of the variance of mean judgments that the control explains.
    scores : int
        Number of different scores: a scale of few has no long tails.
    item_added : float
        What leniency hides of the item variance where raters share all outputs.
    leniency, leniency_error : float
        Variance between raters, with its standard error.
    raters : float
        Number of raters; 0 where they are fixed.
    """

    mean: Floats
    within: Floats
    count: Integers
    system: Integers
    control: Floats
    explained: float = 0.0
    scores: int = 100
    item_added: float = 0.0
    leniency: float = 0.0
    leniency_error: float = 0.0
    raters: float = 0.0

    def check(self) -> None:
        """Raise unless the pilot tells item from rater variance."""
        n = len(self.mean)
        if (self.count == 1).all():
            raise NotEstimableError(
                "at least one output with two judgments is needed; got "
                f"{n} judgments of as many outputs: collect a second judgment on some outputs"
            )
        if n - self.systems < 2:
            raise NotEstimableError(
                f"at least two judged outputs more than systems are needed; got {n} outputs of "
                f"{self.systems} system(s): judge more outputs"
            )
        if not self.within.any() and not np.ptp(self.around(self.mean)):
            raise NotEstimableError(
                "a plan needs judgments that differ; all of the pilot's are equal: judge more outputs, or "
                "type the variances"
            )

    def around(self, values: Floats) -> Floats:
        """Return values around the means of their systems."""
        count = np.maximum(np.bincount(self.system), 1)
        return np.asarray(values - (np.bincount(self.system, values) / count)[self.system])

    @property
    def systems(self) -> int:
        """Number of systems."""
        return len(np.unique(self.system))

    @property
    def each(self) -> float:
        """Judgments per output, n0 of the analysis of variance."""
        count = self.count.astype(np.float64)
        return float((count.sum() - count @ count / count.sum()) / max(len(count) - 1, 1))

    @property
    def rater_variance(self) -> float:
        """Unbiased variance of judgments of one output."""
        return float(self.within.sum() / (self.count - 1).sum())

    @property
    def between(self) -> float:
        """Mean square between outputs within systems."""
        count = self.count.astype(np.float64)
        means = np.bincount(self.system, count * self.mean) / np.bincount(self.system, count)
        squares = float(count @ (self.mean - means[self.system]) ** 2)
        return squares / (len(count) - self.systems) + self.each * self.item_added

    @property
    def item_variance(self) -> float:
        """Unbiased variance of human scores, negative where chance makes it so."""
        return (self.between - self.rater_variance) / self.each

    @property
    def residuals(self) -> Floats:
        """Mean judgments less the control, around the means of systems, over their spread."""
        found = self.around(self.mean - self.control)
        squares = np.bincount(self.system, found**2)
        spread = np.sqrt(squares / np.maximum(np.bincount(self.system) - 1, 1))[self.system]
        return np.divide(found, spread, out=np.zeros_like(found), where=spread > 0)

    @property
    def share(self) -> float:
        """Item variance as a share of that of single judgments."""
        item = max(self.item_variance, 0.0)
        total = item + self.rater_variance
        return item / total if total > 0 else 0.0

    @property
    def doubt(self) -> float:
        r"""Squared relative error of the variance of single judgments, times the number of outputs.

        The variance is the mean of :math:`q_i`, the mean square of an output's judgments around its system's
        mean, so it is that of the q. Few outputs do not show long tails: imagined ones join them, as
        a normal distribution with two judgments per output has it, or one as skewed as the pilot.
        """
        squares = self.within / self.count + self.around(self.mean) ** 2
        means = np.bincount(self.system, squares) / np.maximum(np.bincount(self.system), 1)
        scaled = squares / np.maximum(means, 1e-300)[self.system]
        n, k = len(scaled), self.systems
        seen = float(np.sum((scaled - 1) ** 2)) / max(n - k, 1)
        # Of n normal scores the squared skewness is about 6 / n.
        skewed = max(self.skewness**2 - 6 / n, 0.0)
        usual = (1 + self.share**2) * (1 + _SKEWED * skewed)
        imagined = min(2 * self.scores, _IMAGINED)
        return max((n * seen + imagined * usual) / (n + imagined), usual / 8)

    @property
    def tails(self) -> float:
        """Excess kurtosis of single judgments, as `doubt` has it."""
        return 2 * self.doubt / (1 + self.share**2) - 2

    @property
    def skewness(self) -> float:
        """Skewness of the residuals."""
        size = max(float(np.mean(self.residuals**2)), 1e-9)
        return float(np.mean(self.residuals**3) / size**1.5)


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
    rater, item = _components(pilot, rng)
    factor = _between_systems(pilot, rng)
    correlation: float | Floats = 0.0
    if np.ptp(pilot.control) > 0:
        explained = _correlations(pilot, rng) ** 2 * (item + rater / pilot.each)
        correlation = np.sqrt(np.minimum(explained / np.maximum(item, 1e-300), 0.98))
    lenient: float | Floats = 0.0
    if pilot.raters:
        lenient = _leniencies(pilot, rater, rng)
    return Values(factor * item, factor * rater, correlation, factor * lenient)


def _components(pilot: Pilot, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return draws of rater and item variance: of their sum, and of their shares."""
    n, between, within = len(pilot.mean), pilot.between, pilot.rater_variance
    error = np.sqrt(pilot.doubt / (n - pilot.systems))
    total = between / pilot.each + within * (1 - 1 / pilot.each)
    # Right on average, so most samples fall short of it, as their distribution has a longer right tail.
    total = total * np.exp(error * rng.standard_normal(_DRAWS) + error**2 / 2)
    # Long tails make the two mean squares less certain too, short ones not more.
    less = min((1 + pilot.share**2) / pilot.doubt, 1.0)
    freedoms = less * np.array([n - pilot.systems, float((pilot.count - 1).sum())])
    grown = 1 + pilot.each * _SHARES / (1 - _SHARES)
    squares = freedoms @ np.array([between / grown, np.full(len(grown), within)])
    log = -freedoms[0] * np.log(grown) - freedoms.sum() * np.log(np.maximum(squares, 1e-300))
    weight = np.exp((log - log.max()) / 2)
    share = rng.choice(_SHARES, _DRAWS, p=weight / weight.sum())
    return total * (1 - share), total * share


def _correlations(pilot: Pilot, rng: np.random.Generator) -> Floats:
    """Return draws of the correlation of control and mean judgment within systems."""
    error = 1 / max(len(pilot.mean) - pilot.systems - 2, 1)
    seen = np.arctanh(np.sqrt(np.clip(pilot.explained, 0.0, 0.99)))
    # Evidence for a normal prior of the transformed correlation against none at all.
    total = error + _CORRELATED**2
    against = np.sqrt(error / total) * np.exp(seen**2 / 2 * (1 / error - 1 / total))
    worthless = _WORTHLESS / (_WORTHLESS + (1 - _WORTHLESS) * against)
    kept = _CORRELATED**2 / total
    drawn = np.tanh(np.abs(rng.normal(kept * seen, np.sqrt(kept * error), _DRAWS)))
    return np.where(rng.uniform(size=_DRAWS) < worthless, 0.0, drawn)


def _between_systems(pilot: Pilot, rng: np.random.Generator) -> Floats | float:
    """Return draws of a system's spread over that of all, for a system taken at random."""
    if pilot.systems < 2:
        return 1.0
    residual = pilot.around(pilot.mean - pilot.control)
    names, position = np.unique(pilot.system, return_inverse=True)
    n = np.bincount(position)
    freedom = np.maximum(n - 1, 0) * 2 / (2 + max(pilot.tails, 0.0))
    own = np.bincount(position, residual**2) / np.maximum(n - 1, 1)
    whole = float(residual @ residual) / max(len(residual) - len(names), 1)
    lent = borrowed_spread(own, freedom)
    if not lent.freedom:
        lent = Spread(whole, _FEW_SYSTEMS)
    moderated = [lent.moderated(*one) for one in zip(own, freedom, strict=True)]
    chosen = rng.integers(0, len(names), _DRAWS)
    variance, known = np.array(moderated)[chosen].T
    return np.asarray(variance / whole * known / rng.chisquare(known))


def _leniencies(pilot: Pilot, rater: Floats, rng: np.random.Generator) -> Floats:
    """Return draws of the variance between raters, a share of the rater variance.

    The mean square between raters speaks for it, and before it the share is
    Beta(1, 4), over the total variance of a rater's mean.
    """
    freedom = max(pilot.raters - 1, 1.0)
    seen = max(pilot.leniency_error * np.sqrt(freedom / 2), pilot.leniency)
    noise = seen - pilot.leniency
    total = _SHARES * float(np.median(rater)) + max(noise, 1e-9 * seen)
    log = -freedom / 2 * (np.log(total) + seen / total)
    log += _LENIENT * np.log(1 - _SHARES) - np.log(total)
    weight = np.exp(log - log.max())
    chosen = rng.choice(len(_SHARES), _DRAWS, p=weight / weight.sum())
    return _SHARES[chosen] * rater
