"""Which system is preferred: wins, ties and losses of pairs, strengths, and the effect of the order."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from steelyard.errors import NotEstimableError
from steelyard.estimate import Options
from steelyard.estimate.bradley_terry import Separation
from steelyard.estimate.order_effect import OrderEffect, order_effect
from steelyard.estimate.preference_strengths import NetPreferences, strengths
from steelyard.estimate.preferences import PairPreference, Share, preferences
from steelyard.questions.about import About
from steelyard.questions.asked import Asked
from steelyard.questions.compare import step_note
from steelyard.questions.comparison import Comparison, better_pairs
from steelyard.questions.pairs import PairDifference
from steelyard.questions.ranks import groups_of
from steelyard.study.campaign import rater_mode
from steelyard.study.judged import JudgedTable
from steelyard.study.judged_pairs import JudgedPairs, judged_pairs
from steelyard.study.pair_difference import named_difference
from steelyard.study.preference_rows import preference_rows
from steelyard.study.preference_words import (
    balance_note,
    circle_note,
    order_sentence,
    separation_note,
)

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["PreferenceComparison", "PreferencePair", "SystemStrength", "compare_preferences"]

Pair = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class PreferencePair(PairDifference):
    """How often `a` was preferred to `b`; the difference is wins minus losses.

    Attributes
    ----------
    win, tie, loss : Share
        Shares of items, with intervals; items with identical outputs are ties.
    """

    win: Share
    tie: Share
    loss: Share


@dataclass(frozen=True, kw_only=True)
class SystemStrength:
    """A system's Bradley-Terry strength; all intervals hold together.

    Attributes
    ----------
    system : str
        The system.
    strength, standard_error, low, high : float
        On the scale of log-odds; strengths add to 0.
    """

    system: str
    strength: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, repr=False)
class PreferenceComparison(Comparison):
    """How systems compare under a prompt that asks which of two outputs is better.

    Attributes
    ----------
    pairs : tuple of PreferencePair
        The pairs that were asked for; differences are wins minus losses.
    strengths : tuple of SystemStrength
        Strongest first; none unless all pairs were compared, and where they have no bound.
    order_effect : OrderEffect or None
        Whether the output that was shown first is preferred for it; None if the order is not known.
    order_sentence : str
        The same in words.
    """

    pairs: tuple[PreferencePair, ...]
    strengths: tuple[SystemStrength, ...]
    order_effect: OrderEffect | None
    order_sentence: str


def compare_preferences(
    study: "Study",
    prompt: str,
    metrics: Sequence[str],
    pairs: Sequence[Pair] | None,
    *,
    asked: Asked,
    margin: float | None,
    seed: int = 0,
) -> PreferenceComparison:
    """Compare systems under a prompt that asks for preferences; see `Study.compare`.

    Parameters
    ----------
    study : Study
        The campaign.
    prompt : str
        The prompt.
    metrics : sequence of str
        Metrics to use.
    pairs : sequence of (str, str) or None
        Which to compare; all pairs by default, with strengths.
    asked : Asked
        The systems in question, and what intervals are about.
    margin : float or None
        Differences within it count as equivalent.
    seed : int
        Seed of the simulated joint distribution.

    Raises
    ------
    NotEstimableError
        If no pair can be compared.
    InvalidDataError
        If a row is no preference, or a judged output is not in the pool.
    """
    rows = preference_rows(study.judgments, prompt, study.systems)
    options, notes = _options(rows, prompt, asked)
    try:
        judged = judged_pairs(study, rows, tuple(metrics), pairs, asked.systems)
    except NotEstimableError as error:
        raise NotEstimableError(f"prompt {prompt!r}: {error}") from error
    found, gathered = preferences(judged.pairs, options=options, asked=judged.asked, seed=seed)
    results, refused = _named(judged, found, margin, options.level)
    if not results:
        raise NotEstimableError(f"prompt {prompt!r}: {refused[0]}")
    order = _order(judged, raters=options.raters_as != "fixed", level=options.level)
    labels = [(judged.names[one.a], judged.names[one.b]) for one in judged.pairs]
    known: tuple[SystemStrength, ...] = ()
    apart: tuple[str, ...] = ()
    if pairs is None:
        known, apart = _strengths(judged, gathered, options.level, seed)
    better = better_pairs(results, options.level)
    ranked = [one.system for one in known]
    every = len(results) == len(ranked) * (len(ranked) - 1) // 2
    return PreferenceComparison(
        prompt=prompt,
        level=options.level,
        about=About.of(asked.target, "fixed" if options.raters_as == "fixed" else "random"),
        margin=margin,
        pairs=tuple(results),
        ranks=(),
        groups=groups_of(ranked, better) if ranked and every else (),
        notes=(
            *notes,
            *judged.notes,
            *refused,
            *apart,
            *circle_note(ranked, better),
            *step_note(results, options.level),
            *balance_note(order, labels),
        ),
        strengths=known,
        order_effect=order,
        order_sentence=order_sentence(order, options.level),
    )


def _options(rows: pl.DataFrame, prompt: str, asked: Asked) -> tuple[Options, tuple[str, ...]]:
    """Return options with how raters are seen, and what is to be said of it."""
    table = JudgedTable((), rows.with_columns(prompt=pl.lit(prompt)))
    mode, notes = rater_mode(table, prompt, asked.raters, adjusted="random")
    return Options(target=asked.target, raters_as=mode, level=asked.level), notes


def _named(
    judged: JudgedPairs,
    found: Sequence[PairPreference | NotEstimableError],
    margin: float | None,
    level: float,
) -> tuple[list[PreferencePair], list[str]]:
    """Give pairs their names and verdicts, and say which have no estimate."""
    results, refused = [], []
    for pair, one in zip(judged.pairs, found, strict=False):
        a, b = judged.names[pair.a], judged.names[pair.b]
        if isinstance(one, NotEstimableError):
            refused.append(f"{a} and {b} are not compared: {one}")
            continue
        known = named_difference(one.net, judged.names, margin, level)
        values = {name: getattr(known, name) for name in known.__dataclass_fields__}
        results.append(PreferencePair(**values, win=one.win, tie=one.tie, loss=one.loss))
    return results, refused


def _order(judged: JudgedPairs, *, raters: bool, level: float) -> OrderEffect | None:
    sizes = [len(one.net) for one in judged.pairs]
    if not sum(sizes):
        return None
    return order_effect(
        np.concatenate([one.net for one in judged.pairs]),
        np.concatenate(judged.first),
        np.repeat(np.arange(len(sizes)), sizes),
        item=np.concatenate([one.item for one in judged.pairs]),
        rater=np.concatenate([one.rater for one in judged.pairs]),
        raters=raters,
        level=level,
    )


def _strengths(
    judged: JudgedPairs, gathered: NetPreferences, level: float, seed: int
) -> tuple[tuple[SystemStrength, ...], tuple[str, ...]]:
    """Return strengths, strongest first, or a note why there are none."""
    systems = sorted({one for pair in gathered.pairs for one in pair})
    found = strengths(gathered, systems, level=level, seed=seed)
    if isinstance(found, Separation):
        return (), (separation_note(found, judged.names, systems),)
    known = [SystemStrength(**asdict(one) | {"system": judged.names[one.system]}) for one in found]
    return tuple(sorted(known, key=lambda one: -one.strength)), ()
