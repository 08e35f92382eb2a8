"""Submissions as they were given, with what was shown and who gave them."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, select

from steelyard.collect.store.shown import Scores, shown_content
from steelyard.collect.store.tables import raters, sessions, submissions, targets, units
from steelyard.collect.tasks.screen import LETTERS

__all__ = ["SubmissionRow", "iso_time", "judgment_times", "submission_rows", "unit_scores"]


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
    rater, number
        The rater, as in `Rater`.
    panel_session : str
        The panel's name of the visit.
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
    earlier : sequence of mapping
        Answers before it was changed, each with ``answer``, ``scores``, ``active_ms`` and the ``time``
        until which it stood.
    """

    id: int
    unit: int
    item: str
    systems: tuple[str, ...]
    content: Mapping[str, Any]
    letters: Mapping[str, tuple[str, ...]]
    rater: str
    number: int
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
    earlier: tuple[Mapping[str, Any], ...]


_ROWS = (
    select(
        submissions.c.id,
        submissions.c.unit,
        submissions.c.rater,
        submissions.c.active_ms,
        submissions.c.started,
        submissions.c.time,
        submissions.c.swapped,
        units.c.item,
        raters.c.number,
        raters.c.excluded,
        sessions.c.panel_session,
        submissions.c.lease,
        submissions.c.slot,
        submissions.c.answer,
        submissions.c.scores,
        submissions.c.earlier,
        units.c.content,
        units.c.gold,
    )
    .select_from(submissions)
    .join(units, units.c.id == submissions.c.unit)
    .join(raters, raters.c.id == submissions.c.rater)
    .join(sessions, sessions.c.id == submissions.c.session)
    .order_by(submissions.c.id)
)
# Columns that are not as the record has them.
_MADE = frozenset({"lease", "slot", "answer", "scores", "earlier", "content", "gold"})
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


def submission_rows(
    connection: Connection, *, where: ColumnElement[bool] | None = None
) -> list[SubmissionRow]:
    """Return every submission, or those that fit, gold too, in the order of arrival."""
    named, wanted = _SYSTEMS, _ROWS
    if where is not None:
        named = named.where(targets.c.unit.in_(select(submissions.c.unit).where(where)))
        wanted = wanted.where(where)
    systems: dict[int, list[tuple[str, int]]] = {}
    for unit, system, side in connection.execute(named):
        systems.setdefault(unit, []).append((system, side))
    rows = []
    found = connection.execute(wanted)
    as_they_are = [name for name in found.keys() if name not in _MADE]  # noqa: SIM118
    for row in found.mappings():
        shown = shown_content(
            json.loads(row["content"]),
            rater=row["rater"],
            lease=row["lease"],
            # the sides of a pair are as they were recorded
            pair=bool(row["swapped"]),
        )
        written = systems.get(row["unit"], ())
        rows.append(
            SubmissionRow(
                **{name: row[name] for name in as_they_are},
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
                earlier=tuple(json.loads(row["earlier"] or "[]")),
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
