"""Services outside that a campaign deals with: what is remembered of each, and what is wrong."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.dialects import postgresql, sqlite

from steelyard.collect.store.tables import services

__all__ = ["Service", "keep", "service", "troubles"]


@dataclass(frozen=True, slots=True)
class Service:
    """A service outside.

    Attributes
    ----------
    memory : mapping
        What was done there, as far as it matters later.
    trouble : str or None
        What whoever runs the campaign must know; None while all is well.
    """

    memory: Mapping[str, Any] = field(default_factory=dict)
    trouble: str | None = None


_ONE = select(services.c.memory, services.c.trouble).where(services.c.name == bindparam("of_name"))
_TROUBLES = (
    select(services.c.trouble).where(services.c.trouble.is_not(None)).order_by(services.c.name)
)
_KEEP: dict[str, Any] = {
    dialect: made.on_conflict_do_update(
        index_elements=["name"],
        set_={"memory": made.excluded.memory, "trouble": made.excluded.trouble},
    )
    for dialect, made in (
        ("sqlite", sqlite.insert(services)),
        ("postgresql", postgresql.insert(services)),
    )
}


def service(connection: Connection, *, name: str) -> Service:
    """Return what is known of a service; of a new one nothing is."""
    found = connection.execute(_ONE, {"of_name": name}).one_or_none()
    return Service() if found is None else Service(json.loads(found.memory), found.trouble)


def keep(connection: Connection, *, name: str, known: Service) -> None:
    """Keep what is known of a service."""
    row = {"name": name, "memory": json.dumps(dict(known.memory)), "trouble": known.trouble}
    connection.execute(_KEEP[connection.dialect.name], row)


def troubles(connection: Connection) -> list[str]:
    """Return what is wrong with services."""
    return list(connection.execute(_TROUBLES).scalars())
