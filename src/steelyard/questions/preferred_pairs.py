"""Pairs of systems and strengths of systems, as forms of the model of preferences."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtr, ndtri, stdtrit

from steelyard.model.campaign import Campaign, Floats
from steelyard.model.fit import About, Fit
from steelyard.model.forms import Weights
from steelyard.model.intervals import intervals
from steelyard.model.preferred import between, net_ends, wilson_ends
from steelyard.model.simultaneous import together
from steelyard.model.tails import student_reach
from steelyard.questions.fitted import PromptFit

__all__ = ["PairResult", "Share", "SystemStrength", "pair_results", "strengths"]


@dataclass(frozen=True, kw_only=True)
class Share:
    """A share with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class SystemStrength:
    """A system's place on the scale that all preferences have in common; all intervals hold together.

    Attributes
    ----------
    system : str
        The system.
    strength, standard_error, low, high : float
        The difference of two strengths is the wins minus losses to be expected of the two systems;
        strengths add to 0.
    """

    system: str
    strength: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class PairResult:
    """What is known of a pair of systems, which are named by their numbers.

    Attributes
    ----------
    net, standard_error, low, high : float
        Wins minus losses of `a`.
    simultaneous_low, simultaneous_high, p_value : float
        Together with all pairs.
    decided : int
        1 if `a` is better for sure, -1 if `b` is.
    win, tie, loss : Share
        Shares as they were judged.
    n_items, identical_items, n_judgments : int
        Judged items, items of the pool with identical outputs, and judgments.
    """

    a: int
    b: int
    net: float = 0.0
    standard_error: float = 0.0
    low: float = 0.0
    high: float = 0.0
    simultaneous_low: float = 0.0
    simultaneous_high: float = 0.0
    p_value: float = 1.0
    decided: int = 0
    win: Share = Share(value=0.0, low=0.0, high=0.0)
    tie: Share = Share(value=1.0, low=1.0, high=1.0)
    loss: Share = Share(value=0.0, low=0.0, high=0.0)
    n_items: int = 0
    identical_items: int
    n_judgments: int = 0


def pair_results(
    found: PromptFit, pairs: Sequence[tuple[int, int]], view: About, level: float
) -> list[PairResult]:
    """Return what is known of pairs of systems, alone and together.

    Parameters
    ----------
    found : PromptFit
        The model of preferences.
    pairs : sequence of (int, int)
        Pairs of which two items or more were judged, or whose outputs are all the same.
    view : About
        What intervals are about.
    level : float
        Confidence level.
    """
    campaign = found.fit.campaign
    counted = [_Counted.of(campaign, a, b) for a, b in pairs]
    there = [one for one in counted if one.share > 0]
    results = _judged_results(found, there, view, level)
    known = dict(zip((id(one) for one in there), results, strict=True))
    return [
        known.get(id(one)) or PairResult(a=one.a, b=one.b, identical_items=one.identical)
        for one in counted
    ]


@dataclass(frozen=True, eq=False)
class _Counted:
    """The judgments of a pair, counted.

    Attributes
    ----------
    weights : (n,) array
        The weight of each judgment in the plain mean over items, negative where `b` is its output.
    win, loss : float
        Shares of judged items.
    decided : float
        Share of judgments that are no tie, never quite 0.
    share : float
        Share of the pool's items on which the outputs of the two differ.
    """

    a: int
    b: int
    weights: Floats
    win: float
    loss: float
    decided: float
    share: float
    items: int
    identical: int
    judgments: int

    @classmethod
    def of(cls, campaign: Campaign, a: int, b: int) -> "_Counted":
        contrast = campaign.contrast.toarray()
        sign = np.where(contrast[:, a] * contrast[:, b] < 0, np.sign(contrast[:, a]), 0.0)
        item = campaign.item[campaign.output]
        times = np.bincount(item, sign != 0)[item]
        weights = np.where(sign != 0, sign / np.maximum(times, 1), 0.0)
        items = len(np.unique(item[sign != 0]))
        weights /= max(items, 1)
        net = sign * campaign.score
        number = int(np.count_nonzero(sign))
        identical = campaign.pools.identical[a, b]
        return cls(
            a=a,
            b=b,
            weights=weights,
            win=float(np.abs(weights) @ (net > 0)),
            loss=float(np.abs(weights) @ (net < 0)),
            decided=float((np.sum(net != 0) + 1) / (number + 1)),
            share=float(1 - identical / max(campaign.pools.common[a, b], 1)),
            items=items,
            identical=int(identical),
            judgments=number,
        )


def _judged_results(
    found: PromptFit, counted: Sequence[_Counted], view: About, level: float
) -> list[PairResult]:
    """Return the results of pairs that differ on some items."""
    if not counted:
        return []
    fit = found.fit
    forms = np.zeros((len(counted), fit.campaign.k))
    for row, one in zip(forms, counted, strict=True):
        row[[one.a, one.b]] = 1.0, -1.0
    freedom = np.array([max(one.items - 1.0, 1.0) for one in counted])
    model = between(fit, forms, freedom, departing=True)
    answers, each = model.answers(view), np.eye(len(counted))
    looks = found.pair_looks(model.worth(answers), [(one.a, one.b) for one in counted])
    alone = intervals(model, answers, each, level, looks)
    both = together(model, answers, each, level, looks)
    share = np.array([one.share for one in counted])
    net = np.clip(alone.estimate, -share, share)
    decided = np.array([one.decided for one in counted])
    worth = model.worth(answers) * share**2
    once = (1 + level) / 2
    tail = 1 - once if looks is None else ndtr(-looks.critical(float(ndtri(once))))
    multiple = student_reach(tail, alone.degrees_of_freedom)
    reach = np.maximum(both.high - alone.estimate, alone.estimate - both.low)
    wide = np.maximum(reach / alone.standard_error, multiple)
    low, high = (share * end for end in net_ends(net / share, decided, worth, multiple))
    lowest, highest = (share * end for end in net_ends(net / share, decided, worth, wide))
    lowest = np.where(both.decided > 0, np.maximum(lowest, 0.0), np.minimum(lowest, 0.0))
    highest = np.where(both.decided < 0, np.minimum(highest, 0.0), np.maximum(highest, 0.0))
    plain = model.errors_of(Weights(np.stack([one.weights for one in counted], axis=1)), view)
    n_plain = model.worth(plain) * share**2
    of_plain = stdtrit(model.degrees_of_freedom(each, plain), (1 + level) / 2)
    return [
        PairResult(
            a=one.a,
            b=one.b,
            net=float(net[at]),
            standard_error=float(alone.standard_error[at]),
            low=float(low[at]),
            high=float(high[at]),
            simultaneous_low=float(lowest[at]),
            simultaneous_high=float(highest[at]),
            p_value=float(both.p_value[at]),
            decided=int(both.decided[at]),
            **_shares(one, n_plain[at], of_plain[at]),
            n_items=one.items,
            identical_items=one.identical,
            n_judgments=one.judgments,
        )
        for at, one in enumerate(counted)
    ]


def _shares(one: _Counted, worth: float, multiple: float) -> dict[str, Share]:
    """Return the shares of wins, ties and losses among all items."""
    found = {}
    for name, value in (("win", one.win), ("tie", 1 - one.win - one.loss), ("loss", one.loss)):
        ends = wilson_ends(value, worth, multiple)
        same = 1 - one.share if name == "tie" else 0.0
        low, high = (float(np.clip(same + one.share * end, 0.0, 1.0)) for end in ends)
        middle = float(np.clip(same + one.share * value, 0.0, 1.0))
        found[name] = Share(value=middle, low=min(low, middle), high=max(high, middle))
    return found


def strengths(
    fit: Fit, systems: Sequence[int], view: About, level: float
) -> tuple[tuple[SystemStrength, ...], tuple[str, ...]]:
    """Return the strengths of systems, strongest first, or say why there are none.

    Parameters
    ----------
    fit : Fit
        The model of preferences.
    systems : sequence of int
        The systems in question.
    view : About
        What intervals are about.
    level : float
        Confidence level of all intervals together.
    """
    campaign = fit.campaign
    names = campaign.systems
    opponents = csr_array((abs(campaign.contrast) > 0) * 1.0)
    part = connected_components(opponents.T @ opponents, directed=False)[1][systems]
    if len(systems) < 2:
        return (), ()
    if len(set(part)) > 1:
        here = [names[one] for one, own in zip(systems, part, strict=True) if own == part[0]]
        others = [names[one] for one in systems if names[one] not in here]
        return (), (
            f"no strengths: no judgment compares any of {', '.join(here)} with any of {', '.join(others)}",
        )
    # against the first system, so that no form follows from the others
    s = len(systems)
    against = np.zeros((s - 1, campaign.k))
    against[:, systems[0]] = -1.0
    against[np.arange(s - 1), systems[1:]] = 1.0
    model = between(fit, against, np.full(s - 1, campaign.n / s), departing=False)
    answers = model.answers(view)
    forms = np.eye(s)[:, 1:] - 1 / s
    alone, both = intervals(model, answers, forms, level), together(model, answers, forms, level)
    half = np.maximum(both.high - alone.estimate, alone.estimate - both.low)
    found = [
        SystemStrength(
            system=names[one],
            strength=float(alone.estimate[at]),
            standard_error=float(alone.standard_error[at]),
            low=float(alone.estimate[at] - half[at]),
            high=float(alone.estimate[at] + half[at]),
        )
        for at, one in enumerate(systems)
    ]
    return tuple(sorted(found, key=lambda one: -one.strength)), ()
