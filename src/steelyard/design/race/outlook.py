r"""How many items a race still needs, at the rate of now.

Against a difference of :math:`\delta` a bet gains about :math:`\delta^2/2\sigma^2` a draw with replacement, in
logarithms, and a draw of a pool counts :math:`W = n/(1 - n/N)` in these. So what is missing from the logarithm
of the capital says how much is still to do.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.design.race.race import Race

__all__ = ["expected_items"]

Floats = NDArray[np.float64]


def expected_items(race: Race) -> Floats:
    """Return after how many items each system is let go, or the race is over; (R, K).

    A system that is out has the item at which it went. Nothing lies beyond the pool.

    Parameters
    ----------
    race : Race
        The race so far.
    """
    needed = _best(race) if race.options.goal == "best" else _pairs(race)
    open_still = race.inside & race.running[:, np.newaxis]
    known = np.where(race.out_at > 0, race.out_at, race.items)
    later = np.minimum(np.maximum(needed, race.items + 1), race.pool_size)
    return np.where(open_still, later, known)


def _best(race: Race) -> Floats:
    """Return when each is out; the leader stays until the last of the others is."""
    leader = race.winner[:, np.newaxis]
    evidence = np.log(np.maximum(race.evidence, 1e-300))
    lacking = np.maximum(-np.log(race.options.alpha) - evidence, 0)[..., np.newaxis]
    needed = _items(race, lacking, 0)
    if race.options.margin is not None:
        weight = (race.systems - 1) / race.options.alpha / race.on_margin
        needed = np.minimum(needed, _items(race, _lacking(race, 1, weight), 1))
    behind = np.take_along_axis(needed, leader[..., np.newaxis], axis=2)[..., 0]
    behind = np.where(race.inside, behind, 0)
    np.put_along_axis(behind, leader, 0, axis=1)
    np.put_along_axis(behind, leader, behind.max(axis=1, keepdims=True), axis=1)
    return behind


def _pairs(race: Race) -> Floats:
    """Return when the last pair of each system is decided."""
    least = race.least_capital
    found = _items(race, _lacking(race, 0, least / (1 - race.on_margin)), 0)
    needed = np.minimum(found, found.transpose(0, 2, 1))
    if race.options.margin is not None:
        near = _items(race, _lacking(race, 1, least / race.on_margin), 1)
        needed = np.minimum(needed, np.maximum(near, near.transpose(0, 2, 1)))
    decided = race.settled | np.eye(race.systems, dtype=bool)
    return np.asarray(np.where(decided, 0, needed).max(axis=2))


def _lacking(race: Race, place: int, least: float) -> Floats:
    return np.asarray(np.maximum(np.log(least) - race.accounts.logarithm[:, place], 0))


def _items(race: Race, lacking: Floats, place: int) -> Floats:
    """Return the number of items at which what is lacking is there; (R, K, K)."""
    accounts = race.accounts
    size = np.maximum(accounts.differing, 1)
    away = np.maximum(accounts.mean - accounts.candidates[place] / size, 0)
    error = accounts.variance / np.maximum(accounts.count, 1)
    rate = (away**2 + 0.3 * error) / (2 * accounts.variance)
    count = np.minimum(accounts.count, size)
    now = count / np.maximum(1 - count / size, 1e-9)
    then = now + lacking / np.maximum(rate, 1e-12)
    needed = 1 / (1 / np.maximum(then, 1e-9) + 1 / size)
    return np.asarray(np.minimum(needed * race.pool_size / size, race.pool_size))
