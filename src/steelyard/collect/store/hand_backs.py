"""Texts that a rater could not judge: handed back with a reason, and given to somebody else."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement, Connection, func, select, update

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
    wanted = select(leases, submissions.c.id.label("submission"))
    wanted = wanted.outerjoin(submissions, submissions.c.lease == leases.c.id)
    held = connection.execute(wanted.where(leases.c.id == lease)).one_or_none()
    if held is None:
        raise NotAcceptedError(phrase("no-such-lease"), code="lease-lost")
    if held.rater != rater:
        raise NotAcceptedError(phrase("lease-of-another"), code="not-yours")
    if held.submission is not None:
        raise NotAcceptedError(phrase("answer-stands"), code="already-submitted")
    if held.hand_back is not None and held.hand_back_undone is None:
        return
    if held.came_back and kind == "skip":
        raise NotAcceptedError(phrase("skipped-before"), code="too-many-reports")
    if _count(connection, leases.c.rater == rater) >= most:
        raise NotAcceptedError(phrase("too-many-reports", most=most), code="too-many-reports")
    given_back = {"hand_back": kind, "hand_back_reason": reason, "hand_back_time": now}
    connection.execute(
        update(leases).where(leases.c.id == lease).values(**given_back, hand_back_undone=None)
    )
    connection.execute(
        update(slots)
        .where(slots.c.id == held.slot, slots.c.lease == lease, ~slots.c.done)
        .values(lease=None, rater=None, expires=0, kept=None)
    )
    _set_aside(connection, [held.unit], enough=enough, now=now)


def set_aside_due(connection: Connection, *, rater: str, enough: int, now: int) -> None:
    """Set aside what a rater handed back, if by now so many raters who are heard have done so."""
    _set_aside(connection, _units_of(connection, rater), enough=enough, now=now)


def _set_aside(connection: Connection, unit_ids: Sequence[int], *, enough: int, now: int) -> None:
    for unit in unit_ids:
        backs = (
            select(func.count())
            .join_from(leases, raters, raters.c.id == leases.c.rater)
            .where(leases.c.unit == unit, leases.c.hand_back != "skip", holds)
            .where(raters.c.excluded.is_(False), _IS_HEARD)
        )
        if connection.execute(backs).scalar_one() >= enough:
            is_new = (units.c.id == unit, units.c.set_aside.is_(None))
            connection.execute(update(units).where(*is_new).values(set_aside=now))
            rebalance(connection, [unit], now=now)


def _count(connection: Connection, of: ColumnElement[bool]) -> int:
    return int(connection.execute(select(func.count()).where(of, holds)).scalar_one())


def _units_of(connection: Connection, rater: str) -> Sequence[int]:
    return (
        connection.execute(select(leases.c.unit).where(leases.c.rater == rater, holds))
        .scalars()
        .all()
    )


def handed_back(connection: Connection, *, session: str) -> int:
    """Return how many texts were handed back in a visit."""
    return _count(connection, leases.c.session == session)


def undo_hand_backs(connection: Connection, *, rater: str, now: int) -> int:
    """Take back what a rater handed back, so that it may be judged again; return how many texts.

    Texts that were set aside are wanted again.
    """
    hold_rater(connection, rater)
    handed = _units_of(connection, rater)
    of_rater = (leases.c.rater == rater, holds)
    connection.execute(update(leases).where(*of_rater).values(hand_back_undone=now))
    for unit in handed:
        connection.execute(update(units).where(units.c.id == unit).values(set_aside=None))
    rebalance(connection, handed, now=now)
    return len(handed)


def all_hand_backs(connection: Connection) -> list[HandBack]:
    """Return all texts that were handed back, in order."""
    wanted = (
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
    return [HandBack(*row) for row in connection.execute(wanted)]
