"""Submissions: complete answers, each stored once and paid once; the last one may be changed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select, update

from steelyard.collect.config.wording import phrase
from steelyard.collect.store.queue import rebalance
from steelyard.collect.store.raters import hold_rater
from steelyard.collect.store.refusals import NotAcceptedError
from steelyard.collect.store.shown import Scores, is_swapped
from steelyard.collect.store.sql import change, first
from steelyard.collect.store.tables import submissions

__all__ = ["Accepted", "correct", "last_answer", "submit"]

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


_LEASE = """
    SELECT leases.rater, leases.slot, leases.unit, leases.session, leases.started,
           leases.hand_back IS NOT NULL AND (slots.lease IS NULL OR slots.lease <> leases.id)
               AS is_handed_back,
           units.pair, raters.excluded, sessions.done, slots.offered,
           submissions.id AS submission, submissions.key, submissions.slot AS filled,
           (SELECT coalesce(sum(amount), 0) FROM ledger WHERE ledger.rater = leases.rater) AS earned
    FROM leases
    JOIN units ON units.id = leases.unit
    JOIN raters ON raters.id = leases.rater
    JOIN sessions ON sessions.id = leases.session
    JOIN slots ON slots.id = leases.slot
    LEFT JOIN submissions ON submissions.lease = leases.id
    WHERE leases.id = :lease"""
_FILL = "UPDATE slots SET done = TRUE WHERE id = :slot AND lease = :lease AND NOT done"
_ADD = """
    INSERT INTO submissions
        (lease, slot, unit, rater, session, key, answer, scores, active_ms, swapped, started, time)
    VALUES (:lease, :slot, :unit, :rater, :session, :key, :answer, :scores, :active_ms, :swapped,
            :started, :time)
    RETURNING id"""
_PAY = """
    INSERT INTO ledger (kind, rater, amount, time, submission)
    VALUES ('judgment', :rater, :amount, :time, :submission)"""
_COUNT = "UPDATE sessions SET done = done + 1 WHERE id = :session"


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
        If there is no such lease, it was handed back and not given again, it is another rater's, or was
        submitted under another key.
    """
    held = first(connection, _LEASE, lease=lease)
    if held is None:
        raise NotAcceptedError(phrase("no-such-lease"), code="lease-lost")
    if held.rater != rater:
        raise NotAcceptedError(phrase("lease-of-another"), code="not-yours")
    earned = int(held.earned)
    if held.submission is not None:
        if held.key != key:
            raise NotAcceptedError(
                "this unit was submitted already, under another key: the first answer stands",
                code="already-submitted",
            )
        return Accepted(held.submission, True, held.filled is None, held.done, earned)
    if held.is_handed_back:
        # also when it may be judged again but was not given again: or a rater could collect texts by
        # handing them back, and be paid beyond the visit and the budget
        raise NotAcceptedError(phrase("text-handed-back"), code="lease-lost")
    filled = change(connection, _FILL, slot=held.slot, lease=lease) == 1
    submission = first(
        connection,
        _ADD,
        lease=lease,
        slot=held.slot if filled else None,
        unit=held.unit,
        rater=rater,
        session=held.session,
        key=key,
        answer=json.dumps(answer, ensure_ascii=False),
        scores=json.dumps(scores),
        active_ms=max(0, min(active_ms, now - held.started)),
        swapped=bool(held.pair) and is_swapped(lease),
        started=held.started,
        time=now,
    ).id
    change(connection, _PAY, rater=rater, amount=pay, time=now, submission=submission)
    change(connection, _COUNT, session=held.session)
    if held.excluded or not filled or not held.offered:
        # One that does not count leaves another to be wanted; one that was not asked for any more,
        # one fewer.
        rebalance(connection, [held.unit], now=now)
    return Accepted(submission, False, not filled, held.done + 1, earned + pay)


def last_answer(connection: Connection, *, rater: str, session: str) -> Any:
    """Return what a rater submitted last: the row of `submissions`.

    Raises
    ------
    NotAcceptedError
        If nothing was submitted, or not in this visit.
    """
    wanted = select(submissions).where(submissions.c.rater == rater)
    last = connection.execute(wanted.order_by(submissions.c.id.desc()).limit(1)).one_or_none()
    if last is None or last.session != session:
        raise NotAcceptedError(phrase("no-last-answer"), code="already-submitted")
    return last


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
    last = last_answer(connection, rater=rater, session=session)
    if last.lease != lease:
        raise NotAcceptedError(phrase("no-last-answer"), code="already-submitted")
    if last.key == key:
        return
    if last.changes >= _MOST_CHANGES:
        raise NotAcceptedError(
            phrase("too-many-changes", most=_MOST_CHANGES), code="already-submitted"
        )
    before = {
        "answer": json.loads(last.answer),
        "scores": json.loads(last.scores),
        "active_ms": last.active_ms,
        "time": now,
    }
    earlier = [*json.loads(last.earlier or "[]"), before]
    connection.execute(
        update(submissions)
        .where(submissions.c.id == last.id)
        .values(
            key=key,
            answer=json.dumps(answer, ensure_ascii=False),
            scores=json.dumps(scores),
            active_ms=max(last.active_ms, min(active_ms, now - last.started)),
            changes=submissions.c.changes + 1,
            earlier=json.dumps(earlier, ensure_ascii=False),
        )
    )
