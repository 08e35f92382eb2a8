"""Submissions: complete answers, each stored once and paid once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, bindparam, func, insert, literal_column, select, update

from steelyard.collect.config.wording import phrase
from steelyard.collect.store.ids import is_swapped
from steelyard.collect.store.prepared import Prepared
from steelyard.collect.store.queue import rebalance
from steelyard.collect.store.refusals import (
    AlreadySubmittedError,
    NotYoursError,
    UnknownLeaseError,
)
from steelyard.collect.store.sides import Scores
from steelyard.collect.store.tables import (
    leases,
    ledger,
    raters,
    reports,
    sessions,
    slots,
    submissions,
    units,
)

__all__ = ["Accepted", "submit"]


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


_LEASE = Prepared(
    select(
        leases.c.rater,
        leases.c.slot,
        leases.c.unit,
        leases.c.session,
        leases.c.started,
        units.c.pair,
        raters.c.excluded,
        sessions.c.done,
        slots.c.offered,
        submissions.c.id.label("submission"),
        submissions.c.key,
        submissions.c.slot.label("filled"),
        reports.c.id.label("report"),
        select(func.coalesce(func.sum(ledger.c.amount), 0))
        .where(ledger.c.rater == leases.c.rater)
        .scalar_subquery()
        .label("earned"),
    )
    .select_from(leases)
    .join(units, units.c.id == leases.c.unit)
    .join(raters, raters.c.id == leases.c.rater)
    .join(sessions, sessions.c.id == leases.c.session)
    .join(slots, slots.c.id == leases.c.slot)
    .outerjoin(submissions, submissions.c.lease == leases.c.id)
    .outerjoin(
        reports,
        and_(
            reports.c.unit == leases.c.unit,
            reports.c.rater == leases.c.rater,
            reports.c.undone.is_(None),
        ),
    )
    .where(leases.c.id == bindparam("lease"))
)
_FILL = Prepared(
    update(slots)
    .where(
        slots.c.id == bindparam("slot_id"),
        slots.c.lease == bindparam("own_lease"),
        literal_column("NOT slots.done"),
    )
    .values(done=True)
)
_ADD = Prepared(insert(submissions).returning(submissions.c.id))
_PAY = Prepared(insert(ledger).values(kind="judgment"))
_COUNT = Prepared(
    update(sessions)
    .where(sessions.c.id == bindparam("session_id"))
    .values(done=sessions.c.done + 1)
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

    Returns
    -------
    Accepted

    Raises
    ------
    UnknownLeaseError, NotYoursError
        If there is no such lease, it was handed back, or it is another rater's.
    AlreadySubmittedError
        If it was submitted under another key.
    """
    found = _LEASE.row(connection, {"lease": lease})
    if found is None:
        raise UnknownLeaseError("there is no such lease")
    if found.rater != rater:
        raise NotYoursError("the lease belongs to another rater")
    if found.submission is not None:
        if found.key != key:
            raise AlreadySubmittedError(
                "this unit was submitted already, under another key: the first answer stands"
            )
        surplus, earned = found.filled is None, int(found.earned)
        return Accepted(found.submission, True, surplus, found.done, earned)
    if found.report is not None:
        # or a rater could collect texts by handing them back, and be paid beyond the visit and the budget
        raise UnknownLeaseError(phrase("text-handed-back"))
    filled = _FILL.change(connection, {"slot_id": found.slot, "own_lease": lease}) == 1
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
    submission = _ADD.scalar(connection, row)
    _PAY.change(connection, {"rater": rater, "amount": pay, "time": now, "submission": submission})
    _COUNT.change(connection, {"session_id": found.session})
    if found.excluded or not filled or not found.offered:
        # One that does not count leaves another to be wanted; one that was not asked for any more,
        # one fewer.
        rebalance(connection, [found.unit], now=now)
    return Accepted(submission, False, not filled, found.done + 1, int(found.earned) + pay)
