"""What a campaign has brought: rows for estimates, exports and the live page."""

import json
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select

from steelyard.collect.store.ids import screen_order
from steelyard.collect.store.overview import (
    Awaited,
    Progress,
    RaterRow,
    awaited,
    given_up,
    newest,
    progress,
    rater_rows,
)
from steelyard.collect.store.sides import Scores, each_score, is_of_screen, seen, share_behind
from steelyard.collect.store.tables import (
    raters,
    sessions,
    settings,
    submissions,
    targets,
    units,
)
from steelyard.collect.tasks.screen import LETTERS
from steelyard.records import DRAW_RECORD

__all__ = [
    "Awaited",
    "Progress",
    "RaterRow",
    "ScoredRow",
    "SubmissionRow",
    "awaited",
    "iso_time",
    "judgment_times",
    "newest",
    "progress",
    "rater_rows",
    "scored_rows",
    "submission_rows",
    "unit_scores",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRow:
    """One judgment: a score of one output, by one rater, under one prompt.

    A submission that stands for the outputs of several systems is a judgment of each of them.

    Attributes
    ----------
    submission, unit : int
        Where it comes from.
    item, system : str
        The output.
    rater : str
        Id of the rater.
    number : int
        Number of the rater: what exports show.
    prompt : str
        What was asked.
    score : float
        The score.
    seconds : float
        Time spent on it while the page was visible.
    time : str
        When it arrived: ISO 8601, UTC.
    excluded : bool
        Whether the rater is excluded from the estimate.
    surplus : bool
        Whether it is one more than was asked for.
    wanted : int
        Judgments wanted of the unit.
    turn : int
        Number in the draw of the system, outputs that were set aside not counted.
    other_system, first_system : str or None
        Of a preference: the system that this one was compared with, and which was shown first.
    position : int or None
        On a screen with several outputs: the place of this one, from 1.
    cluster, segments : str or None, int or None
        The document that the output is a segment of, and how many segments of it are to be judged.
    probability, stratum, stratum_size, share, draw, design, seed, signature, place
        What the draw recorded of the output.
    """

    submission: int
    unit: int
    item: str
    system: str
    rater: str
    number: int
    prompt: str
    score: float
    seconds: float
    time: str
    excluded: bool
    surplus: bool
    wanted: int
    turn: int
    other_system: str | None
    first_system: str | None
    position: int | None
    cluster: str | None
    segments: int | None
    probability: float | None
    stratum: str | None
    stratum_size: int | None
    share: float | None
    draw: int
    design: str | None
    seed: int | None
    signature: str | None
    place: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionRow:
    """One submission, whole.

    Attributes
    ----------
    id, unit : int
        Submission and unit.
    item : str
        The item.
    systems : tuple of str
        The systems it stands for; in a pair, first and second; none for gold.
    content : mapping
        What was shown, as the rater saw it.
    letters : mapping of str to tuple of str
        Of a screen: the systems whose output stood under each letter; else empty.
    rater, number, panel, external_id
        The rater, as in `Rater`.
    session, panel_session : str
        The visit.
    answer : mapping
        By widget.
    scores : mapping of str to float
        By prompt; of a screen, by the number of the output in the unit and by prompt.
    gold : mapping or None
        Accepted answers of a gold unit.
    active_ms : int
        Time spent on it while the page was visible.
    started, time : int
        When the unit was given and when the answer came, in milliseconds.
    swapped, surplus, excluded : bool
        Whether the sides of a pair had changed places; whether it is one more than was asked for;
        whether the rater is excluded from the estimate.
    """

    id: int
    unit: int
    item: str
    systems: tuple[str, ...]
    content: Mapping[str, Any]
    letters: Mapping[str, tuple[str, ...]]
    rater: str
    number: int
    panel: str
    external_id: str
    session: str
    panel_session: str
    answer: Mapping[str, Any]
    scores: Scores
    gold: Mapping[str, Any] | None
    active_ms: int
    started: int
    time: int
    swapped: bool
    surplus: bool
    excluded: bool


_MIRRORED = select(settings.c.mirrored)
_SCORED = (
    select(
        submissions.c.id.label("submission"),
        submissions.c.lease,
        submissions.c.unit,
        targets.c.item,
        targets.c.system,
        targets.c.side,
        submissions.c.rater,
        raters.c.number,
        submissions.c.scores,
        submissions.c.active_ms,
        submissions.c.time,
        raters.c.excluded,
        submissions.c.slot,
        submissions.c.swapped,
        units.c.wanted,
        targets.c.cluster,
        *(targets.c[name] for name in DRAW_RECORD),
    )
    .select_from(submissions)
    .join(units, units.c.id == submissions.c.unit)
    .join(targets, targets.c.unit == submissions.c.unit)
    .join(raters, raters.c.id == submissions.c.rater)
    .order_by(submissions.c.id, targets.c.side, targets.c.system)
)
_SUBMISSIONS = (
    select(
        submissions,
        units.c.item,
        units.c.content,
        units.c.gold,
        raters.c.number,
        raters.c.panel,
        raters.c.external_id,
        raters.c.excluded,
        sessions.c.panel_session,
    )
    .select_from(submissions)
    .join(units, units.c.id == submissions.c.unit)
    .join(raters, raters.c.id == submissions.c.rater)
    .join(sessions, sessions.c.id == submissions.c.session)
    .order_by(submissions.c.id)
)
_UNIT_SCORES = (
    select(submissions.c.id, submissions.c.unit, submissions.c.scores)
    .join_from(submissions, units, units.c.id == submissions.c.unit)
    .where(units.c.gold.is_(None))
)
_TIMES = (
    select(submissions.c.time)
    .join_from(submissions, units, units.c.id == submissions.c.unit)
    .where(units.c.gold.is_(None))
)
_SYSTEMS = select(targets.c.unit, targets.c.system, targets.c.side).order_by(
    targets.c.side, targets.c.system
)
_SEGMENTS = (
    select(targets.c.system, targets.c.cluster, func.count())
    .where(targets.c.cluster.is_not(None))
    .group_by(targets.c.system, targets.c.cluster)
)
_DOCUMENTS = select(targets.c.system, targets.c.draw, targets.c.cluster)
_SIDES = select(targets.c.unit, targets.c.side, targets.c.system)


def scored_rows(connection: Connection) -> list[ScoredRow]:
    """Return every judgment of a drawn output, in the order of arrival; gold is left out.

    Of a pair, the first system has the score and the second 1 minus it under prompts that are
    preferences, and the same under others. Of a ranking, a system has the share of the other systems on the
    screen that stand behind it; those at the same place, and those with the same text, count half.
    """
    found = connection.execute(_MIRRORED).scalar_one_or_none()
    mirrored = frozenset(json.loads(found or "[]"))
    sides: dict[tuple[int, int], str] = {}
    written: dict[int, list[int]] = {}
    for unit, side, system in connection.execute(_SIDES):
        sides[unit, side] = system
        written.setdefault(unit, []).append(side)
    passed_over: dict[str, list[int]] = {}
    for system, draw in sorted(given_up(connection)):
        passed_over.setdefault(system, []).append(draw)
    segments = _segments(connection)
    rows = []
    for row in connection.execute(_SCORED).mappings():
        before = bisect_left(passed_over.get(row["system"], ()), row["draw"])
        known = {name: row[name] for name in _SCORED_AS_IS}
        scores: Scores = json.loads(row["scores"])
        order = screen_order(row["lease"], len(scores)) if is_of_screen(scores) else ()
        for number, prompt, score in each_score(scores):
            if order and number != row["side"]:
                continue
            is_preference = prompt in mirrored
            if order and is_preference:
                own = share_behind(scores, prompt, score, written[row["unit"]])
            else:
                own = 1 - score if row["side"] == 2 and is_preference else score
            first = sides.get((row["unit"], 2 if row["swapped"] else 1))
            rows.append(
                ScoredRow(
                    **known,
                    prompt=prompt,
                    score=own,
                    seconds=row["active_ms"] / 1000,
                    time=iso_time(row["time"]),
                    surplus=row["slot"] is None,
                    turn=row["draw"] - before,
                    other_system=sides.get((row["unit"], 3 - row["side"]))
                    if is_preference and not order
                    else None,
                    first_system=first if is_preference and not order else None,
                    position=order.index(row["side"]) + 1 if order else None,
                    segments=segments.get((row["system"], row["cluster"])),
                )
            )
    return rows


def _segments(connection: Connection) -> dict[tuple[str, str | None], int]:
    """Return how many segments of each document of each system are to be judged."""
    found: dict[tuple[str, str | None], int] = {
        (system, cluster): size for system, cluster, size in connection.execute(_SEGMENTS)
    }
    if found:
        documents = {(row.system, row.draw): row.cluster for row in connection.execute(_DOCUMENTS)}
        for system, draw in given_up(connection):
            found[system, documents.get((system, draw))] -= 1
    return found


def submission_rows(
    connection: Connection, *, where: ColumnElement[bool] | None = None
) -> list[SubmissionRow]:
    """Return every submission, or those that fit, gold too, in the order of arrival."""
    named, wanted = _SYSTEMS, _SUBMISSIONS
    if where is not None:
        named = named.where(targets.c.unit.in_(select(submissions.c.unit).where(where)))
        wanted = wanted.where(where)
    systems: dict[int, list[tuple[str, int]]] = {}
    for unit, system, side in connection.execute(named):
        systems.setdefault(unit, []).append((system, side))
    rows = []
    for row in connection.execute(wanted).mappings():
        # the sides of a pair are as they were recorded
        shown = seen(json.loads(row["content"]), lease=row["lease"], pair=bool(row["swapped"]))
        written = systems.get(row["unit"], ())
        rows.append(
            SubmissionRow(
                **{name: row[name] for name in _SUBMITTED_AS_IS},
                systems=tuple(system for system, _ in written),
                content=shown.content,
                letters={
                    letter: tuple(system for system, side in written if side == number)
                    for letter, number in zip(LETTERS, shown.order, strict=False)
                },
                answer=json.loads(row["answer"]),
                scores=json.loads(row["scores"]),
                gold=None if row["gold"] is None else json.loads(row["gold"]),
                surplus=row["slot"] is None,
            )
        )
    return rows


def unit_scores(
    connection: Connection, *, units: Collection[int] | None = None
) -> Iterator[tuple[int, int, Scores]]:
    """Yield number, unit and scores of submissions of drawn units: of all, or of these."""
    wanted = _UNIT_SCORES if units is None else _UNIT_SCORES.where(submissions.c.unit.in_(units))
    for number, unit, scores in connection.execute(wanted):
        yield number, unit, json.loads(scores)


def judgment_times(connection: Connection) -> list[int]:
    """Return when submissions of drawn units came, in milliseconds."""
    return list(connection.execute(_TIMES).scalars())


def iso_time(milliseconds: int) -> str:
    """Write a time as text.

    Examples
    --------
    >>> iso_time(1_500)
    '1970-01-01T00:00:01.500+00:00'
    """
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")


_SCORED_AS_IS = (
    "submission",
    "unit",
    "item",
    "system",
    "rater",
    "number",
    "excluded",
    "wanted",
    "cluster",
    *DRAW_RECORD,
)
_SUBMITTED_AS_IS = (
    "id",
    "unit",
    "item",
    "rater",
    "number",
    "panel",
    "external_id",
    "session",
    "panel_session",
    "active_ms",
    "started",
    "time",
    "swapped",
    "excluded",
)
