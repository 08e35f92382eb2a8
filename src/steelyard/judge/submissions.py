"""Which questions are in which batch: on disk before anything is paid for."""

import hashlib
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from steelyard.judge.cache import LEASE, Cache, Execute, dissolve_unsent, is_alive
from steelyard.judge.reply import Reply

__all__ = ["Submission", "Submissions", "place_key"]


def place_key(address: str) -> str:
    """Return what an address is known by in the cache, which does not hold it."""
    return hashlib.sha256(address.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Submission:
    """Questions that are sent together.

    Attributes
    ----------
    id : str
        Our own name for it.
    owner : str
        The run that began it.
    place : str
        Where it is sent, by `place_key`.
    file : str or None
        The endpoint's name of the file with the questions; None before it is told.
    tried : float or None
        When a batch of it was asked for, in seconds since 1970. Without a `batch`, nobody knows whether
        there is one.
    batch : str or None
        The endpoint's name of the batch.
    """

    id: str
    owner: str
    place: str
    file: str | None = None
    tried: float | None = None
    batch: str | None = None


class Submissions:
    """The submissions of a cache.

    Parameters
    ----------
    cache : Cache
        Where they are kept.
    """

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def holding(self, keys: Iterable[str]) -> list[Submission]:
        """Return the submissions that hold any of these questions."""
        wanted = set(keys)
        with self._cache.transaction() as execute:
            dissolve_unsent(execute)
            rows = execute("SELECT question, id FROM batched").fetchall()
            some = {name for key, name in rows if key in wanted}
            fields = "id, owner, place, file, tried, batch"
            found = execute(f"SELECT {fields} FROM batch ORDER BY rowid").fetchall()  # noqa: S608
        return [Submission(*row) for row in found if row[0] in some]

    def unsent(self, keys: Iterable[str]) -> list[str]:
        """Return those of the questions that no submission holds."""
        with self._cache.transaction() as execute:
            held = {row[0] for row in execute("SELECT question FROM batched")}
        return [key for key in keys if key not in held]

    def keys(self, submission: Submission) -> list[str]:
        """Return the questions of a submission."""
        with self._cache.transaction() as execute:
            rows = execute("SELECT question FROM batched WHERE id = ?", (submission.id,)).fetchall()
        return [row[0] for row in rows]

    def begin(self, keys: Sequence[str], place: str) -> tuple[Submission, list[str]]:
        """Take questions upon this run, except those that another run is asking or has in a batch.

        Returns
        -------
        Submission, list of str
            A new one, and its questions: none if there is nothing to take.
        """
        self._cache.check_room()
        found = Submission(uuid.uuid4().hex, self._cache.owner, place)
        with self._cache.transaction() as execute:
            free = [key for key in keys if self._is_free(execute, key)]
            if free:
                execute(
                    "INSERT INTO batch (id, owner, until, place) VALUES (?, ?, ?, ?)",
                    (found.id, found.owner, time.time() + LEASE, found.place),
                )
            for key in free:
                execute("INSERT INTO batched VALUES (?, ?)", (key, found.id))
        return found, free

    def _is_free(self, execute: Execute, key: str) -> bool:
        if execute("SELECT 1 FROM batched WHERE question = ?", (key,)).fetchone():
            return False
        if execute("SELECT 1 FROM reply WHERE question = ?", (key,)).fetchone():
            return False
        claim = execute("SELECT owner, until FROM claim WHERE question = ?", (key,)).fetchone()
        return claim is None or claim[1] < time.time() or not is_alive(claim[0])

    def is_left(self, submission: Submission) -> bool:
        """Whether the run that began a submission is this one or gone; it is this run's then.

        A run on another machine counts as gone after 15 minutes without a batch.
        """
        owner, now = self._cache.owner, time.time()
        with self._cache.transaction() as execute:
            row = execute(
                "SELECT owner, until FROM batch WHERE id = ?", (submission.id,)
            ).fetchone()
            if row is None or (row[0] != owner and row[1] >= now and is_alive(row[0])):
                return False
            execute(
                "UPDATE batch SET owner = ?, until = ? WHERE id = ?",
                (owner, now + LEASE, submission.id),
            )
        return True

    def sending(self, submission: Submission, file: str) -> bool:
        """Note that a batch of a file is about to be asked for; False if another run took it over."""
        with self._cache.transaction() as execute:
            changed = execute(
                "UPDATE batch SET file = ?, tried = ? WHERE id = ? AND owner = ?",
                (file, time.time(), submission.id, self._cache.owner),
            )
            return changed.rowcount == 1

    def sent(self, submission: Submission, batch: str) -> None:
        """Note the name of the batch."""
        with self._cache.transaction() as execute:
            execute("UPDATE batch SET batch = ? WHERE id = ?", (batch, submission.id))

    def end(self, submission: Submission, replies: Mapping[str, Reply] | None = None) -> None:
        """Keep replies and give all questions back, at once: nothing is fetched or paid for twice."""
        with self._cache.transaction() as execute:
            for key, reply in (replies or {}).items():
                execute("INSERT OR IGNORE INTO reply VALUES (?, ?)", (key, reply.to_json()))
            execute("DELETE FROM batched WHERE id = ?", (submission.id,))
            execute("DELETE FROM batch WHERE id = ?", (submission.id,))
