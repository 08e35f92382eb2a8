"""What a lease showed, and to whom: asked for when the answer comes."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select

from steelyard.collect.store.ids import is_swapped
from steelyard.collect.store.refusals import UnknownLeaseError
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
    content : mapping
        The fields as they were shown.
    swapped : bool
        Whether the sides of a pair had changed places in `content`.
    """

    rater: str
    content: dict[str, Any]
    swapped: bool


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
    content = json.loads(found.content)
    swapped = bool(found.pair) and is_swapped(lease)
    if swapped:
        content["first"], content["second"] = content["second"], content["first"]
    return Given(found.rater, content, swapped)
