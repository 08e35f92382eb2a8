"""What a lease showed, and to whom: asked for when the answer comes."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select

from steelyard.collect.store.refusals import UnknownLeaseError
from steelyard.collect.store.sides import Seen, seen
from steelyard.collect.store.tables import leases, units

__all__ = ["Given", "given"]

_GIVEN = (
    select(leases.c.rater, units.c.content, units.c.pair)
    .join(units, units.c.id == leases.c.unit)
    .where(leases.c.id == bindparam("lease"))
)


@dataclass(frozen=True, slots=True)
class Given:
    """What an answer is about; it never changes.

    Attributes
    ----------
    rater : str
        The only rater who may answer.
    seen : Seen
        The fields as they were shown, and what had changed places in them.
    """

    rater: str
    seen: Seen

    @property
    def content(self) -> dict[str, Any]:
        """The fields as they were shown."""
        return self.seen.content


def given(connection: Connection, *, lease: str) -> Given:
    """Return what a lease showed.

    Raises
    ------
    UnknownLeaseError
        If there is no such lease.
    """
    found = connection.execute(_GIVEN, {"lease": lease}).one_or_none()
    if found is None:
        raise UnknownLeaseError("there is no such lease")
    return Given(found.rater, seen(json.loads(found.content), lease=lease, pair=bool(found.pair)))
