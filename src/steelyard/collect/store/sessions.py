"""Sessions: one visit of a rater from a panel."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, bindparam, func, select
from sqlalchemy.dialects import postgresql, sqlite

from steelyard.collect.store.ids import new_id
from steelyard.collect.store.prepared import run
from steelyard.collect.store.refusals import NotAcceptedError
from steelyard.collect.store.tables import (
    invitations,
    ledger,
    raters,
    sessions,
    settings,
)

__all__ = ["Session", "earlier_visits", "judgments", "open_session", "session"]


@dataclass(frozen=True, slots=True)
class Session:
    """One visit.

    Attributes
    ----------
    id : str
        Random; what the rater's cookie names.
    rater, number, panel, external_id
        The rater, as in `Rater`.
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


_EARNED = (
    select(func.coalesce(func.sum(ledger.c.amount), 0))
    .where(ledger.c.rater == raters.c.id)
    .scalar_subquery()
)
_visits = sessions.alias("visits")
_TOTAL = (
    select(func.coalesce(func.sum(_visits.c.done), 0))
    .where(_visits.c.rater == raters.c.id)
    .scalar_subquery()
)
_SESSION = (
    select(
        sessions.c.id,
        sessions.c.rater,
        raters.c.number,
        raters.c.panel,
        raters.c.external_id,
        raters.c.excluded,
        invitations.c.revoked.is_not(None).label("revoked"),
        sessions.c.panel_session,
        sessions.c.parameters,
        sessions.c.opened,
        sessions.c.done,
        _TOTAL.label("total"),
        settings.c.session_judgments.label("limit"),
        _EARNED.label("earned"),
    )
    .join_from(sessions, raters, raters.c.id == sessions.c.rater)
    .outerjoin(settings, settings.c.id == 1)
    .outerjoin(
        invitations,
        and_(raters.c.panel == "invitation", invitations.c.name == raters.c.external_id),
    )
)
_BY_ID = _SESSION.where(sessions.c.id == bindparam("session"))
_BY_PANEL = _SESSION.where(
    sessions.c.rater == bindparam("rater"),
    sessions.c.panel_session == bindparam("panel_session"),
)
_EARLIER = select(func.count()).where(
    sessions.c.rater == bindparam("rater"),
    sessions.c.panel_session != bindparam("panel_session"),
    sessions.c.done > 0,
)
_JUDGMENTS = select(func.coalesce(func.sum(sessions.c.done), 0)).where(
    sessions.c.rater == bindparam("rater")
)
_INSERT = {
    "sqlite": sqlite.insert(sessions).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(sessions).on_conflict_do_nothing(),
}


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
    found = run(connection, _BY_PANEL, key).one_or_none()
    if found is None:
        row = {**key, "id": new_id(), "parameters": json.dumps(dict(parameters)), "opened": now}
        connection.execute(_INSERT[connection.dialect.name], row)
        found = run(connection, _BY_PANEL, key).one_or_none()
    return _session(found)


def earlier_visits(connection: Connection, *, rater: str, panel_session: str) -> int:
    """Return how many other visits of a rater brought a judgment."""
    key = {"rater": rater, "panel_session": panel_session}
    return int(connection.execute(_EARLIER, key).scalar_one())


def judgments(connection: Connection, *, rater: str) -> int:
    """Return how many judgments a rater gave in all visits."""
    return int(connection.execute(_JUDGMENTS, {"rater": rater}).scalar_one())


def session(connection: Connection, session_id: str) -> Session:
    """Return a session, with what the rater has done in it.

    Raises
    ------
    NotAcceptedError
        If there is none of this id.
    """
    found = run(connection, _BY_ID, {"session": session_id}).one_or_none()
    if found is None:
        raise NotAcceptedError("there is no such session", code="not-joined")
    return _session(found)


def _session(found: Any) -> Session:
    made = {
        "parameters": json.loads(found.parameters),
        "earned": int(found.earned),
        "revoked": bool(found.revoked),
        "total": int(found.total),
    }
    return Session(**found._asdict() | made)
