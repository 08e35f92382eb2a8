"""What a rater is given next, held for a time and given to another when that time is over.

Of documents, whoever takes the first segment gets the others too, in order: the later ones are kept. They count as
held, by nobody, until the rater asks for them or is not heard of for the time of a lease. What such a rater leaves
undone goes to another, from the first segment that is left.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from steelyard.collect.config.wording import phrase
from steelyard.collect.policy.budget import UNLIMITED, Budget
from steelyard.collect.policy.visit import Reason, reason_to_end
from steelyard.collect.store.ids import MODULUS, new_id, salt
from steelyard.collect.store.refusals import NotAcceptedError
from steelyard.collect.store.shown import ShownContent, shown_content
from steelyard.collect.store.sql import change, first, rows

__all__ = ["Lease", "lease_content", "next_lease", "save_draft"]

# Slots that are looked at for each position; with more judgments wanted of a unit the front is
# narrower than it may be.
_SLOTS_A_POSITION = 4
# Documents that another process may take in between.
_TRIES = 5

_SITUATION = """
    SELECT settings.state, settings.goal_met, settings.budget, settings.session_judgments,
           settings.gold_every, settings.secret, sessions.rater, sessions.done, raters.excluded,
           own_slot.id AS slot, leases.id, leases.unit, units.content, units.pair, units.gold,
           leases.draft, leases.active_ms, leases.started
    FROM sessions
    JOIN settings ON settings.id = 1
    JOIN raters ON raters.id = sessions.rater
    LEFT JOIN slots AS own_slot
      ON own_slot.rater = :rater AND NOT own_slot.done AND own_slot.rater IS NOT NULL
    LEFT JOIN leases ON leases.id = own_slot.lease
    LEFT JOIN units ON units.id = leases.unit
    WHERE sessions.id = :session
    ORDER BY leases.started
    LIMIT 1"""
# Not of a unit that the rater has judged, or handed back.
_IS_OPEN = "NOT slots.done AND slots.offered"
_IS_NEW = """
    NOT EXISTS (
        SELECT 1 FROM submissions WHERE submissions.unit = slots.unit AND submissions.rater = :rater)
    AND NOT EXISTS (
        SELECT 1 FROM leases AS past
        WHERE past.unit = slots.unit AND past.rater = :rater
          AND past.hand_back IS NOT NULL AND past.hand_back_undone IS NULL)"""
# The front reaches from the first open position on: were it the first so many open slots, a unit
# that comes late in everybody's order would be passed over for good, and the draw's prefix with it.
_FRONT = f"""
    WITH front AS (
        SELECT slots.id, slots.salt, slots.position FROM slots
        WHERE {_IS_OPEN} AND slots.expires <= :now AND {_IS_NEW}
        ORDER BY slots.position, slots.id
        LIMIT :most)"""
_FIRST = "(SELECT min(front.position) FROM front)"
_UNIT_TO_GIVE = """
    SELECT slots.id AS slot, slots.unit, units.content, units.pair, units.gold, units.document,
           units.place, leases.id, leases.draft, leases.active_ms, leases.started"""
_AND_ITS_LEASE = """
    JOIN units ON units.id = slots.unit
    LEFT JOIN leases ON leases.rater = :rater AND leases.unit = slots.unit"""
# The front is looked at without locks; of those, the first in the rater's own order that no other
# process is about to take. Its state is asked for again, because it may have changed in between.
_CHOICE = f"""{_FRONT} {_UNIT_TO_GIVE}
    FROM front JOIN slots ON slots.id = front.id {_AND_ITS_LEASE}
    WHERE {_IS_OPEN} AND slots.expires <= :now AND front.position < {_FIRST} + :window
    ORDER BY (front.salt * :salt) % {MODULUS}, slots.id
    LIMIT 1"""
_TAKEN_BY_NOBODY_ELSE = " FOR UPDATE OF slots SKIP LOCKED"
_FRONT_SIZE = (
    f"{_FRONT} SELECT count(*) AS size, max(front.position - {_FIRST}) AS reach FROM front"
)
_TO_GIVE = f"{_UNIT_TO_GIVE} FROM slots {_AND_ITS_LEASE} WHERE "
# What is left of the document that a rater has begun.
_FOLLOWING = f"""{_TO_GIVE} slots.kept = :rater AND {_IS_OPEN} AND {_IS_NEW}
    ORDER BY units.document, units.place, slots.id
    LIMIT 1"""
_OF_DOCUMENT = f"""{_TO_GIVE} units.document = :document AND {_IS_OPEN} AND slots.expires <= :now
    AND {_IS_NEW}
    ORDER BY units.place, slots.id"""
_LOCK_DOCUMENT = "SELECT id FROM units WHERE document = :document AND place = 1 FOR UPDATE"
_KEEP = """
    UPDATE slots SET kept = :rater, expires = :expires, lease = NULL, rater = NULL WHERE id = :slot"""
_HOLD_KEPT = """
    UPDATE slots SET expires = :expires
    WHERE kept = :rater AND NOT done AND kept IS NOT NULL AND rater IS NULL"""
# What the rater skipped comes back.
_RETURN_SKIPPED = """
    UPDATE leases SET hand_back_undone = :now, came_back = TRUE
    WHERE rater = :rater AND hand_back = 'skip' AND hand_back_undone IS NULL"""
_ANY_LEFT = f"SELECT slots.id FROM slots WHERE {_IS_OPEN} AND {_IS_NEW} LIMIT 1"
_GIVEN = """
    SELECT count(*) AS units, count(units.gold) AS gold
    FROM leases JOIN units ON units.id = leases.unit
    WHERE leases.rater = :rater"""
_GOLD = """
    SELECT units.id, units.digest FROM units
    WHERE units.gold IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM leases WHERE leases.rater = :rater AND leases.unit = units.id)
    ORDER BY units.id"""
_ADD_GOLD_SLOT = """
    INSERT INTO slots (unit, salt, position, kind, offered)
    VALUES (:unit, :salt, 0, 'gold', FALSE) RETURNING id"""
_TAKE = "UPDATE slots SET lease = :lease, rater = :rater, expires = :expires WHERE id = :slot"
_RENEW = """
    UPDATE slots SET expires = :expires WHERE id = :slot AND lease = :lease AND NOT done"""
_ADD_LEASE = """
    INSERT INTO leases (id, slot, unit, rater, session, started)
    VALUES (:lease, :slot, :unit, :rater, :session, :now)"""
_MOVE_LEASE = "UPDATE leases SET slot = :slot, session = :session WHERE id = :lease"
_DRAFTED = "SELECT rater, slot, started FROM leases WHERE id = :lease"
_SAVE = "UPDATE leases SET draft = :draft, active_ms = :active_ms WHERE id = :lease"
_CONTENT = """
    SELECT leases.rater, units.content, units.pair
    FROM leases JOIN units ON units.id = leases.unit
    WHERE leases.id = :lease"""


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
    """Give a rater the unit to judge next, or say why there is none.

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
    held = _situation(connection, session, rater)
    expires = now + lease_ms
    chosen: Any = None
    if documents:
        change(connection, _HOLD_KEPT, rater=rater, expires=expires)
        chosen = first(connection, _FOLLOWING, rater=rater)
    reason = reason_to_end(
        excluded=held.excluded,
        state=held.state,
        is_goal_met=held.goal_met,
        done=held.done,
        limit=held.session_judgments,
        is_within=documents and (held.slot is not None or chosen is not None),
    )
    if reason is not None:
        return reason
    if held.slot is not None and _renewed(connection, held.slot, held.id, expires):
        change(connection, _MOVE_LEASE, lease=held.id, slot=held.slot, session=session)
        return _lease(held, held.id, rater, expires)
    allowed = UNLIMITED
    if budget is not None:
        allowed = budget.allowance(connection, budget=held.budget, now=now)
    if allowed.refusal is not None:
        return allowed.refusal
    if chosen is None and held.gold_every:
        chosen = _gold_choice(connection, rater, held.gold_every, held.secret)
    if chosen is None:
        place = {"now": now, "expires": expires, "window": allowed.window(window)}
        chosen = _free_or_skipped(connection, rater, documents=documents, **place)
    if chosen is None:
        return "none-left" if first(connection, _ANY_LEFT, rater=rater) is None else "wait"
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
    drafted = first(connection, _DRAFTED, lease=lease)
    if drafted is None:
        raise NotAcceptedError(phrase("no-such-lease"), code="lease-lost")
    if drafted.rater != rater:
        raise NotAcceptedError(phrase("lease-of-another"), code="not-yours")
    draft = json.dumps(answer, ensure_ascii=False)
    spent = max(0, min(active_ms, now - drafted.started))
    change(connection, _SAVE, lease=lease, draft=draft, active_ms=spent)
    expires = now + lease_ms
    _renewed(connection, drafted.slot, lease, expires)
    if documents:
        change(connection, _HOLD_KEPT, rater=rater, expires=expires)
    return expires


def lease_content(connection: Connection, *, lease: str) -> ShownContent:
    """Return what a lease showed, and to whom.

    Raises
    ------
    NotAcceptedError
        If there is no such lease.
    """
    held = first(connection, _CONTENT, lease=lease)
    if held is None:
        raise NotAcceptedError(phrase("no-such-lease"), code="lease-lost")
    content = json.loads(held.content)
    return shown_content(content, rater=held.rater, lease=lease, pair=bool(held.pair))


def _situation(connection: Connection, session: str, rater: str) -> Any:
    """Return what is known of a visit and of what its rater holds, once."""
    held = first(connection, _SITUATION, session=session, rater=rater)
    if held is None:
        raise NotAcceptedError("there is no such session", code="not-joined")
    if held.rater != rater:
        raise NotAcceptedError("the session belongs to another rater", code="not-yours")
    return held


def _renewed(connection: Connection, slot: int, lease: str, expires: int) -> bool:
    """Hold a slot for longer, unless it was given away meanwhile."""
    return bool(change(connection, _RENEW, slot=slot, lease=lease, expires=expires))


def _free_or_skipped(connection: Connection, rater: str, *, now: int, **place: Any) -> Any:
    """Return a free unit; what the rater skipped comes back when nothing else is left."""
    chosen = _free(connection, rater, now=now, **place)
    if chosen is None and change(connection, _RETURN_SKIPPED, rater=rater, now=now):
        chosen = _free(connection, rater, now=now, **place)
    return chosen


def _free(
    connection: Connection, rater: str, *, documents: bool, now: int, expires: int, window: int
) -> Any:
    """Return a unit that may be given to a rater; None if none is free now."""
    if documents:
        return _begun_document(connection, rater, now=now, expires=expires, window=window)
    is_alone = connection.dialect.name == "sqlite"
    choice = _CHOICE if is_alone else _CHOICE + _TAKEN_BY_NOBODY_ELSE
    while True:
        values = {"rater": rater, "now": now, "most": _SLOTS_A_POSITION * window}
        chosen = first(connection, choice, window=window, salt=salt(rater), **values)
        if chosen is not None or is_alone:
            return chosen
        # Other processes are about to take all of these: look further, unless there is no further.
        front = first(connection, _FRONT_SIZE, **values)
        if front.size < values["most"] and (front.reach or 0) < window:
            return None
        window *= 8


def _begun_document(
    connection: Connection, rater: str, *, now: int, expires: int, window: int
) -> Any:
    """Choose a document, keep it for a rater, and return its first segment; None if none is free."""
    front = {"now": now, "window": window, "most": _SLOTS_A_POSITION * window}
    for _ in range(_TRIES):
        chosen = first(connection, _CHOICE, rater=rater, salt=salt(rater), **front)
        if chosen is None:
            return None
        if connection.dialect.name != "sqlite":
            # one process at a time: another may be about to take the same document
            first(connection, _LOCK_DOCUMENT, document=chosen.document)
        free = rows(connection, _OF_DOCUMENT, document=chosen.document, rater=rater, now=now)
        if free:
            for row in {row.place: row for row in reversed(free)}.values():
                change(connection, _KEEP, slot=row.slot, rater=rater, expires=expires)
            return free[0]
    return None


def _taken(
    connection: Connection, chosen: Any, *, rater: str, session: str, now: int, expires: int
) -> Lease:
    """Hold the chosen slot under a new lease, or under the one that the rater once had."""
    lease = chosen.id or new_id()
    change(connection, _TAKE, slot=chosen.slot, lease=lease, rater=rater, expires=expires)
    if chosen.id is None:
        new = {"slot": chosen.slot, "unit": chosen.unit, "rater": rater, "session": session}
        change(connection, _ADD_LEASE, lease=lease, now=now, **new)
    else:
        change(connection, _MOVE_LEASE, lease=lease, slot=chosen.slot, session=session)
    return _lease(chosen, lease, rater, expires, now=now)


def _gold_choice(connection: Connection, rater: str, every: int, secret: str) -> Any:
    """Return a gold unit in a slot of its own, if it is time for one and one is left.

    Of every so many units one is gold. Which one, nobody can tell who does not know the secret. Within a
    document there is none: it comes after it.
    """
    given = first(connection, _GIVEN, rater=rater)
    blocks = given.units // every
    # of the block that has begun, whether its place has come
    is_due = salt(f"{secret} {rater} {blocks}") % every <= given.units % every
    if given.gold >= blocks + is_due:
        return None
    left = rows(connection, _GOLD, rater=rater)
    if not left:
        return None
    own = salt(rater)
    unit = min(left, key=lambda row: salt(row.digest) * own % MODULUS)
    slot = first(connection, _ADD_GOLD_SLOT, unit=unit.id, salt=salt(unit.digest)).id
    return first(connection, f"{_TO_GIVE} slots.id = :slot", slot=slot, rater=rater)


def _lease(row: Any, lease: str, rater: str, expires: int, *, now: int = 0) -> Lease:
    """Return a unit as its rater gets it: for the first time now, or again."""
    content = json.loads(row.content)
    return Lease(
        id=lease,
        unit=row.unit,
        shown=shown_content(content, rater=rater, lease=lease, pair=bool(row.pair)),
        draft=None if row.draft is None else json.loads(row.draft),
        active_ms=row.active_ms or 0,
        started=now if row.id is None else row.started,
        expires=expires,
        gold=row.gold is not None,
    )
