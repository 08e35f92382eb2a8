"""What a rater is given next, held for a time and given to another when that time is over."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection

from steelyard.collect.config.wording import phrase
from steelyard.collect.policy.budget import UNLIMITED, Budget
from steelyard.collect.policy.visit import Reason, reason_to_end
from steelyard.collect.store import lease_statements as statements
from steelyard.collect.store.documents import (
    begun_document,
    following_segment,
    hold_document,
)
from steelyard.collect.store.ids import MODULUS, new_id, salt
from steelyard.collect.store.prepared import run
from steelyard.collect.store.refusals import NotAcceptedError
from steelyard.collect.store.shown import ShownContent, shown_content

__all__ = ["Lease", "lease_content", "next_lease", "save_draft"]

# Slots that are looked at for each position; with more judgments wanted of a unit the front is
# narrower than it may be.
_SLOTS_A_POSITION = 4


@dataclass(frozen=True, slots=True)
class Lease:
    """A unit that a rater holds.

    Attributes
    ----------
    id : str
        Random; names the lease on the page.
    unit : int
        The unit.
    shown : ShownContent
        What is shown, as this rater sees it.
    draft : mapping or None
        The answer so far.
    active_ms : int
        Time that the rater has spent on it, as the page measured it.
    started, expires : int
        Milliseconds.
    gold : bool
        Whether the right answer is known. Never tell the page.
    """

    id: str
    unit: int
    shown: ShownContent
    draft: Mapping[str, Any] | None
    active_ms: int
    started: int
    expires: int
    gold: bool


def next_lease(
    connection: Connection,
    *,
    session: str,
    rater: str,
    now: int,
    lease_ms: int,
    window: int = 10,
    budget: Budget | None = None,
    documents: bool = False,
) -> Lease | Reason:
    """Give a rater the unit to judge next.

    A rater who holds a unit gets it again, with the draft; units that were skipped come back when
    nothing else is left. Otherwise, of the units
    that are free, or whose lease is over, and that this rater has not judged, the first in the
    order of the draw and those less than `window` positions behind it: of these, the one that comes
    first in an order that is the rater's own. So each rater sees units in random order, while units
    are finished nearly in the order of the draw. The last that the budget can pay are given in that
    order, so that no gap is left.

    Parameters
    ----------
    connection : Connection
        Of the writer.
    session, rater : str
        Ids.
    now, lease_ms : int
        The time and how long to hold the unit, in milliseconds.
    window : int
        Positions of the queue to choose from.
    budget : Budget, optional
        What may be spent; nothing new is given that could not be paid.
    documents : bool
        Whether units are segments of documents, which a rater gets whole and in order; a visit does
        not end within one.

    Raises
    ------
    NotAcceptedError
        If there is no such session, or it is another rater's.
    """
    found = run(
        connection, statements.SITUATION, {"session": session, "rater": rater}
    ).one_or_none()
    if found is None:
        raise NotAcceptedError("there is no such session", code="not-joined")
    if found.rater != rater:
        raise NotAcceptedError("the session belongs to another rater", code="not-yours")
    expires = now + lease_ms
    chosen: Any = None
    if documents:
        hold_document(connection, rater=rater, expires=expires)
        chosen = following_segment(connection, rater=rater)
    reason = reason_to_end(
        excluded=found.excluded,
        state=found.state,
        is_goal_met=found.goal_met,
        done=found.done,
        limit=found.session_judgments,
        is_within=documents and (found.slot is not None or chosen is not None),
    )
    if reason is not None:
        return reason
    if found.slot is not None and _renewed(connection, found.slot, found.id, expires):
        run(
            connection,
            statements.MOVE_LEASE,
            {"lease_id": found.id, "new_slot": found.slot, "new_session": session},
        )
        return _lease(found, rater, expires)
    allowed = (
        UNLIMITED if budget is None else budget.allowance(connection, budget=found.budget, now=now)
    )
    if allowed.refusal is not None:
        return allowed.refusal
    if found.gold_every and chosen is None:
        chosen = _gold_choice(connection, rater, found.gold_every, found.secret)
    if chosen is None:
        choice = partial(begun_document, expires=expires) if documents else _choice
        chosen = _free(connection, choice, rater, now=now, window=allowed.window(window))
    if chosen is None:
        left = run(connection, statements.ANY_LEFT, {"rater": rater}).first()
        return "none-left" if left is None else "wait"
    return _taken(connection, chosen, rater=rater, session=session, now=now, expires=expires)


def save_draft(
    connection: Connection,
    *,
    lease: str,
    rater: str,
    answer: Mapping[str, Any],
    active_ms: int,
    now: int,
    lease_ms: int,
    documents: bool = False,
) -> int:
    """Keep an answer that is not complete, and hold the unit (and its document) for longer.

    Of the time spent, not more counts than has passed since the unit was given. If the lease was over and another
    has the unit by now, a submission is taken all the same.

    Returns
    -------
    int
        Until when the lease is held, in milliseconds.

    Raises
    ------
    NotAcceptedError
        If there is no such lease, or it is another rater's.
    """
    found = run(connection, statements.DRAFTED, {"lease": lease}).one_or_none()
    if found is None:
        raise NotAcceptedError(phrase("no-such-lease"), code="lease-lost")
    if found.rater != rater:
        raise NotAcceptedError(phrase("lease-of-another"), code="not-yours")
    run(
        connection,
        statements.SAVE,
        {
            "lease_id": lease,
            "new_draft": json.dumps(answer, ensure_ascii=False),
            "new_active_ms": max(0, min(active_ms, now - found.started)),
        },
    )
    expires = now + lease_ms
    _renewed(connection, found.slot, lease, expires)
    if documents:
        hold_document(connection, rater=rater, expires=expires)
    return expires


def lease_content(connection: Connection, *, lease: str) -> ShownContent:
    """Return what a lease showed, and to whom.

    Raises
    ------
    NotAcceptedError
        If there is no such lease.
    """
    found = run(connection, statements.LEASE_CONTENT, {"lease": lease}).one_or_none()
    if found is None:
        raise NotAcceptedError(phrase("no-such-lease"), code="lease-lost")
    content = json.loads(found.content)
    return shown_content(content, rater=found.rater, lease=lease, pair=bool(found.pair))


def _renewed(connection: Connection, slot: int, lease: str, expires: int) -> bool:
    """Hold a slot for longer, unless it was given away meanwhile."""
    values = {"slot_id": slot, "old_lease": lease, "new_expires": expires}
    return bool(run(connection, statements.RENEW, values).rowcount)


def _free(
    connection: Connection, choice: Callable[..., Any], rater: str, *, now: int, window: int
) -> Any:
    """Return a free unit; what was skipped comes back when nothing else is left."""
    chosen = choice(connection, rater=rater, now=now, window=window)
    if chosen is None:
        values = {"of_rater": rater, "now": now}
        if run(connection, statements.RETURN_SKIPPED, values).rowcount:
            chosen = choice(connection, rater=rater, now=now, window=window)
    return chosen


def _choice(connection: Connection, *, rater: str, now: int, window: int) -> Any:
    while True:
        most = _SLOTS_A_POSITION * window
        values = {
            "rater": rater,
            "salt": salt(rater),
            "now": now,
            "window": window,
            "most": most,
        }
        chosen = run(connection, statements.CHOICE, values).one_or_none()
        if chosen is not None or connection.dialect.name == "sqlite":
            return chosen
        # Other processes are about to take all of these: look further, unless there is no further.
        front = run(connection, statements.FRONT, values).one()
        if front.size < most and (front.reach or 0) < window:
            return None
        window *= 8


def _gold_choice(connection: Connection, rater: str, every: int, secret: str) -> Any:
    """Return a gold unit in a slot of its own, if it is time for one and one is left.

    Of every so many units one is gold. Which one, nobody can tell who does not know the secret. Within a
    document there is none: it comes after it.
    """
    of_rater = {"rater": rater}
    given = run(connection, statements.GIVEN, of_rater).scalar_one()
    blocks = given // every
    # of the block that has begun, whether its place has come
    is_due = salt(f"{secret} {rater} {blocks}") % every <= given % every
    if run(connection, statements.GOLD_GIVEN, of_rater).scalar_one() >= blocks + is_due:
        return None
    left = run(connection, statements.GOLD, of_rater).all()
    if not left:
        return None
    own = salt(rater)
    unit = min(left, key=lambda row: salt(row.digest) * own % MODULUS)
    new = {"unit": unit.id, "salt": salt(unit.digest)}
    slot = run(connection, statements.ADD_GOLD_SLOT, new).scalar_one()
    return run(connection, statements.GIVEN_SLOT, {"slot": slot, "rater": rater}).one()


def _taken(
    connection: Connection, chosen: Any, *, rater: str, session: str, now: int, expires: int
) -> Lease:
    """Hold the chosen slot under a new lease, or under the one that the rater once had."""
    lease = chosen.id or new_id()
    take = {"slot_id": chosen.slot, "new_lease": lease, "new_rater": rater, "new_expires": expires}
    run(connection, statements.TAKE, take)
    if chosen.id is not None:
        move = {"lease_id": lease, "new_slot": chosen.slot, "new_session": session}
        run(connection, statements.MOVE_LEASE, move)
        return _lease(chosen, rater, expires)
    row = {
        "id": lease,
        "slot": chosen.slot,
        "unit": chosen.unit,
        "rater": rater,
        "session": session,
        "started": now,
    }
    run(connection, statements.ADD_LEASE, row)
    return Lease(
        id=lease,
        unit=chosen.unit,
        shown=shown_content(
            json.loads(chosen.content), rater=rater, lease=lease, pair=bool(chosen.pair)
        ),
        draft=None,
        active_ms=0,
        started=now,
        expires=expires,
        gold=chosen.gold is not None,
    )


def _lease(found: Any, rater: str, expires: int) -> Lease:
    return Lease(
        id=found.id,
        unit=found.unit,
        shown=shown_content(
            json.loads(found.content), rater=rater, lease=found.id, pair=bool(found.pair)
        ),
        draft=None if found.draft is None else json.loads(found.draft),
        active_ms=found.active_ms,
        started=found.started,
        expires=expires,
        gold=found.gold is not None,
    )
