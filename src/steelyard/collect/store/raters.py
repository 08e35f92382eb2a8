"""Raters: who they are to us, whatever panel they come from."""

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.dialects import postgresql, sqlite

from steelyard.collect.store.ids import new_id
from steelyard.collect.store.refusals import NotAcceptedError
from steelyard.collect.store.tables import raters

__all__ = ["Rater", "hold_rater", "join", "rater"]


@dataclass(frozen=True, slots=True)
class Rater:
    """A person who rates.

    Attributes
    ----------
    id : str
        Random; names the rater in the database and nowhere else.
    number : int
        From 1, in the order of joining; what tables and exports show.
    panel, external_id : str
        Where the rater comes from and the name the rater has there.
    joined : int
        When the rater first came, in milliseconds.
    excluded : bool
        Whether the rater's judgments are left out of the estimate.
    """

    id: str
    number: int
    panel: str
    external_id: str
    joined: int
    excluded: bool


_COLUMNS = (
    raters.c.id,
    raters.c.number,
    raters.c.panel,
    raters.c.external_id,
    raters.c.joined,
    raters.c.excluded,
)
_BY_PANEL = select(*_COLUMNS).where(
    raters.c.panel == bindparam("panel"), raters.c.external_id == bindparam("external_id")
)
_BY_ID = select(*_COLUMNS).where(raters.c.id == bindparam("rater"))
# Another process may insert the same rater at the same moment: then that one stands.
_INSERT = {
    "sqlite": sqlite.insert(raters).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(raters).on_conflict_do_nothing(),
}
_HOLD = (
    select(raters.c.number).where(raters.c.id == bindparam("rater")).with_for_update(key_share=True)
)


def join(connection: Connection, *, panel: str, external_id: str, now: int) -> Rater:
    """Return the rater of this name from this panel, made at the first visit."""
    key = {"panel": panel, "external_id": external_id}
    found = connection.execute(_BY_PANEL, key).one_or_none()
    if found is None:
        connection.execute(_INSERT[connection.dialect.name], {**key, "id": new_id(), "joined": now})
        found = connection.execute(_BY_PANEL, key).one()
    return Rater(*found)


def rater(connection: Connection, rater_id: str) -> Rater:
    """Return a rater.

    Raises
    ------
    NotAcceptedError
        If there is none of this id.
    """
    found = connection.execute(_BY_ID, {"rater": rater_id}).one_or_none()
    if found is None:
        raise NotAcceptedError("there is no such rater", code="not-found")
    return Rater(*found)


def hold_rater(connection: Connection, rater_id: str) -> None:
    """Make other processes wait with what concerns this rater until the commit.

    A rater with two windows open may reach two processes at once. The writer of SQLite is alone
    anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(_HOLD, {"rater": rater_id})
