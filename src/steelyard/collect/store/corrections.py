"""Changing one's last answer: the earlier one is kept beside it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from steelyard.collect.config.wording import phrase
from steelyard.collect.store.raters import hold_rater
from steelyard.collect.store.refusals import AlreadySubmittedError
from steelyard.collect.store.sides import Scores
from steelyard.collect.store.tables import earlier_answers, submissions

__all__ = ["Earlier", "Last", "correct", "earlier", "last_answer"]

# Changes of one answer: nobody needs more, and each is kept.
_MOST = 5


@dataclass(frozen=True, slots=True)
class Last:
    """The last answer of a visit.

    Attributes
    ----------
    submission : int
        Its number.
    lease : str
        What it was given under.
    key : str
        Under which it was sent last.
    answer : mapping
        By widget.
    active_ms, started : int
        Time spent on it, and when the unit was given.
    """

    submission: int
    lease: str
    key: str
    answer: Mapping[str, Any]
    active_ms: int
    started: int


@dataclass(frozen=True, slots=True)
class Earlier:
    """An answer before it was changed."""

    submission: int
    answer: Mapping[str, Any]
    scores: Scores
    active_ms: int
    time: int


_LAST = (
    select(
        submissions.c.id,
        submissions.c.lease,
        submissions.c.key,
        submissions.c.answer,
        submissions.c.scores,
        submissions.c.active_ms,
        submissions.c.started,
        submissions.c.session,
    )
    .where(submissions.c.rater == bindparam("rater"))
    .order_by(submissions.c.id.desc())
    .limit(1)
)
_CHANGES = select(func.count()).where(earlier_answers.c.submission == bindparam("submission"))
_KEEP = insert(earlier_answers)
_CHANGE = (
    update(submissions)
    .where(submissions.c.id == bindparam("submission_id"))
    .values(
        key=bindparam("new_key"),
        answer=bindparam("new_answer"),
        scores=bindparam("new_scores"),
        active_ms=bindparam("new_active_ms"),
    )
)
_EARLIER = select(
    earlier_answers.c.submission,
    earlier_answers.c.answer,
    earlier_answers.c.scores,
    earlier_answers.c.active_ms,
    earlier_answers.c.time,
).order_by(earlier_answers.c.id)


def last_answer(connection: Connection, *, rater: str, session: str) -> Last:
    """Return what a rater submitted last.

    Raises
    ------
    AlreadySubmittedError
        If nothing was submitted, or not in this visit.
    """
    return _last(_found(connection, rater, session))


def correct(
    connection: Connection,
    *,
    lease: str,
    rater: str,
    session: str,
    key: str,
    answer: Mapping[str, Any],
    scores: Scores,
    active_ms: int,
    now: int,
) -> None:
    """Put another answer in the place of the last one, which is kept; sent again it changes nothing.

    Parameters
    ----------
    connection : Connection
        Of the writer.
    lease, rater, session : str
        Ids; the lease must be that of the last answer of the visit.
    key, answer, scores, active_ms, now
        As in `submit`. Number, time and pay of the judgment stay.

    Raises
    ------
    AlreadySubmittedError
        If it is not the last answer of the visit, or was changed often enough.
    """
    hold_rater(connection, rater)
    found = _found(connection, rater, session)
    if found.lease != lease:
        raise AlreadySubmittedError(phrase("no-last-answer"))
    if found.key == key:
        return
    if connection.execute(_CHANGES, {"submission": found.id}).scalar_one() >= _MOST:
        raise AlreadySubmittedError(phrase("too-many-changes", most=_MOST))
    before = {name: getattr(found, name) for name in ("answer", "scores", "active_ms")}
    connection.execute(_KEEP, before | {"submission": found.id, "time": now})
    connection.execute(
        _CHANGE,
        {
            "submission_id": found.id,
            "new_key": key,
            "new_answer": json.dumps(answer, ensure_ascii=False),
            "new_scores": json.dumps(scores),
            "new_active_ms": max(found.active_ms, min(active_ms, now - found.started)),
        },
    )


def earlier(
    connection: Connection, *, submissions: Sequence[int] | None = None
) -> dict[int, list[Earlier]]:
    """Return answers that were changed, by submission, in the order in which they were given."""
    wanted = _EARLIER
    if submissions is not None:
        wanted = wanted.where(earlier_answers.c.submission.in_(submissions))
    kept: dict[int, list[Earlier]] = {}
    for row in connection.execute(wanted):
        one = Earlier(
            row.submission, json.loads(row.answer), json.loads(row.scores), row.active_ms, row.time
        )
        kept.setdefault(row.submission, []).append(one)
    return kept


def _found(connection: Connection, rater: str, session: str) -> Any:
    found = connection.execute(_LAST, {"rater": rater}).one_or_none()
    if found is None or found.session != session:
        raise AlreadySubmittedError(phrase("no-last-answer"))
    return found


def _last(row: Any) -> Last:
    return Last(row.id, row.lease, row.key, json.loads(row.answer), row.active_ms, row.started)
