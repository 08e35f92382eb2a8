"""What a rater is given next, held for a time and given to another when that time is over."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from sqlalchemy import Connection

from steelyard.collect.store import assignment_statements as statements
from steelyard.collect.store.documents import (
    begun_document,
    following_segment,
    hold_document,
)
from steelyard.collect.store.goal_reached import RACE_OVER
from steelyard.collect.store.ids import MODULUS, new_id, salt
from steelyard.collect.store.purse import UNLIMITED, Purse
from steelyard.collect.store.refusals import NotYoursError, UnknownLeaseError, UnknownSessionError
from steelyard.collect.store.sides import Seen, seen

__all__ = ["Draft", "Lease", "Nothing", "next_lease", "save_draft"]

# Slots that are looked at for each position; with more judgments wanted of a unit the front is
# narrower than it may be.
_SLOTS_A_POSITION = 4

Reason = Literal[
    "none-left",
    "wait",
    "paused",
    "stopped",
    "session-complete",
    "rater-complete",
    "revoked",
    "excluded",
    "enough",
    "no-consent",
    "screened-out",
    "tutorial-failed",
]


@dataclass(frozen=True, slots=True)
class Lease:
    """A unit that a rater holds.

    Attributes
    ----------
    id : str
        Random; names the lease on the page.
    unit : int
        The unit.
    seen : Seen
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
    seen: Seen
    draft: Mapping[str, Any] | None
    active_ms: int
    started: int
    expires: int
    gold: bool

    @property
    def content(self) -> Mapping[str, Any]:
        """What is shown."""
        return self.seen.content

    @property
    def swapped(self) -> bool:
        """Whether the sides of a pair have changed places in `content`."""
        return self.seen.swapped


@dataclass(frozen=True, slots=True)
class Nothing:
    """No unit is given, and why.

    Attributes
    ----------
    reason : str
        ``none-left``: this rater has had all there is; ``wait``: others hold what is left and may
        yet let go of it; ``paused`` and ``stopped``: the campaign is; ``session-complete``: the
        visit has brought all that it was to bring; ``rater-complete``: the rater has judged as much
        as one person may; ``revoked``: the rater's invitation was withdrawn; ``excluded``: the rater's judgments do not count;
        ``enough``: the goal is reached or the budget is spent; ``no-consent``, ``screened-out`` and
        ``tutorial-failed``: the rater does not begin.
    """

    reason: Reason


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft was kept.

    Attributes
    ----------
    expires : int
        Until when the lease is held, in milliseconds.
    held : bool
        Whether the slot is still this rater's. If not, another has it; a submission is taken all
        the same.
    """

    expires: int
    held: bool


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A slot to give, with the columns that a query for one has."""

    slot: int
    unit: int
    content: str
    pair: bool
    gold: str | None
    id: Any = None
    draft: str | None = None
    active_ms: int = 0
    started: int = 0


def next_lease(
    connection: Connection,
    *,
    session: str,
    rater: str,
    now: int,
    lease_ms: int,
    window: int = 10,
    purse: Purse | None = None,
    documents: bool = False,
) -> Lease | Nothing:
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
    purse : Purse, optional
        What may be spent; nothing new is given that could not be paid.
    documents : bool
        Whether units are segments of documents, which a rater gets whole and in order; a visit does
        not end within one.

    Returns
    -------
    Lease or Nothing

    Raises
    ------
    UnknownSessionError, NotYoursError
        If there is no such session, or it is another rater's.
    """
    found = statements.SITUATION.row(connection, {"session": session, "rater": rater})
    if found is None:
        raise UnknownSessionError("there is no such session")
    if found.rater != rater:
        raise NotYoursError("the session belongs to another rater")
    expires = now + lease_ms
    chosen: Any = None
    if documents:
        hold_document(connection, rater=rater, expires=expires)
        chosen = following_segment(connection, rater=rater)
    is_within = documents and (found.slot is not None or chosen is not None)
    reason = _reason_to_end(found, is_within=is_within)
    if reason is not None:
        return Nothing(reason)
    if found.slot is not None and _renewed(connection, found, expires):
        statements.MOVE_LEASE.change(
            connection, {"lease_id": found.id, "new_slot": found.slot, "new_session": session}
        )
        return _lease(found, expires)
    allowed = (
        UNLIMITED if purse is None else purse.allowance(connection, budget=found.budget, now=now)
    )
    if allowed.refusal is not None:
        return Nothing(allowed.refusal)
    if found.gold_every and chosen is None:
        chosen = _gold_choice(connection, rater, found.gold_every, found.secret)
    if chosen is None:
        choice = partial(begun_document, expires=expires) if documents else _choice
        chosen = _free(connection, choice, rater, now=now, window=allowed.window(window))
    if chosen is None:
        left = statements.ANY_LEFT.scalar(connection, {"rater": rater})
        return Nothing("none-left" if left is None else "wait")
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
) -> Draft:
    """Keep an answer that is not complete, and hold the unit for longer.

    Parameters
    ----------
    connection : Connection
        Of the writer.
    lease, rater : str
        Ids.
    answer : mapping
        The answer so far, by widget.
    active_ms : int
        Time spent on it; not more than has passed since the unit was given.
    now, lease_ms : int
        Milliseconds.
    documents : bool
        Whether the unit may be a segment of a document, which is held for longer too.

    Raises
    ------
    UnknownLeaseError, NotYoursError
        If there is no such lease, or it is another rater's.
    """
    found = statements.DRAFTED.row(connection, {"lease": lease})
    if found is None:
        raise UnknownLeaseError("there is no such lease")
    if found.rater != rater:
        raise NotYoursError("the lease belongs to another rater")
    statements.SAVE.change(
        connection,
        {
            "lease_id": lease,
            "new_draft": json.dumps(answer, ensure_ascii=False),
            "new_active_ms": max(0, min(active_ms, now - found.started)),
        },
    )
    expires = now + lease_ms
    renewed = statements.RENEW.change(
        connection, {"slot_id": found.slot, "old_lease": lease, "new_expires": expires}
    )
    if documents:
        hold_document(connection, rater=rater, expires=expires)
    return Draft(expires=expires, held=renewed == 1)


def _reason_to_end(found: Any, *, is_within: bool = False) -> Reason | None:
    """Return why a rater gets nothing; `is_within` a document, a visit goes on to its end."""
    # An excluded rater's further judgments would be paid for and not used.
    if found.excluded:
        return "excluded"
    if found.state == "stopped":
        return "stopped"
    if found.state == "paused":
        # whoever waited for the end of this pause would wait in vain
        met = found.met_half_width
        over = met is not None and met in {found.half_width, RACE_OVER}
        return "enough" if over else "paused"
    most = found.session_judgments
    is_complete = most is not None and found.done >= most and not is_within
    return "session-complete" if is_complete else None


def _renewed(connection: Connection, found: Any, expires: int) -> bool:
    """Hold the rater's own slot for longer, unless another process has just given it away."""
    values = {"slot_id": found.slot, "old_lease": found.id, "new_expires": expires}
    return statements.RENEW.change(connection, values) == 1


def _free(
    connection: Connection, choice: Callable[..., Any], rater: str, *, now: int, window: int
) -> Any:
    """Return a free unit; what was skipped comes back when nothing else is left."""
    chosen = choice(connection, rater=rater, now=now, window=window)
    if chosen is None and statements.SKIPPED.rows(connection, {"rater": rater}):
        statements.RETURN.change(connection, {"of_rater": rater, "new_undone": now})
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
        chosen = statements.CHOICE.row(connection, values)
        if chosen is not None or connection.dialect.name == "sqlite":
            return chosen
        # Other processes are about to take all of these: look further, unless there is no further.
        front = statements.FRONT.row(connection, values)
        if front.size < most and (front.reach or 0) < window:
            return None
        window *= 8


def _gold_choice(connection: Connection, rater: str, every: int, secret: str) -> _Chosen | None:
    """Return a gold unit in a slot of its own, if it is time for one and one is left.

    Of every so many units one is gold. Which one, nobody can tell who does not know the secret. Within a
    document there is none: it comes after it.
    """
    given = statements.GIVEN.scalar(connection, {"rater": rater})
    blocks = given // every
    # of the block that has begun, whether its place has come
    is_due = salt(f"{secret} {rater} {blocks}") % every <= given % every
    if statements.GOLD_GIVEN.scalar(connection, {"rater": rater}) >= blocks + is_due:
        return None
    left = statements.GOLD.rows(connection, {"rater": rater})
    if not left:
        return None
    own = salt(rater)
    unit = min(left, key=lambda row: salt(row.digest) * own % MODULUS)
    slot = statements.ADD_GOLD_SLOT.scalar(connection, {"unit": unit.id, "salt": salt(unit.digest)})
    return _Chosen(slot, unit.id, unit.content, pair=unit.pair, gold=unit.gold)


def _taken(
    connection: Connection,
    chosen: Any,
    *,
    rater: str,
    session: str,
    now: int,
    expires: int,
) -> Lease:
    """Hold the chosen slot under a new lease, or under the one that the rater once had."""
    lease = chosen.id or new_id()
    statements.TAKE.change(
        connection,
        {
            "slot_id": chosen.slot,
            "new_lease": lease,
            "new_rater": rater,
            "new_expires": expires,
        },
    )
    if chosen.id is not None:
        statements.MOVE_LEASE.change(
            connection, {"lease_id": lease, "new_slot": chosen.slot, "new_session": session}
        )
        return _lease(chosen, expires)
    row = {
        "id": lease,
        "slot": chosen.slot,
        "unit": chosen.unit,
        "rater": rater,
        "session": session,
        "started": now,
    }
    statements.ADD_LEASE.change(connection, row)
    fresh = _Chosen(
        chosen.slot,
        chosen.unit,
        chosen.content,
        pair=chosen.pair,
        gold=chosen.gold,
        id=lease,
        started=now,
    )
    return _lease(fresh, expires)


def _lease(found: Any, expires: int) -> Lease:
    return Lease(
        id=found.id,
        unit=found.unit,
        seen=seen(json.loads(found.content), lease=found.id, pair=bool(found.pair)),
        draft=None if found.draft is None else json.loads(found.draft),
        active_ms=found.active_ms,
        started=found.started,
        expires=expires,
        gold=found.gold is not None,
    )
