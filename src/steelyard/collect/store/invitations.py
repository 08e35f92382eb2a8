"""Invitations: who was invited by name, and who is not any more."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, func, null, select, update

from steelyard.collect.store.raters import add_once
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


def invite(connection: Connection, *, names: Sequence[str], now: int) -> None:
    """Invite people by name; one whose invitation was withdrawn is invited again."""
    for name in names:
        add_once(connection, invitations, {"name": name, "created": now})
        of_name = update(invitations).where(invitations.c.name == name)
        connection.execute(of_name.values(revoked=None))


def revoke(connection: Connection, *, name: str, now: int) -> None:
    """Withdraw an invitation: its link opens nothing, and its rater gets no more work.

    What the rater submitted stays, and what the rater holds may still be submitted.
    """
    add_once(connection, invitations, {"name": name, "created": now})
    is_valid = (invitations.c.name == name, invitations.c.revoked.is_(None))
    connection.execute(update(invitations).where(*is_valid).values(revoked=now))


def is_revoked(connection: Connection, *, name: str) -> bool:
    """Whether an invitation was withdrawn."""
    wanted = select(invitations.c.revoked).where(invitations.c.name == name)
    return connection.execute(wanted).scalar_one_or_none() is not None


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
    done = select(func.coalesce(func.sum(sessions.c.done), 0)).where(
        sessions.c.rater == raters.c.id
    )
    judged = done.scalar_subquery()
    # who came by a link that was printed, not made on the dashboard
    came = select(
        raters.c.external_id, raters.c.joined, null().label("revoked"), raters.c.number, judged
    ).where(raters.c.panel == _PANEL, raters.c.external_id.not_in(select(invitations.c.name)))
    is_theirs = and_(raters.c.panel == _PANEL, raters.c.external_id == invitations.c.name)
    known = select(
        invitations.c.name, invitations.c.created, invitations.c.revoked, raters.c.number, judged
    ).outerjoin_from(invitations, raters, is_theirs)
    rows = (*connection.execute(came), *connection.execute(known))
    found = sorted((Invited(*row) for row in rows), key=lambda one: (one.created, one.name))
    if printed is not None and all(one.name != printed for one in found):
        found.insert(0, Invited(printed, 0, None, None, 0))
    return found
