"""Raters and their visits: who they are to us, whatever panel they come from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, func, select
from sqlalchemy.dialects import postgresql, sqlite

from steelyard.collect.store.ids import new_id
from steelyard.collect.store.refusals import NotAcceptedError
from steelyard.collect.store.sql import first
from steelyard.collect.store.tables import raters, sessions

__all__ = [
    "Session",
    "add_once",
    "earlier_visits",
    "hold_rater",
    "join",
    "judgments",
    "open_session",
    "session",
]


@dataclass(frozen=True, slots=True)
class Session:
    """One visit.

    Attributes
    ----------
    id : str
        Random; what the rater's cookie names.
    rater : str
        Id of the rater: random; names the rater in the database and nowhere else.
    number : int
        From 1, in the order of joining; what tables and exports show.
    panel, external_id : str
        Where the rater comes from and the name the rater has there.
    excluded : bool
        Whether the rater's judgments are left out of the estimate.
    revoked : bool
        Whether the rater's invitation was withdrawn.
    panel_session : str
        The panel's name of the visit; empty if it has none.
    parameters : mapping of str to str
        What the panel sent along.
    opened : int
        When it began, in milliseconds.
    done : int
        Judgments of this visit.
    total : int
        Judgments of all visits of the rater.
    limit : int or None
        Judgments after which it ends; none ends when no work is left.
    earned : int
        What the rater has earned in all visits, in millionths of the currency.
    """

    id: str
    rater: str
    number: int
    panel: str
    external_id: str
    excluded: bool
    revoked: bool
    panel_session: str
    parameters: Mapping[str, str]
    opened: int
    done: int
    total: int
    limit: int | None
    earned: int

    @property
    def finished(self) -> bool:
        """Whether the visit has brought all that it was to bring."""
        return self.limit is not None and self.done >= self.limit


_SESSION = """
    SELECT sessions.id, sessions.rater, raters.number, raters.panel, raters.external_id,
           raters.excluded, invitations.revoked IS NOT NULL AS revoked, sessions.panel_session,
           sessions.parameters, sessions.opened, sessions.done,
           (SELECT sum(visits.done) FROM sessions AS visits WHERE visits.rater = raters.id) AS total,
           settings.session_judgments AS "limit",
           (SELECT coalesce(sum(amount), 0) FROM ledger WHERE ledger.rater = raters.id) AS earned
    FROM sessions
    JOIN raters ON raters.id = sessions.rater
    LEFT JOIN settings ON settings.id = 1
    LEFT JOIN invitations
      ON raters.panel = 'invitation' AND invitations.name = raters.external_id
    WHERE """


def add_once(connection: Connection, table: Table, row: Mapping[str, Any]) -> None:
    """Add a row, unless another process has added it at the same moment: then that one stands."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    connection.execute(insert(table).on_conflict_do_nothing(), dict(row))


def join(connection: Connection, *, panel: str, external_id: str, now: int) -> str:
    """Return the id of the rater of this name from this panel, who is made at the first visit."""
    wanted = select(raters.c.id).where(raters.c.panel == panel, raters.c.external_id == external_id)
    known: str | None = connection.execute(wanted).scalar_one_or_none()
    if known is None:
        row = {"panel": panel, "external_id": external_id, "id": new_id(), "joined": now}
        add_once(connection, raters, row)
        known = connection.execute(wanted).scalar_one()
    return known


def hold_rater(connection: Connection, rater: str) -> None:
    """Make other processes wait with what concerns this rater until the commit.

    A rater with two windows open may reach two processes at once. The writer of SQLite is alone
    anyway.
    """
    if connection.dialect.name == "postgresql":
        wanted = select(raters.c.number).where(raters.c.id == rater)
        connection.execute(wanted.with_for_update(key_share=True))


def open_session(
    connection: Connection,
    *,
    rater: str,
    panel_session: str,
    parameters: Mapping[str, str],
    now: int,
) -> Session:
    """Return the rater's session of this name, made when it is first asked for.

    Parameters
    ----------
    connection : Connection
        Of the writer.
    rater : str
        Id of the rater.
    panel_session : str
        The panel's name of the visit; empty where panels have none, which makes all visits one.
    parameters : mapping of str to str
        What the panel sent along, to be returned to it; the first visit's are kept.
    now : int
        Milliseconds.
    """
    key = {"rater": rater, "panel_session": panel_session}
    of_name = f"{_SESSION} sessions.rater = :rater AND sessions.panel_session = :panel_session"
    row = first(connection, of_name, **key)
    if row is None:
        new = {**key, "id": new_id(), "parameters": json.dumps(dict(parameters)), "opened": now}
        add_once(connection, sessions, new)
        row = first(connection, of_name, **key)
    return _session(row)


def session(connection: Connection, session_id: str) -> Session:
    """Return a session, with what the rater has done in it.

    Raises
    ------
    NotAcceptedError
        If there is none of this id.
    """
    row = first(connection, f"{_SESSION} sessions.id = :session", session=session_id)
    if row is None:
        raise NotAcceptedError("there is no such session", code="not-joined")
    return _session(row)


def _session(row: Any) -> Session:
    known = row._asdict()
    return Session(
        **known
        | {name: bool(known[name]) for name in ("excluded", "revoked")}
        | {name: int(known[name]) for name in ("earned", "total")}
        | {"parameters": json.loads(row.parameters)}
    )


def earlier_visits(connection: Connection, *, rater: str, panel_session: str) -> int:
    """Return how many other visits of a rater brought a judgment."""
    wanted = select(func.count()).where(
        sessions.c.rater == rater,
        sessions.c.panel_session != panel_session,
        sessions.c.done > 0,
    )
    return int(connection.execute(wanted).scalar_one())


def judgments(connection: Connection, *, rater: str) -> int:
    """Return how many judgments a rater gave in all visits."""
    wanted = select(func.coalesce(func.sum(sessions.c.done), 0)).where(sessions.c.rater == rater)
    return int(connection.execute(wanted).scalar_one())
