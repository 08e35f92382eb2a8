"""The statements by which units are given out, built once so that they are compiled once."""

from sqlalchemy import (
    ColumnElement,
    and_,
    bindparam,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from steelyard.collect.store.ids import MODULUS
from steelyard.collect.store.tables import (
    leases,
    raters,
    sessions,
    settings,
    slots,
    submissions,
    units,
)

__all__ = [
    "ADD_GOLD_SLOT",
    "ADD_LEASE",
    "ANY_LEFT",
    "CHOICE",
    "DOCUMENT_CHOICE",
    "DRAFTED",
    "FOLLOWING",
    "FRONT",
    "GIVEN",
    "GIVEN_SLOT",
    "GOLD",
    "GOLD_GIVEN",
    "HOLD_KEPT",
    "KEEP",
    "LEASE_CONTENT",
    "LOCK_DOCUMENT",
    "MOVE_LEASE",
    "OF_DOCUMENT",
    "RENEW",
    "RETURN_SKIPPED",
    "SAVE",
    "SITUATION",
    "TAKE",
]

_own_slot = slots.alias("own_slot")
_IS_OPEN: ColumnElement[bool] = literal_column("NOT slots.done AND slots.offered")
SITUATION = (
    select(
        settings.c.state,
        settings.c.goal_met,
        settings.c.budget,
        settings.c.session_judgments,
        settings.c.gold_every,
        settings.c.secret,
        sessions.c.rater,
        sessions.c.done,
        raters.c.excluded,
        _own_slot.c.id.label("slot"),
        leases.c.id,
        leases.c.unit,
        units.c.content,
        units.c.pair,
        units.c.gold,
        leases.c.draft,
        leases.c.active_ms,
        leases.c.started,
    )
    .select_from(sessions)
    .join(settings, settings.c.id == 1)
    .join(raters, raters.c.id == sessions.c.rater)
    .outerjoin(
        _own_slot,
        and_(
            _own_slot.c.rater == bindparam("rater"),
            literal_column("NOT own_slot.done AND own_slot.rater IS NOT NULL"),
        ),
    )
    .outerjoin(leases, leases.c.id == _own_slot.c.lease)
    .outerjoin(units, units.c.id == leases.c.unit)
    .where(sessions.c.id == bindparam("session"))
    .order_by(leases.c.started)
    .limit(1)
)
# A unit that the rater has judged, or handed back.
_past_lease = leases.alias("past_lease")
_handed_back = exists().where(
    _past_lease.c.unit == slots.c.unit,
    _past_lease.c.rater == bindparam("rater"),
    _past_lease.c.hand_back.is_not(None),
    _past_lease.c.hand_back_undone.is_(None),
)
_judged = or_(
    exists().where(submissions.c.unit == slots.c.unit, submissions.c.rater == bindparam("rater")),
    _handed_back,
)
# What the rater skipped comes back.
RETURN_SKIPPED = (
    update(leases)
    .where(
        leases.c.rater == bindparam("of_rater"),
        leases.c.hand_back == "skip",
        leases.c.hand_back_undone.is_(None),
    )
    .values(hand_back_undone=bindparam("now"), came_back=True)
)
_front = (
    select(slots.c.id, slots.c.unit, slots.c.salt, slots.c.position)
    .where(_IS_OPEN, slots.c.expires <= bindparam("now"), ~_judged)
    .order_by(slots.c.position, slots.c.id)
    .limit(bindparam("most"))
    .cte("front")
)
_first = select(func.min(_front.c.position)).scalar_subquery()
# The front is looked at without locks; of those, the first in the rater's own order that no other
# process is about to take. Its state is asked for again, because it may have changed in between.
# The front reaches from the first open position on: were it the first so many open slots, a unit
# that comes late in everybody's order would be passed over for good, and the draw's prefix with it.
_UNIT_TO_GIVE = (
    slots.c.id.label("slot"),
    slots.c.unit,
    units.c.content,
    units.c.pair,
    units.c.gold,
    units.c.document,
    units.c.place,
    leases.c.id,
    leases.c.draft,
    leases.c.active_ms,
    leases.c.started,
)
_own_lease = and_(leases.c.rater == bindparam("rater"), leases.c.unit == slots.c.unit)
# Of documents only the choice is made here, and nothing locked: see `documents`.
DOCUMENT_CHOICE = (
    select(*_UNIT_TO_GIVE)
    .select_from(_front)
    .join(slots, slots.c.id == _front.c.id)
    .join(units, units.c.id == slots.c.unit)
    .outerjoin(leases, _own_lease)
    .where(
        _IS_OPEN,
        slots.c.expires <= bindparam("now"),
        _front.c.position < _first + bindparam("window"),
    )
    .order_by((_front.c.salt * bindparam("salt")) % literal_column(str(MODULUS)), slots.c.id)
    .limit(1)
)
CHOICE = DOCUMENT_CHOICE.with_for_update(of=slots, skip_locked=True)
_TO_GIVE = (
    select(*_UNIT_TO_GIVE)
    .select_from(slots)
    .join(units, units.c.id == slots.c.unit)
    .outerjoin(leases, _own_lease)
)
GIVEN_SLOT = _TO_GIVE.where(slots.c.id == bindparam("slot"))
# What is left of the document that a rater has begun.
FOLLOWING = (
    _TO_GIVE.where(slots.c.kept == bindparam("rater"), _IS_OPEN, ~_judged)
    .order_by(units.c.document, units.c.place, slots.c.id)
    .limit(1)
)
LOCK_DOCUMENT = (
    select(units.c.id)
    .where(units.c.document == bindparam("document"), units.c.place == 1)
    .with_for_update()
)
# What may be given of a document, in its order.
OF_DOCUMENT = _TO_GIVE.where(
    units.c.document == bindparam("document"),
    _IS_OPEN,
    slots.c.expires <= bindparam("now"),
    ~_judged,
).order_by(units.c.place, slots.c.id)
KEEP = (
    update(slots)
    .where(slots.c.id == bindparam("slot_id"))
    .values(kept=bindparam("new_kept"), expires=bindparam("new_expires"), lease=None, rater=None)
)
HOLD_KEPT = (
    update(slots)
    .where(
        slots.c.kept == bindparam("kept_for"),
        literal_column("NOT slots.done AND slots.rater IS NULL"),
    )
    .values(expires=bindparam("new_expires"))
)
FRONT = select(
    func.count().label("size"), func.max(_front.c.position - _first).label("reach")
).select_from(_front)
ANY_LEFT = select(slots.c.id).where(_IS_OPEN, ~_judged).limit(1)
GIVEN = select(func.count()).where(leases.c.rater == bindparam("rater"))
GOLD_GIVEN = (
    select(func.count())
    .join_from(leases, units, units.c.id == leases.c.unit)
    .where(leases.c.rater == bindparam("rater"), literal_column("units.gold IS NOT NULL"))
)
GOLD = (
    select(units.c.id, units.c.content, units.c.pair, units.c.gold, units.c.digest)
    .where(
        literal_column("units.gold IS NOT NULL"),
        ~exists().where(leases.c.rater == bindparam("rater"), leases.c.unit == units.c.id),
    )
    .order_by(units.c.id)
)
ADD_GOLD_SLOT = insert(slots).values(position=0, kind="gold", offered=False).returning(slots.c.id)
TAKE = (
    update(slots)
    .where(slots.c.id == bindparam("slot_id"))
    .values(
        lease=bindparam("new_lease"),
        rater=bindparam("new_rater"),
        expires=bindparam("new_expires"),
    )
)
RENEW = (
    update(slots)
    .where(
        slots.c.id == bindparam("slot_id"),
        slots.c.lease == bindparam("old_lease"),
        literal_column("NOT slots.done"),
    )
    .values(expires=bindparam("new_expires"))
)
ADD_LEASE = insert(leases)
MOVE_LEASE = (
    update(leases)
    .where(leases.c.id == bindparam("lease_id"))
    .values(slot=bindparam("new_slot"), session=bindparam("new_session"))
)
DRAFTED = select(leases.c.rater, leases.c.slot, leases.c.started).where(
    leases.c.id == bindparam("lease")
)
SAVE = (
    update(leases)
    .where(leases.c.id == bindparam("lease_id"))
    .values(draft=bindparam("new_draft"), active_ms=bindparam("new_active_ms"))
)
LEASE_CONTENT = (
    select(leases.c.rater, units.c.content, units.c.pair)
    .join(units, units.c.id == leases.c.unit)
    .where(leases.c.id == bindparam("lease"))
)
