"""Invitations: who was invited by name, and who is not any more."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, bindparam, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from steelyard.collect.store.tables import invitations, raters, sessions

__all__ = ["Invited", "invite", "invited", "is_revoked", "revoke"]

_PANEL = "invitation"


@dataclass(frozen=True, slots=True)
class Invited:
    """One invitation.

    Attributes
    ----------
    name : str
        Of the person, as whoever runs the campaign wrote it.
    created : int
        When it was made, in milliseconds.
    revoked : int or None
        When it was withdrawn; None: it holds.
    number : int or None
        Number of the rater; None if nobody has come by it.
    judgments : int
        What the rater has judged.
    """

    name: str
    created: int
    revoked: int | None
    number: int | None
    judgments: int


_INSERT = {
    "sqlite": sqlite.insert(invitations).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(invitations).on_conflict_do_nothing(),
}
_RENEW = update(invitations).where(invitations.c.name == bindparam("of_name")).values(revoked=None)
_REVOKE = (
    update(invitations)
    .where(invitations.c.name == bindparam("of_name"), invitations.c.revoked.is_(None))
    .values(revoked=bindparam("new_revoked"))
)
_REVOKED = select(invitations.c.revoked).where(invitations.c.name == bindparam("name"))
_DONE = (
    select(func.coalesce(func.sum(sessions.c.done), 0))
    .where(sessions.c.rater == raters.c.id)
    .scalar_subquery()
)
_ALL = (
    select(
        invitations.c.name,
        invitations.c.created,
        invitations.c.revoked,
        raters.c.number,
        _DONE.label("judgments"),
    )
    .select_from(invitations)
    .outerjoin(raters, and_(raters.c.panel == _PANEL, raters.c.external_id == invitations.c.name))
    .order_by(invitations.c.created, invitations.c.name)
)

# Who came by a link that was printed, not made on the dashboard.
_UNLISTED = select(
    raters.c.external_id.label("name"), raters.c.joined, raters.c.number, _DONE.label("judgments")
).where(raters.c.panel == _PANEL, raters.c.external_id.not_in(select(invitations.c.name)))


def invite(connection: Connection, *, names: Sequence[str], now: int) -> None:
    """Invite people by name; one whose invitation was withdrawn is invited again."""
    for name in names:
        connection.execute(_INSERT[connection.dialect.name], {"name": name, "created": now})
        connection.execute(_RENEW, {"of_name": name})


def revoke(connection: Connection, *, name: str, now: int) -> None:
    """Withdraw an invitation: its link opens nothing, and its rater gets no more work.

    What the rater submitted stays, and what the rater holds may still be submitted.
    """
    connection.execute(_INSERT[connection.dialect.name], {"name": name, "created": now})
    connection.execute(_REVOKE, {"of_name": name, "new_revoked": now})


def is_revoked(connection: Connection, *, name: str) -> bool:
    """Whether an invitation was withdrawn."""
    return connection.execute(_REVOKED, {"name": name}).scalar_one_or_none() is not None


def invited(connection: Connection, *, printed: str | None = None) -> list[Invited]:
    """Return all invitations, in the order in which they were made.

    Parameters
    ----------
    connection : Connection
        To read from.
    printed : str, optional
        The name of an invitation that was given out without being written down here: it comes
        first, so that it can be withdrawn as well.
    """
    came = [
        Invited(row.name, row.joined, None, row.number, int(row.judgments))
        for row in connection.execute(_UNLISTED)
    ]
    known = [
        Invited(row.name, row.created, row.revoked, row.number, int(row.judgments))
        for row in connection.execute(_ALL)
    ]
    found = sorted((*came, *known), key=lambda one: (one.created, one.name))
    if printed is not None and all(one.name != printed for one in found):
        found.insert(0, Invited(printed, 0, None, None, 0))
    return found
