"""Submissions: complete answers, each stored once and paid once; the last one may be changed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, literal_column, select, update

from steelyard.collect.config.wording import phrase
from steelyard.collect.store.hand_backs import holds
from steelyard.collect.store.prepared import run
from steelyard.collect.store.queue import rebalance
from steelyard.collect.store.raters import hold_rater
from steelyard.collect.store.refusals import NotAcceptedError
from steelyard.collect.store.shown import Scores, is_swapped
from steelyard.collect.store.tables import (
    leases,
    ledger,
    raters,
    sessions,
    slots,
    submissions,
    units,
)

__all__ = ["Accepted", "LastAnswer", "correct", "last_answer", "submit"]

# Changes of one answer: nobody needs more, and each is kept.
_MOST_CHANGES = 5


@dataclass(frozen=True, slots=True)
class Accepted:
    """A submission is stored.

    Attributes
    ----------
    submission : int
        Its number.
    repeated : bool
        Whether it had been stored before, under the same key.
    surplus : bool
        Whether it came when its slot was another's already: one judgment more than was asked for.
    done : int
        Judgments of this visit, with this one.
    earned : int
        What the rater has earned, with this one, in millionths of the currency.
    """

    submission: int
    repeated: bool
    surplus: bool
    done: int
    earned: int


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """The last answer of a visit: what it was given under, and the answer as it stands."""

    lease: str
    answer: Mapping[str, Any]
    active_ms: int


_EARNED = (
    select(func.coalesce(func.sum(ledger.c.amount), 0))
    .where(ledger.c.rater == leases.c.rater)
    .scalar_subquery()
)
_LEASE = (
    select(
        leases.c.rater,
        leases.c.slot,
        leases.c.unit,
        leases.c.session,
        leases.c.started,
        holds.label("is_handed_back"),
        units.c.pair,
        raters.c.excluded,
        sessions.c.done,
        slots.c.offered,
        submissions.c.id.label("submission"),
        submissions.c.key,
        submissions.c.slot.label("filled"),
        _EARNED.label("earned"),
    )
    .select_from(leases)
    .join(units, units.c.id == leases.c.unit)
    .join(raters, raters.c.id == leases.c.rater)
    .join(sessions, sessions.c.id == leases.c.session)
    .join(slots, slots.c.id == leases.c.slot)
    .outerjoin(submissions, submissions.c.lease == leases.c.id)
    .where(leases.c.id == bindparam("lease"))
)
_FILL = (
    update(slots)
    .where(
        slots.c.id == bindparam("slot_id"),
        slots.c.lease == bindparam("own_lease"),
        literal_column("NOT slots.done"),
    )
    .values(done=True)
)
_ADD = insert(submissions).returning(submissions.c.id)
_PAY = insert(ledger).values(kind="judgment")
_COUNT = (
    update(sessions)
    .where(sessions.c.id == bindparam("session_id"))
    .values(done=sessions.c.done + 1)
)
_LAST = (
    select(submissions)
    .where(submissions.c.rater == bindparam("rater"))
    .order_by(submissions.c.id.desc())
    .limit(1)
)
_CHANGE = (
    update(submissions)
    .where(submissions.c.id == bindparam("submission_id"))
    .values(
        key=bindparam("new_key"),
        answer=bindparam("new_answer"),
        scores=bindparam("new_scores"),
        active_ms=bindparam("new_active_ms"),
        changes=submissions.c.changes + 1,
        earlier=bindparam("new_earlier"),
    )
)


def submit(
    connection: Connection,
    *,
    lease: str,
    rater: str,
    key: str,
    answer: Mapping[str, Any],
    scores: Scores,
    active_ms: int,
    now: int,
    pay: int,
) -> Accepted:
    """Store a complete answer and what it is paid.

    Sending it again under the same key changes nothing and is answered in the same way. A
    lease whose time is over is accepted as long as nobody else has taken the slot; after that too,
    because the rater did the work, as a surplus.

    Parameters
    ----------
    connection : Connection
        Of the writer.
    lease, rater : str
        Ids.
    key : str
        Chosen by the page, one for each submission.
    answer : mapping
        The answer, by widget.
    scores : mapping of str to float
        The judgments that follow from it, by prompt; in a pair, about the output that is
        first in the unit, whichever was first on the page; of a screen, by output and prompt.
    active_ms : int
        Time spent on it; not more than has passed since the unit was given.
    now : int
        Milliseconds.
    pay : int
        In millionths of the currency.

    Raises
    ------
    NotAcceptedError
        If there is no such lease, it was handed back, or it is another rater's.
    NotAcceptedError
        If it was submitted under another key.
    """
    found = run(connection, _LEASE, {"lease": lease}).one_or_none()
    if found is None:
        raise NotAcceptedError(phrase("no-such-lease"), code="lease-lost")
    if found.rater != rater:
        raise NotAcceptedError(phrase("lease-of-another"), code="not-yours")
    if found.submission is not None:
        if found.key != key:
            raise NotAcceptedError(
                "this unit was submitted already, under another key: the first answer stands",
                code="already-submitted",
            )
        surplus, earned = found.filled is None, int(found.earned)
        return Accepted(found.submission, True, surplus, found.done, earned)
    if found.is_handed_back:
        # or a rater could collect texts by handing them back, and be paid beyond the visit and the budget
        raise NotAcceptedError(phrase("text-handed-back"), code="lease-lost")
    filled = run(connection, _FILL, {"slot_id": found.slot, "own_lease": lease}).rowcount == 1
    row = {
        "lease": lease,
        "slot": found.slot if filled else None,
        "unit": found.unit,
        "rater": rater,
        "session": found.session,
        "key": key,
        "answer": json.dumps(answer, ensure_ascii=False),
        "scores": json.dumps(scores),
        "active_ms": max(0, min(active_ms, now - found.started)),
        "swapped": bool(found.pair) and is_swapped(lease),
        "started": found.started,
        "time": now,
    }
    submission = run(connection, _ADD, row).scalar_one()
    owed = {"rater": rater, "amount": pay, "time": now, "submission": submission}
    run(connection, _PAY, owed)
    run(connection, _COUNT, {"session_id": found.session})
    if found.excluded or not filled or not found.offered:
        # One that does not count leaves another to be wanted; one that was not asked for any more,
        # one fewer.
        rebalance(connection, [found.unit], now=now)
    return Accepted(submission, False, not filled, found.done + 1, int(found.earned) + pay)


def last_answer(connection: Connection, *, rater: str, session: str) -> LastAnswer:
    """Return what a rater submitted last.

    Raises
    ------
    NotAcceptedError
        If nothing was submitted, or not in this visit.
    """
    found = _last(connection, rater, session)
    return LastAnswer(found.lease, json.loads(found.answer), found.active_ms)


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

    The lease must be that of the last answer of the visit. Number, time and pay of the judgment
    stay.

    Raises
    ------
    NotAcceptedError
        If it is not the last answer of the visit, or was changed often enough.
    """
    hold_rater(connection, rater)
    found = _last(connection, rater, session)
    if found.lease != lease:
        raise NotAcceptedError(phrase("no-last-answer"), code="already-submitted")
    if found.key == key:
        return
    if found.changes >= _MOST_CHANGES:
        raise NotAcceptedError(
            phrase("too-many-changes", most=_MOST_CHANGES), code="already-submitted"
        )
    before = {
        "answer": json.loads(found.answer),
        "scores": json.loads(found.scores),
        "active_ms": found.active_ms,
        "time": now,
    }
    earlier = [*json.loads(found.earlier or "[]"), before]
    connection.execute(
        _CHANGE,
        {
            "submission_id": found.id,
            "new_key": key,
            "new_answer": json.dumps(answer, ensure_ascii=False),
            "new_scores": json.dumps(scores),
            "new_active_ms": max(found.active_ms, min(active_ms, now - found.started)),
            "new_earlier": json.dumps(earlier, ensure_ascii=False),
        },
    )


def _last(connection: Connection, rater: str, session: str) -> Any:
    found = connection.execute(_LAST, {"rater": rater}).one_or_none()
    if found is None or found.session != session:
        raise NotAcceptedError(phrase("no-last-answer"), code="already-submitted")
    return found
