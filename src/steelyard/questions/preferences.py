"""Which system is preferred: wins, ties and losses of pairs, strengths, and the effect of the order."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from steelyard.errors import NotEstimableError
from steelyard.model.campaign import Campaign, Floats
from steelyard.questions.about import About, view_of
from steelyard.questions.answer import answer_sentence, better_pairs
from steelyard.questions.asked import Asked
from steelyard.questions.comparison import Comparison, step_note
from steelyard.questions.fitted import PromptFit
from steelyard.questions.more import more_by_the_root
from steelyard.questions.order_effect import OrderEffect, order_effect
from steelyard.questions.pairs import PairDifference, verdict_of
from steelyard.questions.preference_words import balance_note, circle_note, order_sentence
from steelyard.questions.preferred_pairs import (
    PairResult,
    Share,
    SystemStrength,
    pair_results,
    strengths,
)
from steelyard.questions.ranks import groups_of

__all__ = ["PreferenceComparison", "PreferencePair", "preference_comparison"]

Pair = tuple[str, str]

_FEWEST = 2


@dataclass(frozen=True, kw_only=True)
class PreferencePair(PairDifference):
    """How often `a` was preferred to `b`; the difference is wins minus losses.

    Attributes
    ----------
    win, tie, loss : Share
        Shares of items as they were judged, with intervals; items with identical outputs are ties.
    """

    win: Share
    tie: Share
    loss: Share


@dataclass(frozen=True, kw_only=True, repr=False)
class PreferenceComparison(Comparison):
    """How systems compare under a prompt that asks which of two outputs is better.

    Attributes
    ----------
    pairs : tuple of PreferencePair
        The pairs that were asked for; differences are wins minus losses.
    strengths : tuple of SystemStrength
        Strongest first; none unless all pairs were compared, and where the judged pairs do not connect
        all systems.
    order_effect : OrderEffect or None
        Whether the output that was shown first is preferred for it; None if the order is not known.
    order_sentence : str
        The same in words.
    """

    pairs: tuple[PreferencePair, ...]
    strengths: tuple[SystemStrength, ...]
    order_effect: OrderEffect | None
    order_sentence: str

    def _sentence(self) -> str:
        order = [one.system for one in self.strengths]
        compared = {frozenset((pair.a, pair.b)) for pair in self.pairs}
        if compared != {frozenset(pair) for pair in combinations(order, 2)}:
            order = []
        return answer_sentence(self.pairs, order, self.level, unit="in wins minus losses")


def preference_comparison(
    found: PromptFit,
    asked: Asked,
    pairs: Sequence[Pair] | None = None,
    *,
    margin: float | None = None,
) -> PreferenceComparison:
    """Compare systems under a prompt that asks for preferences.

    Parameters
    ----------
    found : PromptFit
        The model.
    asked : Asked
        The systems in question, and what intervals are about.
    pairs : sequence of (str, str) or None
        Which to compare; all pairs that were judged by default, with strengths.
    margin : float or None
        Differences within it count as equivalent.

    Raises
    ------
    NotEstimableError
        If no pair can be compared.
    """
    campaign = found.fit.campaign
    mode, remarks = found.raters(asked.raters)
    those, refused = _known_pairs(campaign, asked, pairs)
    if not those:
        raise NotEstimableError(f"prompt {found.prompt!r}: {refused[0]}")
    view = view_of(asked.target, mode)
    results = pair_results(found, those, view, asked.level)
    shown = tuple(_shown(campaign, one, margin) for one in results)
    judged = [pair for pair in combinations(range(campaign.k), 2) if _judged(campaign, *pair).any()]
    order = order_effect(found.fit, judged, level=asked.level)
    known: tuple[SystemStrength, ...] = ()
    apart: tuple[str, ...] = ()
    if pairs is None:
        inside = [place for place, one in enumerate(campaign.systems) if one in asked.systems]
        known, apart = strengths(found.fit, inside, view, asked.level)
    better = better_pairs(shown, asked.level)
    ranked = [one.system for one in known]
    every = len(shown) == len(ranked) * (len(ranked) - 1) // 2
    names = [(campaign.systems[a], campaign.systems[b]) for a, b in judged]
    clusters = ("clusters are not counted: the interval may be too short",)
    return PreferenceComparison(
        prompt=found.prompt,
        level=asked.level,
        about=About.of(asked.target, mode),
        margin=margin,
        pairs=shown,
        ranks=(),
        groups=groups_of(ranked, better) if ranked and every else (),
        notes=(
            *found.collected.notes,
            *remarks,
            *(clusters if campaign.cluster is not None else ()),
            *refused,
            *apart,
            *circle_note(ranked or list(campaign.systems), better),
            *step_note(shown, asked.level),
            *balance_note(order, names),
        ),
        strengths=known,
        order_effect=order,
        order_sentence=order_sentence(order, asked.level),
    )


def _judged(campaign: Campaign, a: int, b: int) -> Floats:
    """Return the judgments of a pair: 1 where `a` is the output that a score is about, -1 where `b` is."""
    contrast = campaign.contrast.toarray()
    return np.where(contrast[:, a] * contrast[:, b] < 0, np.sign(contrast[:, a]), 0.0)


def _known_pairs(
    campaign: Campaign, asked: Asked, pairs: Sequence[Pair] | None
) -> tuple[list[tuple[int, int]], list[str]]:
    """Return the pairs that can be compared, and why others cannot."""
    place = {one: number for number, one in enumerate(campaign.systems)}
    inside = [one for one in campaign.systems if one in asked.systems]
    known: list[tuple[int, int]] = []
    refused = []
    for a, b in combinations(inside, 2) if pairs is None else pairs:
        if a not in place or b not in place:
            refused.append(f"no judgment compares {a!r} with {b!r}")
            continue
        pair = place[a], place[b]
        size, identical = campaign.pools.size, campaign.pools.identical[pair]
        judged = _judged(campaign, *pair) != 0
        items = len(np.unique(campaign.item[campaign.output[judged]]))
        if items >= _FEWEST or identical == size[pair[0]] == size[pair[1]]:
            known.append(pair)
        elif items:
            refused.append(
                f"{a} and {b} are not compared: a preference needs at least {_FEWEST} judged items on "
                f"which the two differ; got {items}"
            )
        elif pairs is not None:
            refused.append(f"no judgment compares {a!r} with {b!r}")
    if not known and not refused:
        refused.append(f"no two of the systems {', '.join(asked.systems)} were compared")
    return known, refused


def _shown(campaign: Campaign, one: PairResult, margin: float | None) -> PreferencePair:
    """Return a pair with its names and its verdict."""
    better: Literal["a", "b"] | None = None
    if one.decided:
        better = "a" if one.decided > 0 else "b"
    verdict = verdict_of(one.simultaneous_low, one.simultaneous_high, margin, better)
    more: int | None = 0
    if verdict == "undecided":
        gap = abs(one.net)
        reach = (one.simultaneous_high - one.simultaneous_low) / 2
        needed = [more_by_the_root(reach, gap, one.n_judgments)]
        if margin is not None:
            needed.append(more_by_the_root(reach, margin - gap, one.n_judgments))
        more = min((each for each in needed if each is not None), default=None)
    return PreferencePair(
        a=campaign.systems[one.a],
        b=campaign.systems[one.b],
        difference=one.net,
        standard_error=one.standard_error,
        low=one.low,
        high=one.high,
        simultaneous_low=one.simultaneous_low,
        simultaneous_high=one.simultaneous_high,
        p_value=one.p_value,
        verdict=verdict,
        n_items=one.n_items,
        identical_items=one.identical_items,
        n_judgments=one.n_judgments,
        more_judgments=more,
        win=one.win,
        tie=one.tie,
        loss=one.loss,
    )
