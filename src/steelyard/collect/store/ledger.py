"""The cost ledger: what is owed to whom, and for what."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, bindparam, func, select

from steelyard.collect.store.tables import ledger, raters, sessions, submissions

__all__ = ["Entry", "Total", "entries", "micro", "spent", "totals"]

Kind = Literal["judgment", "bonus"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One amount owed.

    Attributes
    ----------
    id : int
        From 1, in the order of entry.
    rater : str
        Id of the rater.
    number : int
        Number of the rater.
    kind : {"judgment", "bonus"}
        What for.
    amount : int
        In millionths of the currency.
    time : int
        Milliseconds.
    submission : int or None
        The submission that is paid.
    reference : str or None
        What a bonus is for.
    visit : str or None
        The panel's name of the visit in which the submission came.
    """

    id: int
    rater: str
    number: int
    kind: Kind
    amount: int
    time: int
    submission: int | None
    reference: str | None
    visit: str | None


@dataclass(frozen=True, slots=True)
class Total:
    """What one rater has earned, in millionths of the currency."""

    rater: str
    number: int
    judgments: int
    bonuses: int

    @property
    def amount(self) -> int:
        """Both together."""
        return self.judgments + self.bonuses


_ENTRIES = (
    select(
        ledger.c.id,
        ledger.c.rater,
        raters.c.number,
        ledger.c.kind,
        ledger.c.amount,
        ledger.c.time,
        ledger.c.submission,
        ledger.c.reference,
        sessions.c.panel_session,
    )
    .join_from(ledger, raters, raters.c.id == ledger.c.rater)
    .outerjoin(submissions, submissions.c.id == ledger.c.submission)
    .outerjoin(sessions, sessions.c.id == submissions.c.session)
    .order_by(ledger.c.id)
)
_SPENT = select(func.coalesce(func.sum(ledger.c.amount), 0))
_EARNED = _SPENT.where(ledger.c.rater == bindparam("rater"))
_TOTALS = (
    select(
        raters.c.id,
        raters.c.number,
        func.coalesce(func.sum(ledger.c.amount).filter(ledger.c.kind == "judgment"), 0),
        func.coalesce(func.sum(ledger.c.amount).filter(ledger.c.kind == "bonus"), 0),
    )
    .join_from(raters, ledger, raters.c.id == ledger.c.rater)
    .group_by(raters.c.id, raters.c.number)
    .order_by(raters.c.number)
)


def micro(amount: float) -> int:
    """Return an amount of the currency in millionths.

    Examples
    --------
    >>> micro(0.25)
    250000
    """
    return round(amount * 1_000_000)


def entries(connection: Connection) -> list[Entry]:
    """Return all entries, in the order of entry."""
    return [Entry(*row) for row in connection.execute(_ENTRIES)]


def spent(connection: Connection, *, rater: str | None = None) -> int:
    """Return what is owed to one rater, or to all, in millionths of the currency."""
    if rater is None:
        return int(connection.execute(_SPENT).scalar_one())
    return int(connection.execute(_EARNED, {"rater": rater}).scalar_one())


def totals(connection: Connection) -> list[Total]:
    """Return what each rater with an entry has earned, by number."""
    return [Total(row[0], row[1], int(row[2]), int(row[3])) for row in connection.execute(_TOTALS)]
