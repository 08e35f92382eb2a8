"""Where a campaign stands: one JSON object made from the database and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from sqlalchemy import Connection

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.dashboard.alerts import alerts
from steelyard.collect.dashboard.outlook import Outlook
from steelyard.collect.dashboard.pool import LivePool, read_pool
from steelyard.collect.dashboard.prompt_estimates import PromptEstimates
from steelyard.collect.dashboard.raters_table import raters_table
from steelyard.collect.dashboard.signals import money, pace, signal
from steelyard.collect.policy.exclusion import rules_in_words
from steelyard.collect.policy.rater_work import RaterWork, RaterWorkCache
from steelyard.collect.policy.stopping import goal_of, planned_of
from steelyard.collect.policy.visit import HAND_BACKS_PER_TEXT
from steelyard.collect.store import Reader, StoreError
from steelyard.collect.store.decisions import About, Decision, latest
from steelyard.collect.store.judgments import judgment_rows
from steelyard.collect.store.progress import Progress, RaterRow, progress, rater_rows
from steelyard.collect.store.records import judgment_times
from steelyard.collect.store.settings import Settings, current

__all__ = ["snapshot"]


@dataclass(frozen=True)
class _Read:
    """Everything a snapshot is made of, read in one transaction."""

    settings: Settings
    progress: Progress
    rows: pl.DataFrame
    times: Sequence[int]
    work: Mapping[str, RaterWork]
    raters: Sequence[RaterRow]
    decided: Mapping[tuple[str, About], Decision]


def snapshot(
    campaign: Campaign,
    store: Reader,
    *,
    now: int,
    pool: LivePool | None = None,
    work: RaterWorkCache | None = None,
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
    work : RaterWorkCache, optional
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
    known = work or RaterWorkCache(campaign)
    read = store.read(lambda connection: _read(connection, now=now, known=known))
    pool = read_pool(campaign) if pool is None else pool
    goal, level = goal_of(campaign, read.settings)
    planned = planned_of(campaign, read.settings, systems=len(pool.systems))
    found = PromptEstimates(campaign, pool, read.rows, goal=goal, level=level, planned=planned)
    lacking = read.progress.lacking
    sharing = read.progress.units / max(read.progress.outputs, 1)
    spent, judgments = read.progress.spent, read.progress.judgments
    outlook = Outlook.of(
        campaign,
        found,
        lacking=lacking,
        drawn=read.settings.sample_size,
        planned=judgments + lacking - read.progress.surplus,
        sharing=sharing,
    )
    if outlook.race is not None and outlook.to_goal is not None:
        lacking = min(lacking, outlook.to_goal)
    left = outlook.lacking if outlook.to_goal is None else outlook.to_goal
    money_now = money(campaign, read.settings, spent=spent, left=left)
    return {
        "time": now,
        "title": campaign.title,
        "state": read.settings.state,
        "message": read.settings.message or "",
        "signal": signal(campaign, read.settings, outlook, spent=spent, judgments=judgments),
        "progress": _progress(read, lacking=lacking),
        "money": money_now,
        "pace": pace(
            read.times,
            outlook,
            now=now,
            is_open=read.settings.state == "running" and not (money_now or {}).get("is_spent"),
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
        "race": outlook.race,
        "systems": list(pool.systems),
        "prompts": found.to_list(),
        "exclusions": _exclusions(found),
        "raters": raters_table(campaign, read.raters, work=read.work, decided=read.decided),
        "rules": list(rules_in_words(campaign)),
        "notes": _notes(campaign, found, set_aside=read.progress.set_aside),
        "alerts": [*alerts(campaign, failure=failure), *_troubles(read.settings)],
    }


def _troubles(settings: Settings) -> list[str]:
    """Return what is wrong with services outside."""
    known = (one.get("trouble") for _, one in sorted(settings.services.items()))
    return [trouble for trouble in known if trouble]


def _read(connection: Connection, *, now: int, known: RaterWorkCache) -> _Read:
    settings = current(connection)
    if settings is None:
        raise StoreError("no campaign has begun in this database: start it with `steelyard serve`")
    return _Read(
        settings=settings,
        progress=progress(connection, now=now),
        rows=judgment_rows(connection),
        times=judgment_times(connection),
        work=known(connection),
        raters=rater_rows(connection),
        decided=latest(connection),
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


def _exclusions(found: PromptEstimates) -> dict[str, int]:
    out = found.rows.filter("excluded")
    return {
        "raters": out["rater"].n_unique(),
        "judgments": out["submission"].n_unique(),
    }


def _notes(campaign: Campaign, found: PromptEstimates, *, set_aside: int) -> list[str]:
    notes, rows = [], found.rows
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
