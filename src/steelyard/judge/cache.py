"""Replies on disk, kept as they come: a run that was stopped asks nothing twice."""

import hashlib
import json
import os
import shutil
import socket
import sqlite3
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from steelyard.errors import InvalidDataError
from steelyard.judge.reply import Reply

__all__ = ["LEASE", "Cache", "Execute", "dissolve_unsent", "is_alive", "question_key"]

Execute = Callable[..., sqlite3.Cursor]

# Marks the file as ours, in the header of SQLite, with the version of what it holds.
_APPLICATION = 0x57454948
_VERSION = 1
# How long one process waits for another that writes, in seconds.
_PATIENCE = 60.0
_AT_ONCE = 500
# Seconds after which a claim ends of which nobody knows whether its run is still there.
LEASE = 900.0
# Errors of a disk that takes no more: some systems call it an error of the device.
_NO_ROOM = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})
# Bytes that must be free before a question is asked: replies that are under way have room then.
_ROOM = 4_000_000


def question_key(question: Mapping[str, Any]) -> str:
    """Return what a question is kept under: a hash that the order of keys does not change.

    Examples
    --------
    >>> question_key({"a": 1, "b": 2}) == question_key({"b": 2, "a": 1})
    True
    """
    text = json.dumps(question, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


class Cache:
    """Replies by the hash of their question, in an SQLite file.

    A context manager. Several processes may use one file at a time: a question that one of them is
    asking is not asked by another. Neither questions nor addresses nor keys are written to it.

    Parameters
    ----------
    path : path, optional
        The file; made if it is not there. Without it, replies are kept in memory.

    Attributes
    ----------
    owner : str
        This run, as others see it.

    Raises
    ------
    InvalidDataError
        If the file is something else, or cannot be read or written.

    Examples
    --------
    >>> with Cache() as cache:
    ...     kept = cache.keep("question", Reply("4", "stop", False, None, 90, 1))
    ...     cache.replies(["question", "another"])["question"].content
    '4'
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.name = ":memory:" if path is None else os.fspath(path)
        self.owner = f"{socket.gethostname()} {os.getpid()} {uuid.uuid4().hex}"
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise InvalidDataError(
                f"{path}: cannot be written: no folder {Path(path).parent}: make it first"
            )
        with self._speaking():
            # one thread at a time uses it, but not always the one that opened it
            self._connection = sqlite3.connect(
                self.name, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
        try:
            with self._speaking():
                self._prepare()
        except InvalidDataError:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(sqlite3.Error):
            self._connection.execute("DELETE FROM claim WHERE owner = ?", (self.owner,))
            self._connection.execute("UPDATE batch SET until = 0 WHERE owner = ?", (self.owner,))
        self._connection.close()

    def keep(self, key: str, reply: Reply) -> Reply:
        """Keep a reply, and return the one that is kept: the first one of a question stays.

        It is on disk when this returns.
        """
        with self._speaking():
            self._connection.execute(
                "INSERT OR IGNORE INTO reply (question, text) VALUES (?, ?)", (key, reply.to_json())
            )
        self.release(key)
        return self.replies([key])[key]

    def claim(self, key: str) -> bool:
        """Take a question upon this run; False if another run is asking it now.

        A claim ends when its run gives it back or ends, however it ends; that of a run on another
        machine ends after 15 minutes.

        Raises
        ------
        InvalidDataError
            If the question is in a batch: nobody knows how long that takes.
        """
        self.check_room()
        now = time.time()
        with self.transaction() as execute:
            self._check_not_batched(execute, [key])
            found = execute("SELECT owner, until FROM claim WHERE question = ?", (key,)).fetchone()
            is_free = found is None or found[0] == self.owner or found[1] < now
            if is_free or not is_alive(found[0]):
                row = (key, self.owner, now + LEASE)
                execute("INSERT OR REPLACE INTO claim VALUES (?, ?, ?)", row)
                return True
            return False

    def check_not_batched(self, keys: Sequence[str]) -> None:
        """Raise if one of the questions is in a batch that is not fetched yet."""
        with self.transaction() as execute:
            self._check_not_batched(execute, keys)

    def _check_not_batched(self, execute: Execute, keys: Sequence[str]) -> None:
        dissolve_unsent(execute)
        if execute("SELECT 1 FROM batched LIMIT 1").fetchone() is None:
            return
        one = "SELECT 1 FROM batched WHERE question = ?"
        count = sum(execute(one, (key,)).fetchone() is not None for key in keys)
        if count:
            raise InvalidDataError(
                f"{self.name}: {count:,} of these questions are in a batch that is not fetched yet: fetch "
                "it with --batch (batch=True), or name another cache to ask, and pay, anew"
            )

    def release(self, key: str) -> None:
        """Give a question back to whoever wants to ask it."""
        with self._speaking():
            self._connection.execute(
                "DELETE FROM claim WHERE question = ? AND owner = ?", (key, self.owner)
            )

    def forget(self, keys: Sequence[str]) -> None:
        """Forget the replies to some questions."""
        with self._speaking():
            self._connection.executemany(
                "DELETE FROM reply WHERE question = ?", [(key,) for key in keys]
            )

    def replies(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Return the replies that are kept, by key."""
        found: dict[str, Reply] = {}
        for low in range(0, len(keys), _AT_ONCE):
            some = keys[low : low + _AT_ONCE]
            marks = ",".join("?" * len(some))
            with self._speaking():
                rows = self._connection.execute(
                    f"SELECT question, text FROM reply WHERE question IN ({marks})",  # noqa: S608
                    some,
                ).fetchall()
            found |= {key: Reply.from_json(text) for key, text in rows}
        return found

    @contextmanager
    def transaction(self) -> Iterator[Execute]:
        """Do several things at once or not at all, while no other process does anything."""
        with self._speaking(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection.execute

    def _prepare(self) -> None:
        execute = self._connection.execute
        # The header is read under the lock: another process may be making the same file.
        execute("BEGIN IMMEDIATE")
        application = execute("PRAGMA application_id").fetchone()[0]
        version = execute("PRAGMA user_version").fetchone()[0]
        tables = execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables == 0:
            execute(f"PRAGMA application_id = {_APPLICATION}")
            execute(f"PRAGMA user_version = {_VERSION}")
            execute("CREATE TABLE reply (question TEXT PRIMARY KEY, text TEXT NOT NULL)")
        elif (application, version) != (_APPLICATION, _VERSION):
            raise InvalidDataError(
                f"{self.name}: is a database, but no cache of this version: name another file"
            )
        execute(
            "CREATE TABLE IF NOT EXISTS claim (question TEXT PRIMARY KEY, owner TEXT, until REAL)"
        )
        # questions that are sent as one file, and which they are
        execute(
            "CREATE TABLE IF NOT EXISTS batch (id TEXT PRIMARY KEY, owner TEXT, until REAL, "
            "place TEXT, file TEXT, tried REAL, batch TEXT)"
        )
        execute("CREATE TABLE IF NOT EXISTS batched (question TEXT PRIMARY KEY, id TEXT)")
        execute("COMMIT")
        # A log ahead of the file: readers and one writer do not wait for each other, and what is
        # committed outlives the process.
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = NORMAL")

    def check_room(self) -> None:
        """See that a reply can be kept before it is paid for."""
        if self.name == ":memory:":
            return
        with suppress(OSError):
            if shutil.disk_usage(Path(self.name).absolute().parent).free < _ROOM:
                raise self._full("less than 4 MB are free")

    def _full(self, reason: str) -> InvalidDataError:
        return InvalidDataError(
            f"{self.name}: the disk takes no more ({reason}): free some room there, and run the same "
            "command again; replies so far are kept"
        )

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NO_ROOM:
                raise self._full(str(error)) from error
            raise InvalidDataError(
                f"{self.name}: cannot be used as a cache: {error}: name another file"
            ) from error


def dissolve_unsent(execute: Execute) -> None:
    """Give back the questions of batches that were never sent, because their run is gone."""
    rows = execute("SELECT id, owner, until FROM batch WHERE tried IS NULL").fetchall()
    for name, owner, until in rows:
        if until < time.time() or not is_alive(owner):
            execute("DELETE FROM batched WHERE id = ?", (name,))
            execute("DELETE FROM batch WHERE id = ?", (name,))


def is_alive(owner: str) -> bool:
    """Whether a run may still be there: known for certain on this machine only."""
    host, pid, _ = owner.rsplit(" ", 2)
    if host != socket.gethostname() or sys.platform == "win32":
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
