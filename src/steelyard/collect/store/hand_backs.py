"""Texts that a rater could not judge: handed back with a reason, and given to somebody else."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, bindparam, func, literal_column, select, update

from steelyard.collect.config.wording import phrase
from steelyard.collect.store.queue import rebalance
from steelyard.collect.store.raters import hold_rater
from steelyard.collect.store.refusals import NotAcceptedError
from steelyard.collect.store.tables import leases, raters, slots, submissions, units

__all__ = [
    "HandBack",
    "Kind",
    "all_hand_backs",
    "hand_back",
    "handed_back",
    "holds",
    "set_aside_due",
    "undo_hand_backs",
]

Kind = Literal["cannot-judge", "problem", "skip"]


@dataclass(frozen=True, slots=True)
class HandBack:
    """A text that was handed back.

    Attributes
    ----------
    item : str
        The item.
    number : int
        Number of the rater.
    kind : {"cannot-judge", "problem", "skip"}
        Whether the rater could not judge it, something is wrong with it, or no reason was given.
    reason : str
        In the rater's words.
    time : int
        Milliseconds.
    holds : bool
        Whether it was neither undone nor given to the rater again.
    """

    item: str
    number: int
    kind: Kind
    reason: str
    time: int
    holds: bool


holds = leases.c.hand_back.is_not(None) & leases.c.hand_back_undone.is_(None)
_LEASE = (
    select(leases, submissions.c.id.label("submission"))
    .outerjoin(submissions, submissions.c.lease == leases.c.id)
    .where(leases.c.id == bindparam("lease"))
)
_COUNT = select(func.count()).where(leases.c.rater == bindparam("rater"), holds)
_COUNT_OF_VISIT = select(func.count()).where(leases.c.session == bindparam("session"), holds)
_HAND_BACK = (
    update(leases)
    .where(leases.c.id == bindparam("of_lease"))
    .values(
        hand_back=bindparam("kind"),
        hand_back_reason=bindparam("reason"),
        hand_back_time=bindparam("now"),
        hand_back_undone=None,
    )
)
_own = leases.alias("own")
# Whoever hands back more than they judge says nothing about a text: a name costs nothing.
_IS_HEARD = (
    select(func.count()).where(submissions.c.rater == leases.c.rater).scalar_subquery()
    >= select(func.count())
    .where(
        _own.c.rater == leases.c.rater,
        _own.c.hand_back.is_not(None),
        _own.c.hand_back_undone.is_(None),
    )
    .scalar_subquery()
)
_BACK = (
    select(func.count())
    .join_from(leases, raters, raters.c.id == leases.c.rater)
    .where(
        leases.c.unit == bindparam("unit"),
        leases.c.hand_back != "skip",
        raters.c.excluded.is_(False),
        holds,
        _IS_HEARD,
    )
)
_OF_RATER = select(leases.c.unit).where(leases.c.rater == bindparam("rater"), holds)
_UNDO = (
    update(leases)
    .where(leases.c.rater == bindparam("of_rater"), holds)
    .values(hand_back_undone=bindparam("now"))
)
_BRING_BACK = update(units).where(units.c.id == bindparam("unit_id")).values(set_aside=None)
_SET_ASIDE = (
    update(units)
    .where(units.c.id == bindparam("unit_id"), units.c.set_aside.is_(None))
    .values(set_aside=bindparam("now"))
)
_LET_GO = (
    update(slots)
    .where(
        slots.c.id == bindparam("slot_id"),
        slots.c.lease == bindparam("own_lease"),
        literal_column("NOT slots.done"),
    )
    .values(lease=None, rater=None, expires=0, kept=None)
)
_ALL = (
    select(
        units.c.item,
        raters.c.number,
        leases.c.hand_back,
        leases.c.hand_back_reason,
        leases.c.hand_back_time,
        holds,
    )
    .join_from(leases, raters, raters.c.id == leases.c.rater)
    .join(units, units.c.id == leases.c.unit)
    .where(leases.c.hand_back.is_not(None))
    .order_by(leases.c.hand_back_time, leases.c.started, leases.c.id)
)


def hand_back(
    connection: Connection,
    *,
    lease: str,
    rater: str,
    kind: Kind,
    reason: str,
    most: int,
    enough: int,
    now: int,
) -> None:
    """Take a text back from a rater who cannot judge it; sending it again changes nothing.

    A text that `enough` raters could not judge is set aside: it is given to nobody any more, or the
    campaign could never end. Raters who are left out of the estimate, or have handed back more than
    they judged, do not count for that; nor does a text that was skipped, which comes back to its
    rater when nothing else is left. One rater may hand back `most` texts.

    Raises
    ------
    NotAcceptedError
        If there is no such lease, or it is another rater's.
    NotAcceptedError
        If the text was judged.
    NotAcceptedError
        If the rater has handed back as many as one may, or skips a text for the second time.
    """
    hold_rater(connection, rater)
    found = connection.execute(_LEASE, {"lease": lease}).one_or_none()
    if found is None:
        raise NotAcceptedError(phrase("no-such-lease"), code="lease-lost")
    if found.rater != rater:
        raise NotAcceptedError(phrase("lease-of-another"), code="not-yours")
    if found.submission is not None:
        raise NotAcceptedError(phrase("answer-stands"), code="already-submitted")
    if found.hand_back is not None and found.hand_back_undone is None:
        return
    if found.came_back and kind == "skip":
        raise NotAcceptedError(phrase("skipped-before"), code="too-many-reports")
    if connection.execute(_COUNT, {"rater": rater}).scalar_one() >= most:
        raise NotAcceptedError(phrase("too-many-reports", most=most), code="too-many-reports")
    connection.execute(_HAND_BACK, {"of_lease": lease, "kind": kind, "reason": reason, "now": now})
    connection.execute(_LET_GO, {"slot_id": found.slot, "own_lease": lease})
    _set_aside(connection, [found.unit], enough=enough, now=now)


def set_aside_due(connection: Connection, *, rater: str, enough: int, now: int) -> None:
    """Set aside what a rater handed back, if by now so many raters who are heard have done so."""
    found = connection.execute(_OF_RATER, {"rater": rater}).scalars().all()
    _set_aside(connection, found, enough=enough, now=now)


def _set_aside(connection: Connection, unit_ids: Sequence[int], *, enough: int, now: int) -> None:
    for unit in unit_ids:
        if connection.execute(_BACK, {"unit": unit}).scalar_one() >= enough:
            connection.execute(_SET_ASIDE, {"unit_id": unit, "now": now})
            rebalance(connection, [unit], now=now)


def handed_back(connection: Connection, *, session: str) -> int:
    """Return how many texts were handed back in a visit."""
    return int(connection.execute(_COUNT_OF_VISIT, {"session": session}).scalar_one())


def undo_hand_backs(connection: Connection, *, rater: str, now: int) -> int:
    """Take back what a rater handed back, so that it may be judged again; return how many texts.

    Texts that were set aside are wanted again.
    """
    hold_rater(connection, rater)
    found = connection.execute(_OF_RATER, {"rater": rater}).scalars().all()
    connection.execute(_UNDO, {"of_rater": rater, "now": now})
    for unit in found:
        connection.execute(_BRING_BACK, {"unit_id": unit})
    rebalance(connection, found, now=now)
    return len(found)


def all_hand_backs(connection: Connection) -> list[HandBack]:
    """Return all texts that were handed back, in order."""
    return [HandBack(*row) for row in connection.execute(_ALL)]
