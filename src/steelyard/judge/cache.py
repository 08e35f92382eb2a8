"""Replies on disk, kept as they come: a run that was stopped asks nothing twice."""

import os
import shutil
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from steelyard.errors import InvalidDataError
from steelyard.judge.reply import Reply

__all__ = ["Cache", "Submission"]

# Marks the file as ours, in the header of SQLite, with the version of what it holds.
_APPLICATION = 0x57454948
_VERSION = 2
# Seconds that one run waits for another, which may be about to end.
_PATIENCE = 5.0
# Errors of a disk that takes no more: some systems call it an error of the device.
_NO_ROOM = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})
# Bytes that must be free before a question is asked: replies that are under way have room then.
_ROOM = 4_000_000
_TABLES = """
CREATE TABLE reply (question TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE submission (id TEXT PRIMARY KEY, place TEXT, file TEXT, tried REAL, batch TEXT);
CREATE TABLE batched (question TEXT PRIMARY KEY, id TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Submission:
    """Questions that were sent to a place as one file, when a batch of it was asked for, and its name.

    Without the name, nobody knows whether there is a batch.
    """

    id: str
    place: str
    file: str
    tried: float
    batch: str | None = None


class Cache:
    """Replies by the hash of their question, and what is in a batch, in an SQLite file.

    A context manager. One run at a time uses a file, until it ends, however it ends. Neither
    questions nor addresses nor keys are written to it.

    Parameters
    ----------
    path : path, optional
        The file; made if it is not there. Without it, replies are kept in memory.

    Raises
    ------
    InvalidDataError
        If the file is something else, is used by another run, or cannot be read or written.

    Examples
    --------
    >>> with Cache() as cache:
    ...     cache.keep({"question": Reply(content="4")})
    ...     cache.replies(["question", "another"])["question"].content
    '4'
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.name = ":memory:" if path is None else os.fspath(path)
        folder = Path(self.name).absolute().parent
        if path is not None and not folder.is_dir():
            raise InvalidDataError(f"{path}: cannot be written: no folder {folder}: make it first")
        with self._said():
            # one thread at a time uses it, but not always the one that opened it
            self._connection = sqlite3.connect(
                self.name, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
        try:
            with self._said():
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
        self._connection.close()

    def replies(self, keys: Iterable[str]) -> dict[str, Reply]:
        """Return the replies that are kept, by key."""
        with self._said():
            execute = self._connection.execute
            rows = [
                (key, execute("SELECT text FROM reply WHERE question = ?", (key,)).fetchone())
                for key in keys
            ]
        return {key: Reply.model_validate_json(row[0]) for key, row in rows if row is not None}

    def keep(self, replies: Mapping[str, Reply], submission: Submission | None = None) -> None:
        """Keep replies, on disk when this returns; a submission that they came with is over at once."""
        with self._transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO reply VALUES (?, ?)",
                [(key, reply.model_dump_json()) for key, reply in replies.items()],
            )
            if submission is not None:
                for table in ("batched", "submission"):
                    connection.execute(f"DELETE FROM {table} WHERE id = ?", (submission.id,))  # noqa: S608

    def begin(self, keys: Iterable[str], place: str, file: str) -> Submission:
        """Note that a batch of a file with these questions is about to be asked for."""
        submission = Submission(uuid.uuid4().hex, place, file, time.time())
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO submission VALUES (?, ?, ?, ?, NULL)",
                (submission.id, place, file, submission.tried),
            )
            connection.executemany(
                "INSERT INTO batched VALUES (?, ?)", [(key, submission.id) for key in keys]
            )
        return submission

    def sent(self, submission: Submission, batch: str) -> None:
        """Note the name of the batch."""
        with self._transaction() as connection:
            row = (batch, submission.id)
            connection.execute("UPDATE submission SET batch = ? WHERE id = ?", row)

    def submissions(self, keys: Iterable[str]) -> dict[Submission, list[str]]:
        """Return the submissions that hold any of these questions, with all of theirs."""
        wanted, held = set(keys), dict[str, list[str]]()
        with self._said():
            for key, name in self._connection.execute("SELECT question, id FROM batched"):
                held.setdefault(name, []).append(key)
            rows = self._connection.execute("SELECT * FROM submission ORDER BY rowid").fetchall()
        every = {Submission(*row): held[row[0]] for row in rows}
        return {one: some for one, some in every.items() if not wanted.isdisjoint(some)}

    def check_not_batched(self, keys: Iterable[str]) -> None:
        """Raise if one of the questions is in a batch that is not fetched yet."""
        wanted = set(keys)
        count = sum(len(wanted.intersection(some)) for some in self.submissions(wanted).values())
        if count:
            raise InvalidDataError(
                f"{self.name}: {count:,} of these questions are in a batch that is not fetched yet: fetch "
                "it with --batch (batch=True), or name another cache to ask, and pay, anew"
            )

    def check_room(self) -> None:
        """See that a reply can be kept before it is paid for."""
        if self.name == ":memory:":
            return
        with suppress(OSError):
            if shutil.disk_usage(Path(self.name).absolute().parent).free < _ROOM:
                raise self._full("less than 4 MB are free")

    def _prepare(self) -> None:
        execute = self._connection.execute
        # held until the connection is closed, or its process is gone
        execute("PRAGMA locking_mode = EXCLUSIVE")
        execute("BEGIN EXCLUSIVE")
        mark = [
            execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        ]
        if execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            execute(f"PRAGMA application_id = {_APPLICATION}")
            execute(f"PRAGMA user_version = {_VERSION}")
            for table in _TABLES.strip().split("\n"):
                execute(table)
        elif mark != [_APPLICATION, _VERSION]:
            raise InvalidDataError(
                f"{self.name}: is a database, but no cache of this version: name another file"
            )
        execute("COMMIT")
        # A log ahead of the file: what is committed outlives the process.
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = NORMAL")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Do several things at once or not at all."""
        with self._said(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection

    def _full(self, reason: str) -> InvalidDataError:
        return InvalidDataError(
            f"{self.name}: the disk takes no more ({reason}): free some room there, and run the same "
            "command again; replies so far are kept"
        )

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in _NO_ROOM:
                raise self._full(str(error)) from error
            if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise InvalidDataError(
                    f"{self.name}: is used by another run: wait until it ends, or name another file"
                ) from error
            raise InvalidDataError(
                f"{self.name}: cannot be used as a cache: {error}: name another file"
            ) from error
