"""Where a campaign stands: one JSON object made from the database and nothing else."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import Connection

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.dashboard.knowledge import judged_systems, knowledge, read_pool
from steelyard.collect.dashboard.raters_table import raters_table
from steelyard.collect.dashboard.signals import Outlook, money, pace, signal
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
from steelyard.tables import Outputs

__all__ = ["snapshot"]

_LEAST_FREE_BYTES = 500_000_000


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
    systems: tuple[str, ...]


def snapshot(
    campaign: Campaign,
    store: Reader,
    *,
    now: int,
    pool: Outputs | None = None,
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
    pool : Outputs, optional
        What `read_pool` returned, when it is at hand.
    work : RaterWorkCache, optional
        What knows how raters work, when it is at hand.
    failure : str, optional
        Why the last write to the database failed, if it did.

    Returns
    -------
    dict
        ``time``, ``title``, ``state``, ``message``, ``signal``, ``progress``, ``money``, ``pace``,
        ``goal``, ``enough``, ``systems``, ``prompts``, ``exclusions``, ``raters``, ``rules``, ``notes``
        and ``alerts``.

    Raises
    ------
    StoreError
        If the database cannot be read, or no campaign has begun in it.
    InvalidDataError
        If the outputs cannot be read.
    """
    cache = work or RaterWorkCache(campaign)
    read = store.read(lambda connection: _read(connection, now=now, work=cache))
    settings, counts = read.settings, read.progress
    goal, level = goal_of(campaign, settings)
    systems = read.systems
    planned = planned_of(campaign, settings, systems=len(systems))
    known = knowledge(
        campaign,
        read_pool(campaign, systems=systems) if pool is None else pool,
        read.rows,
        systems=systems,
        goal=goal,
        level=level,
        planned=planned,
    )
    outlook = Outlook(
        known,
        lacking=counts.lacking,
        planned=counts.judgments + counts.lacking - counts.surplus,
        drawn=settings.sample_size,
        sharing=counts.units / max(counts.outputs, 1),
    )
    money_now = money(campaign, settings, spent=counts.spent, left=outlook.left)
    is_open = settings.state == "running" and not (money_now or {}).get("is_spent")
    return {
        "time": now,
        "title": campaign.title,
        "state": settings.state,
        "message": settings.message or "",
        "signal": signal(
            campaign, settings, outlook, spent=counts.spent, judgments=counts.judgments
        ),
        "progress": _progress(read, outlook),
        "money": money_now,
        "pace": pace(read.times, outlook, now=now, is_open=is_open) | {"last": counts.last},
        "goal": {
            "half_width": goal.half_width,
            "decide": goal.decide,
            "level": level,
            "planned": planned,
        },
        "enough": known.enough,
        "systems": list(systems),
        "prompts": known.to_list(),
        "exclusions": _exclusions(read.rows),
        "raters": raters_table(campaign, read.raters, work=read.work, decided=read.decided),
        "rules": list(rules_in_words(campaign)),
        "notes": _notes(campaign, read),
        "alerts": _alerts(campaign, settings, failure),
    }


def _read(connection: Connection, *, now: int, work: RaterWorkCache) -> _Read:
    settings = current(connection)
    if settings is None:
        raise StoreError("no campaign has begun in this database: start it with `steelyard serve`")
    return _Read(
        settings=settings,
        progress=progress(connection, now=now),
        rows=judgment_rows(connection),
        times=judgment_times(connection),
        work=work(connection),
        raters=rater_rows(connection),
        decided=latest(connection),
        systems=judged_systems(connection),
    )


def _progress(read: _Read, outlook: Outlook) -> dict[str, int]:
    counts, lacking = read.progress, outlook.lacking
    if outlook.known.goal.decide is not None and outlook.to_goal is not None:
        # systems that are out get no more
        lacking = min(lacking, outlook.to_goal)
    return {
        # Replacements are planned as well, once a rater was left out.
        "planned": counts.judgments + lacking - counts.surplus,
        "judgments": counts.judgments - counts.surplus,
        "units": counts.units,
        "complete": counts.complete,
        "surplus": counts.surplus,
        "gold": counts.gold,
        "raters": counts.raters,
        "working": counts.held,
        "outputs": read.settings.sample_size,
    }


def _exclusions(rows: pl.DataFrame) -> dict[str, int]:
    out = rows.filter("excluded")
    return {"raters": out["rater"].n_unique(), "judgments": out["submission"].n_unique()}


def _alerts(campaign: Campaign, settings: Settings, failure: str | None) -> list[str]:
    """Return what whoever runs the campaign must act upon at once, or judgments are lost until then."""
    alerts = []
    if failure is not None:
        alerts.append(
            f"Judgments cannot be stored: {failure}. Raters keep their answers in the browser, which sends "
            "them again by itself. Make room or bring the database back; nothing else is needed."
        )
    if "://" not in campaign.database:
        free = shutil.disk_usage(Path(campaign.database).parent).free
        if free < _LEAST_FREE_BYTES:
            alerts.append(
                f"The disk of the database is nearly full: {free // 1_000_000:,} MB are left. Make room "
                "now, or judgments will be refused until there is some."
            )
    troubles = (one.get("trouble") for _, one in sorted(settings.services.items()))
    return [*alerts, *(trouble for trouble in troubles if trouble)]


def _notes(campaign: Campaign, read: _Read) -> list[str]:
    notes, rows, set_aside = [], read.rows, read.progress.set_aside
    if set_aside:
        notes.append(
            f"{set_aside} {'text was' if set_aside == 1 else 'texts were'} handed back by "
            f"{HAND_BACKS_PER_TEXT} raters each and set aside: nobody is asked about them any more, and "
            "estimates are about outputs that raters could judge."
        )
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
    if campaign.task.pair:
        notes.append("Preferences are about the items on which the two systems differ.")
    if campaign.judgments_per_output == 1 and not campaign.second_judgments:
        notes.append(
            "Every output is judged once, so raters cannot be compared, and rater noise cannot be "
            "told from differences between outputs: second judgments of some outputs would show both "
            "(`second_judgments` in the campaign file of the next campaign)."
        )
    return notes
