"""Whether the output that is shown first is preferred for being first."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, stdtr, stdtrit

from steelyard.model.campaign import Campaign, Floats, Ints
from steelyard.model.fit import Fit
from steelyard.model.predicted import predicted

__all__ = ["OrderEffect", "order_effect"]

# Orders that chance brings less often than this, over all pairs, are not balanced.
_CHANCE = 0.01


@dataclass(frozen=True, kw_only=True)
class OrderEffect:
    """How much more often the output that was shown first is preferred, than if it were shown second.

    Attributes
    ----------
    effect, standard_error, low, high : float
        Wins minus losses of the output shown first, for two systems that are equally good; NaN where the
        order never changed within a pair.
    p_value : float
        Of no effect, two-sided.
    n_judgments : int
        Judgments of which the order is known.
    first_shares : tuple of float
        Of each pair, in what share of these judgments the first system was shown first; NaN where none.
    balanced : bool
        Whether these shares differ from a half by no more than chance.
    """

    effect: float
    standard_error: float
    low: float
    high: float
    p_value: float
    n_judgments: int
    first_shares: tuple[float, ...]
    balanced: bool


def order_effect(fit: Fit, pairs: Sequence[tuple[int, int]], *, level: float) -> OrderEffect | None:
    """Read the effect of being shown first off the fit; None if no order is known.

    Parameters
    ----------
    fit : Fit
        The model of preferences.
    pairs : sequence of (int, int)
        The numbers of the two systems of each pair that was compared.
    level : float
        Level of the interval.
    """
    first = fit.campaign.first
    if first is None or not np.any(first):
        return None
    ahead, count = _shown_first(fit.campaign, first, pairs)
    there = count > 0
    shares = np.divide(ahead, count, out=np.full(len(pairs), np.nan), where=there)
    balanced = True
    if there.any():
        chance = _chance_of_order(ahead[there], count[there])
        balanced = float(chance.min()) * len(chance) >= _CHANCE
    effect = error = low = high = p = float("nan")
    found = predicted(fit, "order")
    turned = bool(np.any((shares > 0) & (shares < 1)))
    if found is not None and turned and np.isfinite(found.alone[0]):
        effect, error = float(found.alone[0]), float(found.alone_error[0])
        blocks = sum(len(one) for one in fit.system.effects.blocks.index)
        freedom = max(blocks - fit.campaign.k, 1)
        reach = float(stdtrit(freedom, (1 + level) / 2)) * error
        low, high = effect - reach, effect + reach
        p = float(2 * stdtr(freedom, -abs(effect) / error))
    return OrderEffect(
        effect=effect,
        standard_error=error,
        low=low,
        high=high,
        p_value=p,
        n_judgments=int(np.count_nonzero(first)),
        first_shares=tuple(float(one) for one in shares),
        balanced=balanced,
    )


def _shown_first(
    campaign: Campaign, first: Floats, pairs: Sequence[tuple[int, int]]
) -> tuple[Floats, Ints]:
    """Return how often the first system of each pair was shown first, and how often that is known."""
    contrast = campaign.contrast.toarray()
    ahead, count = np.zeros(len(pairs)), np.zeros(len(pairs), dtype=np.int64)
    for place, (a, b) in enumerate(pairs):
        own = (contrast[:, a] * contrast[:, b] < 0) & (first != 0)
        count[place] = own.sum()
        ahead[place] = np.sum(np.sign(contrast[own, a]) * first[own] > 0)
    return ahead, count


def _chance_of_order(ahead: Floats, count: Ints) -> Floats:
    """Return the two-sided chance, by the exact binomial test, of each split of tossed coins."""
    below: Floats = bdtr(np.minimum(ahead, count - ahead), count, 0.5)
    return np.minimum(2 * below, 1.0)
