r"""Strengths of systems from net preferences, with intervals that hold together.

Shares of pairs are :math:`\pi = (1 + d)/2`, ties counted half. Strengths follow them by :math:`J`, the derivative of
`bradley_terry`, so their errors have the covariance :math:`J C J'/4`, with C that of the net preferences by items and raters: a
sandwich. Derived in docs/methods/comparison.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.special import stdtrit

from steelyard.estimate.bradley_terry import Separation, bradley_terry, separation
from steelyard.estimate.preference_outcomes import JudgedPair, Outcome
from steelyard.estimate.simultaneous import Together, contrasts_of

__all__ = ["NetPreferences", "Strength", "strengths"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Of the items' part at least this share is kept when the raters' part of it is taken off.
_LEAST_KEPT = 0.05


@dataclass(frozen=True, kw_only=True)
class Strength:
    """A system's strength on the scale of log-odds, with an interval that holds together with all others'."""

    system: int
    strength: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class NetPreferences:
    """Net preferences of pairs with the covariance of their errors.

    Attributes
    ----------
    pairs : sequence of (int, int)
        The systems of each pair.
    net : (pairs,) array
        Wins minus losses of the first.
    covariance : (pairs, pairs) array
        Of their errors.
    by_taste : (pairs, pairs) array
        How the covariance grows with the share of raters' taste in the variance of a judgment.
    doubt : (pairs,) array
        Variance of the items' part of each variance.
    freedom : float
        Least degrees of freedom of any combination.
    share_doubt : float
        Variance of the share of raters' taste.
    weights : (pairs,) array
        Number of items that each pair stands for.
    units : int
        Number of items and raters.
    """

    pairs: Sequence[tuple[int, int]]
    net: Floats
    covariance: Floats
    by_taste: Floats
    doubt: Floats
    freedom: float
    share_doubt: float
    weights: Floats
    units: int

    def together(self, number: int, *, level: float, seed: int) -> Together:
        """Return what the first `number` net preferences need to hold together."""
        root = _root(self.covariance[:number, :number])
        apart = contrasts_of(self.pairs[:number])
        return Together(root, apart, units=self.units, level=level, seed=seed)

    @classmethod
    def of(cls, nets: Sequence[Outcome], identical: Sequence[JudgedPair]) -> "NetPreferences":
        """Gather net preferences, and pairs whose outputs are all the same, which tie for sure."""
        known, count = len(nets), len(nets) + len(identical)
        covariance, by_taste = np.zeros((2, count, count))
        covariance[:known, :known], by_taste[:known, :known] = _covariances(nets)
        net, doubt = np.zeros((2, count))
        net[:known] = [one.share * one.mean.estimate for one in nets]
        doubt[:known] = [one.share**4 * one.error.doubt for one in nets]
        # The judged items stand for a sample of the whole pool, identical outputs among it.
        weights = [one.mean.n_items / one.share for one in nets]
        return cls(
            [(one.a, one.b) for one in (*(one.pair for one in nets), *identical)],
            net,
            covariance,
            by_taste,
            doubt,
            min((one.error.least_freedom for one in nets), default=np.inf),
            nets[0].error.spread.doubt if nets else 0.0,
            np.array([*weights, *(float(one.items) for one in identical)]),
            _units(nets),
        )


def _units(nets: Sequence[Outcome]) -> int:
    """Return how many items and raters there are."""
    found = ([one.pair.item for one in nets], [one.pair.rater for one in nets])
    return sum(len(np.unique(np.concatenate(one))) for one in found if one)


def _covariances(nets: Sequence[Outcome]) -> tuple[Floats, Floats]:
    """Return the covariance of net preferences, and how it grows with the share of raters' taste.

    Pairs share items, and raters with a taste. A rater who favours a system favours it against any other, so
    that taste belongs to rater and system, half of its variance to either side.
    """
    if not nets:
        return np.zeros((0, 0)), np.zeros((0, 0))
    items, raters = _Influence(), _Influence()
    systems = max(max(one.pair.a, one.pair.b) + 1 for one in nets)
    rest = np.zeros(len(nets))
    for row, one in enumerate(nets):
        errors, weights = one.mean.item_errors, one.mean.rater_weights
        # Raters count with all their weights here, so the items' part must not hold them as well.
        total = one.variance - one.error.taste * float(weights @ weights)
        total = max(total, _LEAST_KEPT * one.error.items)
        size = float(errors @ errors)
        if size > 0:
            items.add(row, np.unique(one.pair.item), errors * np.sqrt(total / size))
        else:
            rest[row] = total
        taste = weights * np.sqrt(one.error.single / 2)
        for sign, system in ((1, one.pair.a), (-1, one.pair.b)):
            raters.add(row, np.unique(one.pair.rater) * systems + system, sign * taste)
    scale = np.outer(*2 * [np.array([one.share for one in nets])])
    by_taste = raters.products(len(nets))
    covariance = items.products(len(nets)) + np.diag(rest)
    covariance += nets[0].error.spread.rater_share * by_taste
    np.fill_diagonal(by_taste, [one.error.load * one.error.single for one in nets])
    return covariance * scale, by_taste * scale


class _Influence:
    """What independent units add to the errors of pairs."""

    def __init__(self) -> None:
        self.rows: list[Integers] = []
        self.units: list[Integers] = []
        self.values: list[Floats] = []

    def add(self, row: int, units: Integers, values: Floats) -> None:
        self.rows.append(np.full(len(units), row))
        self.units.append(units)
        self.values.append(values)

    def products(self, rows: int) -> Floats:
        """Return the covariance of the errors."""
        if not self.rows:
            return np.zeros((rows, rows))
        unit = np.concatenate(self.units)
        where = np.concatenate(self.rows), unit
        found = coo_array((np.concatenate(self.values), where), (rows, int(unit.max()) + 1)).tocsr()
        return np.asarray((found @ found.T).toarray())


def _root(covariance: Floats) -> Floats:
    """Return the symmetric root of a covariance: errors of independent units that have it."""
    size, axes = np.linalg.eigh(covariance)
    return np.asarray((axes * np.sqrt(np.maximum(size, 0.0))) @ axes.T)


def strengths(
    found: NetPreferences, systems: Sequence[int], *, level: float, seed: int = 0
) -> list[Strength] | Separation:
    """Estimate the strength of each system, or return why strengths have no bound.

    Parameters
    ----------
    found : NetPreferences
        Net preferences of pairs of systems.
    systems : sequence of int
        The systems.
    level : float
        Level at which all intervals hold together.
    seed : int
        Seed of the simulated joint distribution.
    """
    shares = np.clip((1 + found.net) / 2, 0.0, 1.0)
    unbounded = separation(found.pairs, shares, systems)
    if unbounded is not None:
        return unbounded
    place = {system: number for number, system in enumerate(systems)}
    numbered = [(place[a], place[b]) for a, b in found.pairs]
    fitted = bradley_terry(numbered, shares, found.weights, systems=len(systems))
    slope = fitted.derivative / 2
    covariance = slope @ found.covariance @ slope.T
    variance = np.maximum(np.diag(covariance), 0.0)
    taste = np.einsum("sp,pq,sq->s", slope, found.by_taste, slope)
    doubt = slope**4 @ found.doubt + taste**2 * found.share_doubt
    freedom = np.divide(2 * variance**2, doubt, out=np.full_like(doubt, np.inf), where=doubt > 0)
    freedom = np.maximum(freedom, found.freedom)
    apart = np.eye(len(systems)) - 1 / len(systems)
    together = Together(_root(covariance), apart, units=found.units, level=level, seed=seed).level
    error = np.sqrt(variance)
    reach = np.where(error > 0, stdtrit(freedom, (1 + together) / 2) * error, 0.0)
    return [
        Strength(
            system=system,
            strength=float(fitted.values[number]),
            standard_error=float(error[number]),
            low=float(fitted.values[number] - reach[number]),
            high=float(fitted.values[number] + reach[number]),
        )
        for number, system in enumerate(systems)
    ]
