"""Where a campaign stands: one JSON object made from the database and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl
from sqlalchemy import Connection

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.dashboard.alerts import alerts
from steelyard.collect.dashboard.outlook import Outlook
from steelyard.collect.dashboard.pool import LivePool, read_pool
from steelyard.collect.dashboard.prompt_estimates import Cells
from steelyard.collect.dashboard.racing import LiveRaces
from steelyard.collect.dashboard.raters_table import raters_table
from steelyard.collect.dashboard.signals import is_spent, money, pace, signal
from steelyard.collect.policy.exclusion import rules_in_words
from steelyard.collect.policy.rater_work import Conduct, KnownConduct
from steelyard.collect.policy.visit import HAND_BACKS_PER_TEXT
from steelyard.collect.sampling.unit import Target
from steelyard.collect.store import Reader, StoreError
from steelyard.collect.store.decisions import About, Decision, latest
from steelyard.collect.store.ledger import micro
from steelyard.collect.store.overview import (
    Awaited,
    Progress,
    RaterRow,
    awaited,
    progress,
    rater_rows,
)
from steelyard.collect.store.queue import drawn
from steelyard.collect.store.records import (
    ScoredRow,
    judgment_times,
    scored_rows,
)
from steelyard.collect.store.services import troubles
from steelyard.collect.store.settings import Settings, current
from steelyard.questions.goal import Goal

__all__ = ["goal_of", "planned_of", "snapshot"]


@dataclass(frozen=True)
class _Read:
    """Everything a snapshot is made of, read in one transaction."""

    settings: Settings
    progress: Progress
    awaited: Sequence[Awaited]
    scored: Sequence[ScoredRow]
    times: Sequence[int]
    conduct: Mapping[str, Conduct]
    raters: Sequence[RaterRow]
    decided: Mapping[tuple[str, About], Decision]
    drawn: Sequence[Target]
    troubles: Sequence[str]


def snapshot(
    campaign: Campaign,
    store: Reader,
    *,
    now: int,
    pool: LivePool | None = None,
    conduct: KnownConduct | None = None,
    failure: str | None = None,
) -> dict[str, Any]:
    """Return where the campaign stands, ready for JSON.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    store : Reader
        Its database.
    now : int
        Milliseconds.
    pool : LivePool, optional
        What `read_pool` returned, when it is at hand.
    conduct : KnownConduct, optional
        What knows how raters work, when it is at hand.
    failure : str, optional
        Why the last write to the database failed, if it did.

    Returns
    -------
    dict
        ``time``, ``title``, ``state``, ``message``, ``signal``, ``progress``, ``money``, ``pace``, ``goal``,
        ``race``, ``systems``, ``prompts``, ``exclusions``, ``raters``, ``rules``, ``notes`` and
        ``alerts``.

    Raises
    ------
    StoreError
        If the database cannot be read, or no campaign has begun in it.
    InvalidDataError
        If the outputs cannot be read.
    """
    known = conduct or KnownConduct(campaign)
    read = store.read(lambda connection: _read(connection, now=now, known=known))
    pool = read_pool(campaign) if pool is None else pool
    goal, level = goal_of(campaign, read.settings)
    planned = planned_of(campaign, read.settings, systems=len(pool.systems))
    cells = Cells(campaign, pool, read.scored, goal=goal, level=level, planned=planned)
    lacking = sum(one.missing for one in read.awaited)
    sharing = read.progress.units / max(len(read.drawn), 1)
    races = LiveRaces.of(campaign, cells)
    outlook = Outlook.of(campaign, cells, lacking=lacking, sharing=sharing)
    if races is not None and outlook.to_goal is not None:
        lacking = min(lacking, outlook.to_goal)
    spent, judgments = read.progress.spent, read.progress.judgments
    return {
        "time": now,
        "title": campaign.title,
        "state": read.settings.state,
        "message": read.settings.message or "",
        "signal": signal(
            campaign, read.settings, outlook, spent=spent, judgments=judgments, races=races
        ),
        "progress": _progress(read, lacking=lacking),
        "money": money(campaign, read.settings, spent=spent, judgments=judgments),
        "pace": asdict(
            pace(
                read.times,
                outlook,
                drawn=read.settings.sample_size,
                now=now,
                is_open=read.settings.state == "running"
                and not is_spent(campaign, read.settings, spent=spent),
            )
        )
        | {"last": read.progress.last},
        "goal": {
            "half_width": goal.half_width,
            "decide": goal.decide,
            "margin": goal.margin,
            "level": level,
            "planned": planned,
            "judgments_per_output": read.settings.judgments_per_output,
            "prompts": list(campaign.goal_prompts),
            "metrics": list(campaign.metrics),
        },
        "race": None if races is None else races.to_dict(),
        "systems": list(pool.systems),
        "prompts": cells.to_list(),
        "exclusions": _exclusions(cells),
        "raters": raters_table(campaign, read.raters, conduct=read.conduct, decided=read.decided),
        "rules": list(rules_in_words(campaign)),
        "notes": _notes(campaign, cells, set_aside=read.progress.set_aside),
        "alerts": [*alerts(campaign, failure=failure), *read.troubles],
    }


def goal_of(campaign: Campaign, settings: Settings) -> tuple[Goal, float]:
    """Return the goal as it stands, the file's with what was changed since, and its level."""
    declared = campaign.goal
    if declared is None or declared.decide is None:
        goal = Goal(half_width=settings.half_width)
    else:
        goal = Goal(decide=declared.decide, margin=declared.margin)
    return goal, 0.95 if declared is None else declared.level


def planned_of(campaign: Campaign, settings: Settings, *, systems: int) -> float | None:
    """Return the judgments of each system that are planned: those drawn, or those that the budget pays.

    None where the goal decides which system is better: then some systems end long before others.
    """
    if campaign.goal is not None and campaign.goal.decide is not None:
        return None
    planned = float(settings.sample_size * settings.judgments_per_output)
    price = micro(campaign.pay.per_judgment)
    if settings.budget and price:
        planned = min(planned, settings.budget / price / max(systems, 1))
    return planned if planned > 1 else None


def _read(connection: Connection, *, now: int, known: KnownConduct) -> _Read:
    settings = current(connection)
    if settings is None:
        raise StoreError("no campaign has begun in this database: start it with `steelyard serve`")
    return _Read(
        settings=settings,
        progress=progress(connection, now=now),
        awaited=awaited(connection),
        scored=scored_rows(connection),
        times=judgment_times(connection),
        conduct=known(connection),
        raters=rater_rows(connection),
        decided=latest(connection),
        drawn=drawn(connection),
        troubles=troubles(connection),
    )


def _progress(read: _Read, *, lacking: int) -> dict[str, int]:
    found = read.progress
    return {
        # Replacements are planned as well, once a rater was left out.
        "planned": found.judgments + lacking - found.surplus,
        "judgments": found.judgments - found.surplus,
        "units": found.units,
        "complete": found.complete,
        "surplus": found.surplus,
        "gold": found.gold,
        "raters": found.raters,
        "working": found.held,
        "outputs": read.settings.sample_size,
    }


def _exclusions(cells: Cells) -> dict[str, int]:
    out = cells.rows.filter("excluded")
    return {
        "raters": out["rater"].n_unique(),
        "judgments": out["submission"].n_unique(),
    }


def _notes(campaign: Campaign, cells: Cells, *, set_aside: int) -> list[str]:
    notes, rows = [], cells.rows
    if set_aside:
        notes.append(
            f"{set_aside} {'text was' if set_aside == 1 else 'texts were'} handed back by "
            f"{HAND_BACKS_PER_TEXT} raters each and set aside: nobody is asked about them any more, and "
            "estimates are about outputs that raters could judge."
        )
    if not rows.is_empty():
        surplus = rows.filter(pl.col("use") == "surplus")["submission"].n_unique()
        ahead = rows.filter(pl.col("use") == "ahead").select("system", "item").n_unique()
        if ahead:
            notes.append(
                f"{ahead} judged outputs come so far in the draw that too many before them are not back: they count as soon "
                "as these are, because what is quick to judge may score differently."
            )
        if surplus:
            notes.append(
                f"{surplus} surplus judgments are kept and paid but not used: an output's score "
                "has as many as were asked for."
            )
        if (rows["design"] == "paired").any():
            share = rows["share"].drop_nulls()
            same = 1 - float(share[0]) if len(share) else 0.0
            notes.append(
                "Preferences are about the items on which the two systems differ"
                + (f"; on {same:.0%} of the items they gave the same output." if same > 0 else ".")
            )
    if campaign.judgments_per_output == 1 and not campaign.second_judgments:
        notes.append(
            "Every output is judged once, so raters cannot be compared, and rater noise cannot be "
            "told from differences between outputs: second judgments of some outputs would show both "
            "(`second_judgments` in the campaign file of the next campaign)."
        )
    return notes
