r"""Pairwise preferences: shares of wins, ties and losses, net preferences, and strengths of systems.

On the items D on which two systems differ, a share q of all, :math:`\hat d = q\,\overline{x - h}` estimates wins minus losses, with x in
{1, 0, -1} and h the control that is learned from differences of metrics. Identical outputs are ties. Derived in
docs/methods/comparison.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, stdtr, stdtrit

from steelyard.errors import NotEstimableError
from steelyard.estimate.differences import Difference
from steelyard.estimate.options import Options
from steelyard.estimate.preference_outcomes import JudgedPair, Outcome, learned_controls, outcomes
from steelyard.estimate.preference_strengths import NetPreferences

__all__ = ["JudgedPair", "PairPreference", "Share", "preferences"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Share:
    """A share with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class PairPreference:
    """Net preference (wins minus losses of a) with the shares behind it."""

    net: Difference
    win: Share
    tie: Share
    loss: Share


def preferences(
    pairs: Sequence[JudgedPair], *, options: Options, asked: int | None = None, seed: int = 0
) -> tuple[list[PairPreference | NotEstimableError], NetPreferences]:
    """Estimate what is preferred, for all pairs at once.

    Parameters
    ----------
    pairs : sequence of JudgedPair
        All pairs of the campaign; the control and the taste of raters are learned from all of them.
    options : Options
        Target, raters and level. Raters are a sample unless they are "fixed".
    asked : int, optional
        How many of the pairs, from the first on, are in question: theirs are the results, and
        intervals that hold together. All by default.
    seed : int
        Seed of the simulated joint distribution.

    Returns
    -------
    list of PairPreference or NotEstimableError
        One for each pair in question, or why there is none.
    NetPreferences
        Of all pairs that have one, for `strengths`.
    """
    judged = [one for one in pairs if len(one.place) >= 2]
    controls = learned_controls(judged)
    nets = outcomes(judged, [one.net for one in judged], controls, options, width=2.0, padded=True)
    shares = _shares_of(judged, controls, options)
    gathered = NetPreferences.of(nets, [one for one in pairs if one.differing == 0])
    asked = len(pairs) if asked is None else asked
    first = sum(len(one.place) >= 2 for one in pairs[:asked])
    together = gathered.together(first, level=options.level, seed=seed)
    steps = together.steps(
        np.array([_p_value(one) for one in nets[:first]]), gathered.pairs[:first]
    )
    found = {
        (one.pair.a, one.pair.b): _preference(
            one,
            {name: own[row] for name, own in shares.items()},
            options.level,
            together.level,
            p_value=float(steps.p_values[row]),
            deciding=float(steps.levels[row]),
        )
        for row, one in enumerate(nets[:first])
    }
    return [found.get((one.a, one.b)) or _without(one) for one in pairs[:asked]], gathered


def _preference(
    one: Outcome,
    shares: dict[str, Outcome],
    level: float,
    together: float,
    *,
    p_value: float,
    deciding: float,
) -> PairPreference:
    """Return the net preference of a pair and the shares behind it, which add up to it."""
    # The control leaves ties alone, and wins minus losses cannot exceed what is no tie.
    some = min(max(shares["decided"].mean.estimate, 0.0), 1.0)
    net = float(np.clip(one.mean.estimate, -some, some))
    values = {"win": (some + net) / 2, "loss": (some - net) / 2, "decided": some}
    win, loss, rest = (_share(shares[name], value, level) for name, value in values.items())
    return PairPreference(
        net=_difference(one, net, (level, together, deciding), p_value=p_value),
        win=win,
        tie=Share(value=1 - rest.value, low=1 - rest.high, high=1 - rest.low),
        loss=loss,
    )


def _shares_of(
    judged: Sequence[JudgedPair], controls: Sequence[Floats], options: Options
) -> dict[str, list[Outcome]]:
    """Return wins, losses, and what is no tie, of every pair."""
    # Wins and losses show together how much raters differ: which is which depends on names alone.
    sides = outcomes(
        [*judged, *judged],
        [(side * one.net > 0).astype(np.float64) for side in (1, -1) for one in judged],
        [side / 2 * control for side in (1, -1) for control in controls],
        options,
        width=1.0,
    )
    decided = [(one.net != 0).astype(np.float64) for one in judged]
    nothing = [np.zeros_like(control) for control in controls]
    return {
        "win": sides[: len(judged)],
        "loss": sides[len(judged) :],
        "decided": outcomes(judged, decided, nothing, options, width=1.0),
    }


def _without(pair: JudgedPair) -> PairPreference | NotEstimableError:
    """Return the certain tie of a pair whose outputs are all the same, or why there is no estimate."""
    if pair.differing:
        return NotEstimableError(
            f"a preference needs at least 2 judged items on which the two differ; got {len(pair.place)}"
        )
    zero = Difference(
        a=pair.a,
        b=pair.b,
        difference=0.0,
        standard_error=0.0,
        degrees_of_freedom=np.inf,
        low=0.0,
        high=0.0,
        simultaneous_low=0.0,
        simultaneous_high=0.0,
        p_value=1.0,
        deciding_reach=0.0,
        n_items=0,
        identical_items=pair.identical,
        n_judgments=0,
    )
    never = Share(value=0.0, low=0.0, high=0.0)
    return PairPreference(net=zero, win=never, tie=Share(value=1.0, low=1.0, high=1.0), loss=never)


def _p_value(one: Outcome) -> float:
    """Return the two-sided p-value of no net preference, by itself."""
    if one.variance <= 0:
        return float(one.mean.centre == 0)
    return float(2 * stdtr(one.error.freedom, -abs(one.mean.centre) / np.sqrt(one.variance)))


def _difference(
    one: Outcome, net: float, levels: tuple[float, float, float], *, p_value: float
) -> Difference:
    q, se = one.share, one.share * float(np.sqrt(one.variance))
    # Wins minus losses cannot exceed the share of items on which there is something to prefer.
    most = q if one.target == "pool" else 1.0
    value, centre = q * net, q * one.mean.centre
    alone, all_of_them, deciding = (
        float(stdtrit(one.error.freedom, (1 + each) / 2)) * se for each in levels
    )
    return Difference(
        a=one.pair.a,
        b=one.pair.b,
        difference=value,
        standard_error=se,
        degrees_of_freedom=one.error.freedom,
        low=max(min(centre - alone, value), -most),
        high=min(max(centre + alone, value), most),
        simultaneous_low=max(min(centre - all_of_them, value), -most),
        simultaneous_high=min(max(centre + all_of_them, value), most),
        p_value=p_value,
        deciding_reach=deciding,
        n_items=one.mean.n_items,
        identical_items=one.pair.identical,
        n_judgments=len(one.pair.net),
    )


def _share(one: Outcome, value: float, level: float) -> Share:
    """Return a share of the pool, given that of the items on which the two differ."""
    scale, variance = one.share, one.variance
    if one.target != "pool":
        # New outputs may differ more often or less often than these.
        value, scale, variance = one.share * value, 1.0, one.share**2 * variance
    low, high = _binomial_ends(one, value, variance, level)
    return Share(value=scale * value, low=scale * low, high=scale * high)


def _binomial_ends(
    one: Outcome, value: float, variance: float, level: float
) -> tuple[float, float]:
    """Return Clopper and Pearson's interval for as many judgments as the variance is worth.

    Korn and Graubard (1998). Where all judgments are the same, nothing but the number of items, less what
    raters share, says what the mean is worth.
    """
    n = one.mean.n_items
    if one.raw.item_errors.any() and 0 < value < 1:
        if variance <= 0:
            # all items are judged, and whoever judged them agrees
            return value, value
        worth = value * (1 - value) / variance * n / (n - 1)
    else:
        worth = n / (1 + n * one.error.taste / max(one.error.items * n, 1e-300) * one.error.load)
    worth *= (
        float(stdtrit(n - 1, (1 + level) / 2) / stdtrit(one.error.freedom, (1 + level) / 2)) ** 2
    )
    chance, won = (1 - level) / 2, worth * value
    low = float(betaincinv(won, worth - won + 1, chance)) if won > 0 else 0.0
    high = float(betaincinv(won + 1, worth - won, 1 - chance)) if won < worth else 1.0
    return low, high
