r"""Draws from what a pilot tells of variances and correlation, under weak priors.

The variance of single judgments is known as well as its mean squares by output show. Mean squares between and within
outputs make the likelihood of the share of item variance in it, which has a uniform prior. The correlation of control and mean
judgment is zero with probability one fifth, and otherwise anything, before the pilot speaks. Systems differ in spread as
far as the pilot shows it. Derived in docs/methods/planning.md.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, polygamma

from steelyard.design.assumptions import Values
from steelyard.design.later_sample import variance_freedom
from steelyard.errors import NotEstimableError
from steelyard.estimate.borrowed import MIN_SYSTEMS

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
# Before the pilot speaks: the standard deviation, over systems, of the logarithm of their variances.
_APART = 0.5
# Before the pilot speaks, leniency is a fifth of the rater variance: the share is Beta(1, 4).
_LENIENT = 3
# A scale of so many scores has no tails that judgments do not show.
_TWO = 2


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
    ends : (float, float)
        The least score and the greatest.
    item_added : float
        What leniency hides of the item variance where raters share all outputs.
    leniency, leniency_error : float
        Variance between raters, with its standard error.
    raters : float
        Number of raters; 0 where they are fixed.
    new_raters : float
        Share of the raters of a campaign that the pilot has not seen.
    """

    mean: Floats
    within: Floats
    count: Integers
    system: Integers
    control: Floats
    explained: float = 0.0
    scores: int = 100
    ends: tuple[float, float] = (0.0, 1.0)
    item_added: float = 0.0
    leniency: float = 0.0
    leniency_error: float = 0.0
    raters: float = 0.0
    new_raters: float = 0.0

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
    def judged_apart(self) -> Floats:
        r"""Mean second, third and fourth powers (3, n) of an output's single judgments less the control.

        Around the means of systems, over their spread. Judgments of one output are taken to lie at equal
        distances on either side of their mean, which is exact for one or two of them.
        """
        between, within = self.around(self.mean - self.control), self.within / self.count
        squares = between**2 + within
        spread = np.bincount(self.system, squares) / np.maximum(np.bincount(self.system) - 1, 1)
        spread = np.maximum(spread, 1e-300)[self.system]
        return np.array(
            [
                squares / spread,
                (between**3 + 3 * between * within) / spread**1.5,
                (between**4 + 6 * between**2 * within + within**2) / spread**2,
            ]
        )

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
        if self.scores <= _TWO:
            return max(seen, 2 / n)
        usual = (1 + self.share**2) * self._longer
        imagined = min(2 * self.scores, _IMAGINED)
        return max((n * seen + imagined * usual) / (n + imagined), usual / 8)

    @property
    def tails(self) -> float:
        """Excess kurtosis of single judgments less the control, with imagined outputs as in `doubt`."""
        second, _, fourth = self.judged_apart
        seen = float(fourth.mean() / max(float(second.mean()), 1e-9) ** 2) - 1
        if self.scores <= _TWO:
            return seen - 2
        n, imagined = len(second), min(2 * self.scores, _IMAGINED)
        return (n * seen + imagined * 2 * self._longer) / (n + imagined) - 2

    @property
    def skewness(self) -> float:
        """Skewness of single judgments less the control."""
        second, third, _ = self.judged_apart
        return float(third.mean() / max(float(second.mean()), 1e-9) ** 1.5)

    @property
    def _longer(self) -> float:
        """How many times as uncertain squares are as those of normal scores, by the skewness."""
        # Of n normal scores the squared skewness is about 6 / n.
        return 1 + _SKEWED * max(self.skewness**2 - 6 / len(self.mean), 0.0)


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
    share = _item_shares(pilot, rng)
    spreads = _system_spreads(pilot, rng)
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


def _item_shares(pilot: Pilot, rng: np.random.Generator) -> Floats:
    """Return draws of the share of item variance in that of single judgments."""
    n, between, within = len(pilot.mean), pilot.between, pilot.rater_variance
    # Long tails make the two mean squares less certain, short ones not more.
    less = min((1 + pilot.share**2) / pilot.doubt, 1.0)
    freedoms = less * np.array([n - pilot.systems, float((pilot.count - 1).sum())])
    grown = 1 + pilot.each * _SHARES / (1 - _SHARES)
    squares = freedoms @ np.array([between / grown, np.full(len(grown), within)])
    log = -freedoms[0] * np.log(grown) - freedoms.sum() * np.log(np.maximum(squares, 1e-300))
    weight = np.exp((log - log.max()) / 2)
    return rng.choice(_SHARES, _DRAWS, p=weight / weight.sum())


def _system_spreads(pilot: Pilot, rng: np.random.Generator) -> Floats:
    """Return draws (D, k) of the variance of single judgments of each system."""
    if pilot.scores <= _TWO:
        return _two_scores(pilot, rng)
    n = len(pilot.mean)
    error = np.sqrt(pilot.doubt / (n - pilot.systems))
    total = pilot.between / pilot.each + pilot.rater_variance * (1 - 1 / pilot.each)
    # Right on average, so most samples fall short of it, as their distribution has a longer right tail.
    total = total * np.exp(error * rng.standard_normal(_DRAWS) + error**2 / 2)
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
