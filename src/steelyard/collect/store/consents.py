"""Consent: who has agreed to take part, to which words."""

from sqlalchemy import Connection, bindparam, insert, select

from steelyard.collect.store.tables import consents

__all__ = ["agreement", "record"]

_LAST = (
    select(consents.c.agreed)
    .where(consents.c.rater == bindparam("rater"), consents.c.words == bindparam("words"))
    .order_by(consents.c.id.desc())
    .limit(1)
)
_ADD = insert(consents)


def agreement(connection: Connection, *, rater: str, words: str) -> bool | None:
    """Return whether a rater agreed to these words; None if the rater was not asked yet.

    Parameters
    ----------
    connection : Connection
        To read from.
    rater : str
        Id of the rater.
    words : str
        Digest of what the rater was told.
    """
    found = connection.execute(_LAST, {"rater": rater, "words": words}).scalar_one_or_none()
    return None if found is None else bool(found)


def record(connection: Connection, *, rater: str, words: str, agreed: bool, now: int) -> None:
    """Keep what a rater said; the last word counts."""
    row = {"rater": rater, "words": words, "agreed": agreed, "time": now}
    connection.execute(_ADD, row)
