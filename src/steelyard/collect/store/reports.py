"""Texts that a rater could not judge: handed back with a reason, and given to somebody else."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, bindparam, func, insert, literal_column, select, update

from steelyard.collect.config.wording import phrase
from steelyard.collect.store.queue import rebalance
from steelyard.collect.store.raters import hold_rater
from steelyard.collect.store.refusals import (
    AlreadySubmittedError,
    NotYoursError,
    TooManyReportsError,
    UnknownLeaseError,
)
from steelyard.collect.store.tables import leases, raters, reports, slots, submissions, units

__all__ = [
    "Kind",
    "Report",
    "all_reports",
    "hand_back",
    "handed_back",
    "set_aside_due",
    "undo_hand_backs",
]

Kind = Literal["cannot-judge", "problem", "skip"]


@dataclass(frozen=True, slots=True)
class Report:
    """A text that was handed back.

    Attributes
    ----------
    item : str
        The item.
    content : str
        What was shown, in JSON, before sides of a pair are swapped.
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
    content: str
    number: int
    kind: Kind
    reason: str
    time: int
    holds: bool


_LEASE = (
    select(
        leases.c.rater,
        leases.c.slot,
        leases.c.unit,
        submissions.c.id.label("submission"),
        reports.c.id.label("report"),
        reports.c.undone,
        reports.c.returned,
    )
    .select_from(leases)
    .outerjoin(submissions, submissions.c.lease == leases.c.id)
    .outerjoin(reports, reports.c.lease == leases.c.id)
    .where(leases.c.id == bindparam("lease"))
)
_HOLDS = reports.c.undone.is_(None)
_COUNT = select(func.count()).where(reports.c.rater == bindparam("rater"), _HOLDS)
_COUNT_OF_VISIT = (
    select(func.count())
    .join_from(reports, leases, leases.c.id == reports.c.lease)
    .where(leases.c.session == bindparam("session"), _HOLDS)
)
_ADD = insert(reports)
_AGAIN = (
    update(reports)
    .where(reports.c.id == bindparam("report"))
    .values(
        kind=bindparam("new_kind"),
        reason=bindparam("new_reason"),
        time=bindparam("new_time"),
        undone=None,
    )
)
_of_rater = reports.alias("of_rater")
# Whoever hands back more than they judge says nothing about a text: a name costs nothing.
_IS_HEARD = (
    select(func.count()).where(submissions.c.rater == reports.c.rater).scalar_subquery()
    >= select(func.count())
    .where(_of_rater.c.rater == reports.c.rater, _of_rater.c.undone.is_(None))
    .scalar_subquery()
)
_BACK = (
    select(func.count())
    .join_from(reports, raters, raters.c.id == reports.c.rater)
    .where(
        reports.c.unit == bindparam("unit"),
        reports.c.kind != "skip",
        raters.c.excluded.is_(False),
        _HOLDS,
        _IS_HEARD,
    )
)
_OF_RATER = select(reports.c.unit).where(reports.c.rater == bindparam("rater"), _HOLDS)
_UNDO = (
    update(reports)
    .where(reports.c.rater == bindparam("of_rater"), _HOLDS)
    .values(undone=bindparam("new_undone"))
)
_BRING_BACK = update(units).where(units.c.id == bindparam("unit_id")).values(set_aside=None)
_SET_ASIDE = (
    update(units)
    .where(units.c.id == bindparam("unit_id"), units.c.set_aside.is_(None))
    .values(set_aside=bindparam("new_set_aside"))
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
        units.c.content,
        raters.c.number,
        reports.c.kind,
        reports.c.reason,
        reports.c.time,
        _HOLDS,
    )
    .join_from(reports, raters, raters.c.id == reports.c.rater)
    .join(units, units.c.id == reports.c.unit)
    .order_by(reports.c.id)
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
    rater when nothing else is left.

    Parameters
    ----------
    connection : Connection
        Of the writer.
    lease, rater : str
        Ids.
    kind, reason
        As in `Report`.
    most : int
        Texts that one rater may hand back.
    enough : int
        Raters after whom a text is set aside.
    now : int
        Milliseconds.

    Raises
    ------
    UnknownLeaseError, NotYoursError
        If there is no such lease, or it is another rater's.
    AlreadySubmittedError
        If the text was judged.
    TooManyReportsError
        If the rater has handed back as many as one may.
    """
    hold_rater(connection, rater)
    found = connection.execute(_LEASE, {"lease": lease}).one_or_none()
    if found is None:
        raise UnknownLeaseError(phrase("no-such-lease"))
    if found.rater != rater:
        raise NotYoursError(phrase("lease-of-another"))
    if found.submission is not None:
        raise AlreadySubmittedError(phrase("answer-stands"))
    if found.report is not None and found.undone is None:
        return
    if found.report is not None and found.returned and kind == "skip":
        raise TooManyReportsError(phrase("skipped-before"))
    if connection.execute(_COUNT, {"rater": rater}).scalar_one() >= most:
        raise TooManyReportsError(phrase("too-many-reports", most=most))
    if found.report is None:
        row = {"lease": lease, "unit": found.unit, "rater": rater, "kind": kind, "reason": reason}
        connection.execute(_ADD, {**row, "time": now})
    else:
        new = {"new_kind": kind, "new_reason": reason, "new_time": now}
        connection.execute(_AGAIN, {**new, "report": found.report})
    connection.execute(_LET_GO, {"slot_id": found.slot, "own_lease": lease})
    _set_aside(connection, [found.unit], enough=enough, now=now)


def set_aside_due(connection: Connection, *, rater: str, enough: int, now: int) -> None:
    """Set aside what a rater handed back, if by now so many raters who are heard have done so."""
    found = connection.execute(_OF_RATER, {"rater": rater}).scalars().all()
    _set_aside(connection, found, enough=enough, now=now)


def _set_aside(connection: Connection, unit_ids: Sequence[int], *, enough: int, now: int) -> None:
    for unit in unit_ids:
        if connection.execute(_BACK, {"unit": unit}).scalar_one() >= enough:
            connection.execute(_SET_ASIDE, {"unit_id": unit, "new_set_aside": now})
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
    connection.execute(_UNDO, {"of_rater": rater, "new_undone": now})
    for unit in found:
        connection.execute(_BRING_BACK, {"unit_id": unit})
    rebalance(connection, found, now=now)
    return len(found)


def all_reports(connection: Connection) -> list[Report]:
    """Return all texts that were handed back, in order."""
    return [Report(*row) for row in connection.execute(_ALL)]
