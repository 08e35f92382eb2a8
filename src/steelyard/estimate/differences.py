r"""Differences between the systems of a campaign, all pairs at once.

A difference is the difference of two linear forms in the same judgments, so what the two systems share cancels: the
item, the rater, and identical outputs, which differ by exactly zero. With :math:`q` the share of items on which
the outputs of a and b differ, known from their texts, and means over judged outputs of such items,
:math:`\hat d = q (\bar y_a - \bar y_b)` has variance

.. math:: V = q^2 \left[\frac{s_a^2}{n_a} + \frac{s_b^2}{n_b} - 2 s_{ab} \frac{n_{ab}}{n_a n_b}\right],

the paired t test's when all items are shared, Welch's when none is. Derived in docs/methods/comparison.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr, stdtrit

from steelyard.arrays import JudgedOutputs
from steelyard.errors import NotEstimableError
from steelyard.estimate.campaign import JudgedSystem, campaign_leniency, controlled_samples
from steelyard.estimate.leniency import Leniency
from steelyard.estimate.options import Options
from steelyard.estimate.repeats import FEW_REPEATS

__all__ = ["Difference", "Shared", "campaign_differences", "holm", "simultaneous_level"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_DRAWS = 10_000
# On fewer common items the spread of differences over items is not known well enough.
_FEW_ITEMS = 5


@dataclass(frozen=True, eq=False)
class Shared:
    """What a pair of systems has in common.

    Attributes
    ----------
    items : int
        Items of the pool that both have.
    identical : int
        How many of them have the same output by both; 0 where texts or pools differ.
    differs : (n_a,) and (n_b,) array of bool
        Which judged outputs of either differ from the other's.
    """

    items: int
    identical: int
    differs: tuple[NDArray[np.bool_], NDArray[np.bool_]]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The mean of system a minus that of system b.

    Attributes
    ----------
    a, b : int
        Numbers of the systems.
    difference, standard_error, degrees_of_freedom : float
        The estimate and its error.
    low, high, simultaneous_low, simultaneous_high : float
        Its interval alone, and together with those of all pairs.
    p_value : float
        Of no difference, two-sided, after Holm's correction for all pairs.
    n_items, identical_items : int
        Judged items that both share and differ on, and items with identical outputs.
    n_judgments : int
        Judgments that the difference rests on.
    """

    a: int
    b: int
    difference: float
    standard_error: float
    degrees_of_freedom: float
    low: float
    high: float
    simultaneous_low: float
    simultaneous_high: float
    p_value: float
    n_items: int
    identical_items: int
    n_judgments: int


def campaign_differences(
    systems: Sequence[JudgedSystem],
    pairs: Sequence[tuple[int, int]],
    shared: Sequence[Shared],
    *,
    options: Options,
    seed: int = 0,
) -> list[Difference | NotEstimableError]:
    """Estimate differences of systems, with intervals that hold alone and all together.

    Parameters
    ----------
    systems : sequence of JudgedSystem
        All systems of the campaign.
    pairs : sequence of (int, int)
        Which to compare.
    shared : sequence of Shared
        What each pair has in common.
    options : Options
        Target, raters and level.
    seed : int
        Seed of the simulated joint distribution.

    Returns
    -------
    list of Difference or NotEstimableError
        One for each pair, or why there is none.
    """
    campaign = _Judgments.of(systems, options)
    contrasts: list[_Contrast | NotEstimableError] = []
    for pair, common in zip(pairs, shared, strict=True):
        try:
            contrasts.append(_Contrast.of(campaign, pair, common))
        except NotEstimableError as error:
            contrasts.append(error)
    known = [one for one in contrasts if isinstance(one, _Contrast)]
    adjusted = holm(np.array([one.p_value for one in known]))
    varying = [one for one in known if one.variance > 0]
    together = simultaneous_level(
        np.array([one.influence / np.sqrt(one.influence @ one.influence) for one in varying]),
        level=options.level,
        seed=seed,
    )
    p_values = iter(adjusted)
    return [
        one.difference(options.level, together, float(next(p_values)))
        if isinstance(one, _Contrast)
        else one
        for one in contrasts
    ]


def holm(p_values: Floats) -> Floats:
    """Return p-values adjusted for their number (Holm 1979)."""
    order = np.argsort(p_values)
    factor = np.arange(len(p_values), 0, -1)
    stepped = np.minimum(np.maximum.accumulate(p_values[order] * factor), 1.0)
    found = np.empty_like(p_values)
    found[order] = stepped
    return found


def simultaneous_level(influences: Floats, *, level: float, seed: int) -> float:
    """Return the level of each of several intervals at which all hold together at `level`.

    Parameters
    ----------
    influences : (pairs, units) array
        What each independent unit adds to each error, of unit length: their products are the
        correlations of the errors.
    level : float
        The level of all together.
    seed : int
        Seed of the simulation.

    Notes
    -----
    The largest of correlated normal errors is simulated, and its quantile turned into the level
    that one interval needs; each then has its own degrees of freedom.
    """
    if len(influences) < 2:
        return level
    rng = np.random.default_rng(seed)
    largest = np.zeros(_DRAWS)
    block = max(1, 20_000_000 // max(influences.shape))
    for start in range(0, _DRAWS, block):
        size = min(block, _DRAWS - start)
        errors = rng.standard_normal((size, influences.shape[1])) @ influences.T
        largest[start : start + size] = np.abs(errors).max(axis=1)
    return float(2 * ndtr(np.quantile(largest, level)) - 1)


@dataclass(frozen=True, eq=False)
class _Side:
    """The judged outputs of one system on which it differs from the other."""

    items: Integers
    scores: Floats
    count: Integers
    outputs: Integers

    @classmethod
    def of(cls, system: JudgedSystem, scores: Floats, differs: NDArray[np.bool_]) -> "_Side":
        outputs = np.flatnonzero(differs)
        if len(outputs) < 2:
            raise NotEstimableError(
                "a difference needs at least 2 judged outputs of each system on items where the two "
                f"differ; got {len(outputs)}: judge more of them"
            )
        return cls(system.items[outputs], scores[outputs], system.sample.count[outputs], outputs)

    @property
    def residual(self) -> Floats:
        return np.asarray(self.scores - self.scores.mean())

    @property
    def variance(self) -> float:
        return float(self.residual @ self.residual) / (len(self.scores) - 1)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Both sides, and the items that were judged on both."""

    a: _Side
    b: _Side
    in_a: Integers
    in_b: Integers

    @classmethod
    def of(cls, a: _Side, b: _Side) -> "_Pair":
        _, in_a, in_b = np.intersect1d(a.items, b.items, return_indices=True)
        return cls(a, b, in_a, in_b)

    @property
    def covariance(self) -> float:
        """Covariance of the two systems' scores of an item, 0 where too few were judged on both."""
        if len(self.in_a) < 2:
            return 0.0
        product = float(self.a.residual[self.in_a] @ self.b.residual[self.in_b])
        most = float(np.sqrt(self.a.variance * self.b.variance))
        return float(np.clip(product / (len(self.in_a) - 1), -most, most))

    def variance(self) -> tuple[float, float]:
        """Return the variance of the difference of means, and the variance of that estimate."""
        n, m, c = len(self.a.scores), len(self.b.scores), len(self.in_a)
        A, B, C = self.a.variance / n, self.b.variance / m, self.covariance * c / (n * m)
        value = A + B - 2 * C
        doubt = 2 * A**2 / (n - 1) + 2 * B**2 / (m - 1)
        if c >= 2:
            # Moments of normal sums of squares and products; the paired t test's when c = n = m.
            product = C**2 + A * B * (c / n) * (c / m)
            doubt += 4 * product / (c - 1) + 4 * C**2 * (c - 1) / ((n - 1) * (m - 1))
            doubt -= 8 * C * (A / (n - 1) + B / (m - 1))
        return max(value, 0.0), max(doubt, 0.0)

    def between_items(self, noise: float | None) -> float:
        """Return the variance over items of the true difference, 0 where it is not known."""
        if noise is None or len(self.in_a) < _FEW_ITEMS:
            return 0.0
        heard = float(np.mean(1 / self.a.count) + np.mean(1 / self.b.count))
        spread = self.a.variance + self.b.variance - 2 * self.covariance
        return max(spread - noise * heard, 0.0)


@dataclass(frozen=True, eq=False)
class _Contrast:
    """A difference before its interval."""

    pair: tuple[int, int]
    estimate: float
    variance: float
    freedom: float
    influence: Floats
    n_items: int
    identical: int
    n_judgments: int

    @classmethod
    def of(cls, campaign: "_Judgments", pair: tuple[int, int], shared: Shared) -> "_Contrast":
        if shared.identical and shared.identical == shared.items:
            nothing = np.zeros(campaign.units)
            return cls(pair, 0.0, 0.0, np.inf, nothing, 0, shared.identical, 0)
        a, b = (
            _Side.of(campaign.systems[number], campaign.scores[number], differs)
            for number, differs in zip(pair, shared.differs, strict=True)
        )
        both = _Pair.of(a, b)
        value, doubt = both.variance()
        weights, ratio = campaign.contrast(pair, a, b)
        value, doubt = value * ratio, doubt * ratio**2
        influence = np.zeros(campaign.units)
        for sign, side in ((1, a), (-1, b)):
            np.add.at(influence, side.items, sign * side.residual / len(side.scores))
        lenient = campaign.leniency
        if lenient is not None:
            by_rater = lenient.per_rater(weights)
            total = float(by_rater @ by_rater)
            value = max(
                value - lenient.variance * campaign.held(weights * lenient.scale), 0.05 * value
            )
            value += lenient.variance * total
            doubt += total**2 * float(lenient.components.covariance[1, 1])
            influence[len(influence) - campaign.n_raters :] = np.sqrt(lenient.variance) * by_rater
        share = 1 - shared.identical / shared.items if shared.items else 1.0
        if shared.items and campaign.options.target == "pool":
            value -= both.between_items(campaign.noise) / (shared.items - shared.identical)
        value = max(value, 1e-3 * both.variance()[0])
        return cls(
            pair,
            share * campaign.mean_difference(pair, a, b, weights),
            share**2 * value,
            max(2 * value**2 / doubt, 1.0) if doubt > 0 else np.inf,
            influence,
            len(both.in_a),
            shared.identical,
            int(a.count.sum() + b.count.sum()),
        )

    @property
    def p_value(self) -> float:
        """Two-sided p-value of no difference, by itself."""
        if self.variance <= 0:
            return 1.0
        return float(2 * stdtr(self.freedom, -abs(self.estimate) / np.sqrt(self.variance)))

    def difference(self, level: float, together: float, p_value: float) -> Difference:
        """Return the difference with its intervals."""
        se = float(np.sqrt(self.variance))
        alone, all_of_them = (
            float(stdtrit(self.freedom, (1 + one) / 2)) * se if se else 0.0
            for one in (level, together)
        )
        return Difference(
            a=self.pair[0],
            b=self.pair[1],
            difference=self.estimate,
            standard_error=se,
            degrees_of_freedom=self.freedom,
            low=self.estimate - alone,
            high=self.estimate + alone,
            simultaneous_low=self.estimate - all_of_them,
            simultaneous_high=self.estimate + all_of_them,
            p_value=p_value,
            n_items=self.n_items,
            identical_items=self.identical,
            n_judgments=self.n_judgments,
        )


@dataclass(frozen=True, eq=False)
class _Judgments:
    """All judgments of a campaign, controls taken off, with their raters' leniency."""

    systems: Sequence[JudgedSystem]
    scores: Sequence[Floats]
    human: Floats
    first: Integers
    leniency: Leniency | None
    item: Integers
    noise: float | None
    options: Options

    @classmethod
    def of(cls, systems: Sequence[JudgedSystem], options: Options) -> "_Judgments":
        samples = controlled_samples(systems)
        sizes = np.array([sample.n_judgments for sample in samples])
        items = [one.items[sample.output] for one, sample in zip(systems, samples, strict=True)]
        return cls(
            systems,
            [sample.mean for sample in samples],
            np.concatenate([sample.human for sample in samples]),
            np.cumsum(sizes) - sizes,
            campaign_leniency(systems, samples, options),
            np.concatenate(items),
            _rater_noise(samples, options),
            options,
        )

    @property
    def n_raters(self) -> int:
        return 0 if self.leniency is None else int(self.leniency.rater.max()) + 1

    @property
    def units(self) -> int:
        """Number of items and raters, which make errors independently."""
        return int(self.item.max()) + 1 + self.n_raters

    def contrast(self, pair: tuple[int, int], a: _Side, b: _Side) -> tuple[Floats, float]:
        """Return the weights of all judgments, and what taking leniency out does to their squares."""
        weights = np.zeros(len(self.human))
        for sign, number, side in ((1, pair[0], a), (-1, pair[1], b)):
            sample = self.systems[number].sample
            per_output = np.zeros(sample.n_outputs)
            per_output[side.outputs] = sign / len(side.outputs)
            start = self.first[number]
            own = (per_output / sample.count)[sample.output]
            weights[start : start + sample.n_judgments] += own
        if self.leniency is None or self.options.raters_as != "adjusted":
            return weights, 1.0
        adjusted = self.leniency.adjusted(weights)
        before, after = (np.bincount(self.leniency.output, one) for one in (weights, adjusted))
        return adjusted, float(after @ after) / float(before @ before)

    def mean_difference(self, pair: tuple[int, int], a: _Side, b: _Side, weights: Floats) -> float:
        """Return the weighted sum of judgments, around the means of both sides."""
        centre = np.zeros(len(self.systems))
        for number, scores in enumerate(self.scores):
            centre[number] = scores.mean()
        centre[pair[0]], centre[pair[1]] = a.scores.mean(), b.scores.mean()
        sizes = [one.sample.n_judgments for one in self.systems]
        left = self.human - np.repeat(centre, sizes)
        return float(centre[pair[0]] - centre[pair[1]] + weights @ left)

    def held(self, weights: Floats) -> float:
        """Return what leniency of variance 1 adds to the squares of items' contributions."""
        assert self.leniency is not None
        cell = self.item * self.n_raters + self.leniency.rater
        _, where = np.unique(cell, return_inverse=True)
        own = np.bincount(where, weights)
        return float(own @ own)


def _rater_noise(samples: Sequence[JudgedOutputs], options: Options) -> float | None:
    """Return the variance of judgments of one output over all systems, None if it is unknown."""
    if options.rater_variance is not None:
        return options.rater_variance
    squares = sum(float(sample.within.sum()) for sample in samples)
    freedom = sum(int((sample.count - 1).sum()) for sample in samples)
    again = sum(int((sample.count > 1).sum()) for sample in samples)
    return squares / freedom if again >= FEW_REPEATS else None
