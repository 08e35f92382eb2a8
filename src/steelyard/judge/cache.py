"""Replies on disk, kept as they come: a run that was stopped asks nothing twice."""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from steelyard.errors import InvalidDataError
from steelyard.judge.reply import Reply

__all__ = ["Cache"]

# Marks the file as ours, in the header of SQLite, with the version of what it holds.
_APPLICATION = 0x57454948
_VERSION = 2
# Seconds that one run waits for another, which may be about to end.
_PATIENCE = 5.0
# Errors of a disk that takes no more: some systems call it an error of the device.
_NO_ROOM = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})
_TABLE = "CREATE TABLE reply (question TEXT PRIMARY KEY, text TEXT NOT NULL)"


class Cache:
    """Replies by the hash of their question, in an SQLite file.

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
    ...     cache.keep("question", Reply(content="4"))
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

    def keep(self, key: str, reply: Reply) -> None:
        """Keep a reply, on disk when this returns."""
        with self._said():
            self._connection.execute(
                "INSERT OR REPLACE INTO reply VALUES (?, ?)", (key, reply.model_dump_json())
            )

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
            execute(_TABLE)
        elif mark != [_APPLICATION, _VERSION]:
            raise InvalidDataError(
                f"{self.name}: is a database, but no cache of this version: name another file"
            )
        execute("COMMIT")
        # A log ahead of the file: what is committed outlives the process.
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = NORMAL")

    @contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in _NO_ROOM:
                raise InvalidDataError(
                    f"{self.name}: the disk takes no more ({error}): free some room there, and run the same "
                    "command again; replies so far are kept"
                ) from error
            if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise InvalidDataError(
                    f"{self.name}: is used by another run: wait until it ends, or name another file"
                ) from error
            raise InvalidDataError(
                f"{self.name}: cannot be used as a cache: {error}: name another file"
            ) from error
