"""Texts that a rater could not judge: handed back with a reason, and given to somebody else."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, bindparam, func, insert, literal_column, select, update

from steelyard.collect.store.queue import rebalance
from steelyard.collect.store.raters import hold_rater
from steelyard.collect.store.refusals import (
    AlreadySubmittedError,
    NotYoursError,
    TooManyReportsError,
    UnknownLeaseError,
)
from steelyard.collect.store.tables import leases, raters, reports, slots, submissions, units
from steelyard.collect.wording import phrase

__all__ = ["Kind", "Report", "all_reports", "hand_back"]

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
    """

    item: str
    content: str
    number: int
    kind: Kind
    reason: str
    time: int


_LEASE = (
    select(
        leases.c.rater,
        leases.c.slot,
        leases.c.unit,
        submissions.c.id.label("submission"),
        reports.c.id.label("report"),
    )
    .select_from(leases)
    .outerjoin(submissions, submissions.c.lease == leases.c.id)
    .outerjoin(reports, reports.c.lease == leases.c.id)
    .where(leases.c.id == bindparam("lease"))
)
_COUNT = select(func.count()).where(reports.c.rater == bindparam("rater"))
_ADD = insert(reports)
_BACK = (
    select(func.count())
    .join_from(reports, raters, raters.c.id == reports.c.rater)
    .where(reports.c.unit == bindparam("unit"), raters.c.excluded.is_(False))
)
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

    A text that `enough` raters handed back, those left out of the estimate not counted, is set
    aside: it is given to nobody any more, or the campaign could never end.

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
    if found.report is not None:
        return
    if connection.execute(_COUNT, {"rater": rater}).scalar_one() >= most:
        raise TooManyReportsError(phrase("too-many-reports", most=most))
    row = {"lease": lease, "unit": found.unit, "rater": rater, "kind": kind, "reason": reason}
    connection.execute(_ADD, {**row, "time": now})
    connection.execute(_LET_GO, {"slot_id": found.slot, "own_lease": lease})
    if connection.execute(_BACK, {"unit": found.unit}).scalar_one() >= enough:
        connection.execute(_SET_ASIDE, {"unit_id": found.unit, "new_set_aside": now})
        rebalance(connection, [found.unit], now=now)


def all_reports(connection: Connection) -> list[Report]:
    """Return all texts that were handed back, in order."""
    return [Report(*row) for row in connection.execute(_ALL)]
