"""Submissions as they were given, with what was shown and who gave them."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, select

from steelyard.collect.store.shown import Scores, ShownContent, shown_content
from steelyard.collect.store.tables import raters, sessions, submissions, targets, units
from steelyard.collect.tasks.screen import LETTERS

__all__ = ["SubmissionRow", "iso_time", "judgment_times", "submission_rows", "unit_scores"]


@dataclass(frozen=True, kw_only=True)
class SubmissionRow:
    """One submission, whole; what is kept as JSON is read when it is asked for.

    Attributes
    ----------
    id, unit : int
        Submission and unit.
    item : str
        The item.
    written : tuple of (str, int)
        The systems it stands for, each with its side; none for gold.
    rater, number
        The rater, as in `Session`.
    lease, panel_session : str
        The lease, and the panel's name of the visit.
    active_ms : int
        Time spent on it while the page was visible.
    started, time : int
        When the unit was given and when the answer came, in milliseconds.
    swapped, surplus, excluded : bool
        Whether the sides of a pair had changed places; whether it is one more than was asked for;
        whether the rater is excluded from the estimate.
    stored : mapping of str to str
        ``content``, ``answer``, ``scores``, ``gold`` and ``earlier`` as JSON.
    """

    id: int
    unit: int
    item: str
    written: tuple[tuple[str, int], ...]
    rater: str
    number: int
    lease: str
    panel_session: str
    active_ms: int
    started: int
    time: int
    swapped: bool
    surplus: bool
    excluded: bool
    stored: Mapping[str, str | None]

    def _read(self, name: str) -> Any:
        text = self.stored[name]
        return None if text is None else json.loads(text)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems it stands for; in a pair, first and second; none for gold."""
        return tuple(system for system, _ in self.written)

    @property
    def _shown(self) -> ShownContent:
        # the sides of a pair are as they were recorded
        content = self._read("content")
        return shown_content(content, rater=self.rater, lease=self.lease, pair=self.swapped)

    @property
    def content(self) -> dict[str, Any]:
        """What was shown, as the rater saw it."""
        return self._shown.content

    @property
    def letters(self) -> Mapping[str, tuple[str, ...]]:
        """Of a screen: the systems whose output stood under each letter; else empty."""
        return {
            letter: tuple(system for system, side in self.written if side == number)
            for letter, number in zip(LETTERS, self._shown.order, strict=False)
        }

    @property
    def answer(self) -> Mapping[str, Any]:
        """By widget."""
        answer: Mapping[str, Any] = self._read("answer")
        return answer

    @property
    def scores(self) -> Scores:
        """By prompt; of a screen, by the number of the output in the unit and by prompt."""
        scores: Scores = self._read("scores")
        return scores

    @property
    def gold(self) -> Mapping[str, Any] | None:
        """Accepted answers of a gold unit."""
        accepted: Mapping[str, Any] | None = self._read("gold")
        return accepted

    @property
    def earlier(self) -> tuple[Mapping[str, Any], ...]:
        """Answers before it was changed, each with ``answer``, ``scores``, ``active_ms`` and the ``time`` until which it stood."""
        return tuple(self._read("earlier") or ())


_STORED = {
    "content": units.c.content,
    "answer": submissions.c.answer,
    "scores": submissions.c.scores,
    "gold": units.c.gold,
    "earlier": submissions.c.earlier,
}
_ROWS = (
    select(
        submissions.c.id,
        submissions.c.unit,
        units.c.item,
        submissions.c.rater,
        raters.c.number,
        submissions.c.lease,
        sessions.c.panel_session,
        submissions.c.active_ms,
        submissions.c.started,
        submissions.c.time,
        submissions.c.swapped,
        submissions.c.slot.is_(None).label("surplus"),
        raters.c.excluded,
        *_STORED.values(),
    )
    .select_from(submissions)
    .join(units, units.c.id == submissions.c.unit)
    .join(raters, raters.c.id == submissions.c.rater)
    .join(sessions, sessions.c.id == submissions.c.session)
    .order_by(submissions.c.id)
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
    written: dict[int, tuple[tuple[str, int], ...]] = {}
    for unit, system, side in connection.execute(named):
        written[unit] = (*written.get(unit, ()), (system, side))
    rows = connection.execute(wanted)
    plain = list(rows.keys())[: -len(_STORED)]
    return [
        SubmissionRow(
            **dict(zip(plain, row, strict=False)),
            written=written.get(row[1], ()),
            stored=dict(zip(_STORED, row[-len(_STORED) :], strict=True)),
        )
        for row in rows
    ]


def unit_scores(
    connection: Connection, *, of: Collection[int] | None = None
) -> Iterator[tuple[int, int, Scores]]:
    """Yield number, unit and scores of submissions of drawn units: of all, or of these."""
    wanted = (
        select(submissions.c.id, submissions.c.unit, submissions.c.scores)
        .join_from(submissions, units, units.c.id == submissions.c.unit)
        .where(units.c.gold.is_(None))
    )
    if of is not None:
        wanted = wanted.where(submissions.c.unit.in_(of))
    for number, unit, scores in connection.execute(wanted):
        yield number, unit, json.loads(scores)


def judgment_times(connection: Connection) -> list[int]:
    """Return when submissions of drawn units came, in milliseconds."""
    wanted = (
        select(submissions.c.time)
        .join_from(submissions, units, units.c.id == submissions.c.unit)
        .where(units.c.gold.is_(None))
    )
    return list(connection.execute(wanted).scalars())


def iso_time(milliseconds: int) -> str:
    """Write a time as text.

    Examples
    --------
    >>> iso_time(1_500)
    '1970-01-01T00:00:01.500+00:00'
    """
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
