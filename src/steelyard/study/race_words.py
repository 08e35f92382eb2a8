"""A race in words: what is known, what is claimed, and what to mind."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from steelyard.design.race import Race
from steelyard.design.race.accounts import LEAST_ITEMS

__all__ = ["answer", "claim", "standing_notes"]


def answer(race: Race, names: Sequence[str], *, decided: bool) -> str:
    """Say what is known."""
    if race.decided_at[0] and not decided:
        return "Not known yet: the judged items do not look like a random sample of the pool."
    if race.options.goal == "best":
        return _best(race, names, decided=decided)
    if race.options.goal == "order":
        return _order(race, names, decided=decided)
    return _difference(race, decided=decided)


def _best(race: Race, names: Sequence[str], *, decided: bool) -> str:
    leader, inside = names[int(race.winner[0])], np.flatnonzero(race.inside[0]).tolist()
    if decided and len(inside) == 1:
        return f"{leader} is the best of {race.systems} systems."
    others = ", ".join(names[place] for place in inside if names[place] != leader)
    if decided and race.alike[np.ix_(inside, inside)].all():
        return (
            f"{leader} is the best of {race.systems} systems, as is {others} with the same texts."
        )
    if decided:
        return (
            f"{leader} is the best of {race.systems} systems, or at most {race.options.margin:g} "
            f"below the best; {others} may be as good."
        )
    if not race.items:
        return "Not known yet: no item is complete for all systems."
    if race.items == race.pool_size:
        return f"Everything is judged, and {leader} is tied for the best with {others}."
    return (
        f"Not known yet: {len(inside)} of {race.systems} systems may be the best. {leader} leads; "
        f"{others} may be better."
    )


def _order(race: Race, names: Sequence[str], *, decided: bool) -> str:
    above = race.above[0]
    if decided:
        places = np.argsort(above.sum(axis=1), kind="stable").tolist()
        said = names[places[0]]
        for before, place in pairwise(places):
            said += f" {'=' if race.alike[before, place] else '>'} {names[place]}"
        return f"The order is known: {said}."
    if race.items == race.pool_size:
        return f"Everything is judged, and {_open_pairs(race)} are tied."
    return f"Not known yet: {_open_pairs(race)} are not decided."


def _difference(race: Race, *, decided: bool) -> str:
    if decided:
        return f"Every pair is decided, up to differences of {race.options.margin:g}."
    return f"Not known yet: {_open_pairs(race)} are not decided."


def _open_pairs(race: Race) -> str:
    pairs = race.systems * (race.systems - 1) // 2
    return f"{pairs - int(race.settled[0].sum()) // 2} of {pairs} pairs"


def claim(race: Race) -> str:
    """Say what is claimed, with which probability, and about what."""
    options = race.options
    about = f"these {race.pool_size:,} items, each output judged by this very process"
    if options.goal == "best":
        said = "the best system is never let go"
        if options.margin is not None:
            said += f", and the one that is named is at most {options.margin:g} below it"
    elif options.goal == "order":
        said = "no system is ever placed above a better one"
    else:
        said = (
            f"no system is ever called better than a better one, nor two equivalent that are more "
            f"than {options.margin:g} apart"
        )
    kind = "exactly" if options.method == "betting" else "approximately (asymptotic)"
    return f"In {_percent(options.level)} of campaigns {said}, at all looks together; {kind}; on {about}."


def _percent(share: float) -> str:
    return f"{round(100 * share, 6):g}%"


def standing_notes(race: Race) -> list[str]:
    """Say what a reader must mind."""
    notes = []
    apart = race.accounts.differing + np.eye(race.systems, dtype=np.int64)
    if (apart == 0).any():
        notes.append("some systems wrote the same text for every item: they are equally good")
    if race.options.method == "asymptotic" and race.items < LEAST_ITEMS:
        notes.append(f"the asymptotic race says nothing before {LEAST_ITEMS} items")
    if race.control is not None and race.items:
        notes.append(_use_of_metrics(race))
    if race.contradicted[0]:
        notes.append(
            "every system was found to be worse than another, which chance allows in "
            f"{_percent(race.options.alpha)} of campaigns at most: were the items drawn at random?"
        )
    return notes


def _use_of_metrics(race: Race) -> str:
    """Say how much of the differences so far was foretold, by what was known before each item."""
    plain, left = (
        float(one.spread[0].sum()) for one in (race.accounts.plain, race.accounts.corrected)
    )
    share = 1 - left / plain if plain > 0 else 0.0
    if share < 0.005:
        return "the metrics foretold nothing of the differences so far"
    return f"the metrics foretold {share:.0%} of the variance of differences so far"
