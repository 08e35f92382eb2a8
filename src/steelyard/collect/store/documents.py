"""Documents: whoever takes the first segment gets the others too, in order.

A rater who takes a segment has the later ones kept: they count as held, by nobody, until the rater asks for
them or is not heard of for the time of a lease. What such a rater leaves undone goes to another, from
the first segment that is left.
"""

from typing import Any

from sqlalchemy import Connection

from steelyard.collect.store import lease_statements as statements
from steelyard.collect.store.ids import salt

__all__ = ["begun_document", "following_segment", "hold_document"]

_TRIES = 5
_SLOTS_A_POSITION = 4


def following_segment(connection: Connection, *, rater: str) -> Any:
    """Return the next segment of the document that a rater has begun; None if there is none."""
    return connection.execute(statements.FOLLOWING, {"rater": rater}).one_or_none()


def begun_document(
    connection: Connection, *, rater: str, now: int, expires: int, window: int
) -> Any:
    """Choose a document, keep it for a rater, and return its first segment; None if none is free."""
    values = {
        "rater": rater,
        "salt": salt(rater),
        "now": now,
        "window": window,
        "most": _SLOTS_A_POSITION * window,
    }
    for _ in range(_TRIES):
        chosen = connection.execute(statements.DOCUMENT_CHOICE, values).one_or_none()
        if chosen is None:
            return None
        # one process at a time: another may be about to take the same document
        connection.execute(statements.LOCK_DOCUMENT, {"document": chosen.document}).all()
        about = {"document": chosen.document, "rater": rater, "now": now}
        free = connection.execute(statements.OF_DOCUMENT, about).all()
        if free:
            first = {row.place: row for row in reversed(free)}
            for row in first.values():
                kept = {"slot_id": row.slot, "new_kept": rater, "new_expires": expires}
                connection.execute(statements.KEEP, kept)
            return free[0]
    return None


def hold_document(connection: Connection, *, rater: str, expires: int) -> None:
    """Keep what is left of a rater's document for longer."""
    connection.execute(statements.HOLD_KEPT, {"kept_for": rater, "new_expires": expires})
