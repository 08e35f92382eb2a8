"""A campaign's database: SQLite in a file, or PostgreSQL for several server processes."""

import logging
import os
import stat
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from steelyard.collect.store.refusals import StoreError
from steelyard.collect.store.tables import metadata
from steelyard.collect.store.writer import Writer, first_line
from steelyard.errors import InvalidArgumentError

__all__ = ["Reader", "Store"]

T = TypeVar("T")
_log = logging.getLogger("steelyard.collect")

# How long SQLite waits for another process that writes to the same file.
_BUSY_MS = 30_000
# How long an operation of a PostgreSQL batch waits for a row that another process has locked,
# before it is put off (see `Writer`). Far below the second after which PostgreSQL looks for
# deadlocks.
_LOCK_MS = 50
# Any number that no other program locks in the same database.
_ADVISORY = 0x57EE_14A4D
# Readable by its owner alone: the database holds the secret that signs every link.
_OWNER_ONLY = stat.S_IRUSR | stat.S_IWUSR
# Connections of a server that only look. With its writer and with the one of the process that computes
# the dashboard, eight servers stay below the hundred that PostgreSQL allows.
_READERS = 10
# The writer finds single rows by index, again and again. PostgreSQL would plan every statement
# anew, or keep a plan that it made while the tables were empty and that reads them whole.
_WRITER_OPTIONS = (
    f"lock_timeout={_LOCK_MS}",
    "plan_cache_mode=force_generic_plan",
    "enable_seqscan=off",
    "enable_hashjoin=off",
    "enable_mergejoin=off",
    "jit=off",
)


class Reader:
    """A database that is only looked at; what `Store` writes is seen, also from another process.

    Made by `Reader.open`, at the `address` of a store.
    """

    def __init__(self, address: str, reading: Engine) -> None:
        self.address = address
        self._reading = reading

    @classmethod
    def open(cls, database: str | os.PathLike[str]) -> Self:
        """Open a database that a `Store` has made ready.

        Parameters
        ----------
        database : path or URL
            As for `Store.open`.

        Raises
        ------
        InvalidArgumentError
            If it is neither.
        """
        url = _url(database)
        return cls(_address(url), _reading(url, connections=1))

    @staticmethod
    def is_there(database: str | os.PathLike[str]) -> bool:
        """Whether there is a database to open; one on a server is taken to be there."""
        url = _url(database)
        return url.get_backend_name() != "sqlite" or Path(url.database or "").is_file()

    def read(self, operation: Callable[[Connection], T]) -> T:
        """Run an operation that only looks, in the calling thread, on one snapshot.

        Raises
        ------
        StoreError
            If the database cannot be read.
        """
        try:
            with self._reading.connect() as connection:
                return operation(connection)
        except SQLAlchemyError as error:
            raise StoreError(f"the database cannot be read ({first_line(error)})") from error

    def close(self) -> None:
        """Let go of the database."""
        self._reading.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Store(Reader):
    """Everything a campaign knows, on disk.

    Made by `Store.open`. Operations are functions of a connection: ``store.write(operation)`` for
    those that change something, ``store.read(operation)`` for those that only look.

    Examples
    --------
    >>> import tempfile
    >>> from functools import partial
    >>> from steelyard.collect.store.raters import join
    >>> with tempfile.TemporaryDirectory() as folder, Store.open(f"{folder}/a.sqlite") as store:
    ...     operation = partial(join, panel="open", external_id="ann", now=0)
    ...     len(store.write(operation).result())
    22
    """

    def __init__(self, address: str, reading: Engine, writing: Engine) -> None:
        super().__init__(address, reading)
        self._writing = writing
        self._writer = Writer(writing)

    @classmethod
    def open(cls, database: str | os.PathLike[str]) -> Self:
        """Open a database, made with its tables if it is not there.

        Several processes may do so at the same time. Nothing has to be removed after a process
        was killed.

        Parameters
        ----------
        database : path or URL
            The path of an SQLite file, or ``postgresql://user@host/name``.

        Raises
        ------
        InvalidArgumentError
            If it is neither.
        StoreError
            If the database cannot be opened, lies where everybody may write, or was made by
            another version.
        """
        url = _url(database)
        if url.get_backend_name() == "sqlite":
            _make_private(Path(url.database or ""))
        engines = _reading(url, connections=_READERS), _writing(url)
        try:
            _make_tables(engines[1])
        except SQLAlchemyError as error:
            for engine in engines:
                engine.dispose()
            raise StoreError(
                f"cannot open the database {url.render_as_string()}: {first_line(error)}"
            ) from error
        except StoreError:
            for engine in engines:
                engine.dispose()
            raise
        return cls(_address(url), *engines)

    def write(self, operation: Callable[[Connection], T]) -> Future[T]:
        """Queue an operation that changes the database.

        Parameters
        ----------
        operation : function of a connection
            Changes nothing but the database, because it may run again (see `Writer`).

        Returns
        -------
        Future
            Resolves to what the operation returned, once that is durable; or to what it raised,
            once it is rolled back; or to a `StoreError`.

        Raises
        ------
        StoreError
            If the store was closed.
        """
        return self._writer.submit(operation)

    @property
    def failure(self) -> str | None:
        """Why the last thing could not be written; None if it could."""
        return self._writer.failure

    def close(self) -> None:
        """Finish what was queued and let go of the database."""
        self._writer.close()
        super().close()
        self._writing.dispose()


def _url(database: str | os.PathLike[str]) -> URL:
    text = os.fspath(database)
    if "://" not in text:
        return URL.create("sqlite+pysqlite", database=str(Path(text)))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise InvalidArgumentError(
            "`database` must be a path or a URL such as postgresql://user@host/name; what was "
            "given cannot be read as a URL"
        ) from error
    kind = url.drivername.partition("+")[0]
    if kind in {"postgresql", "postgres"}:
        return url.set(drivername="postgresql+psycopg")
    if kind == "sqlite" and url.database and url.database != ":memory:":
        return url.set(drivername="sqlite+pysqlite")
    raise InvalidArgumentError(
        "`database` must be the path of an SQLite file or postgresql://user@host/name; got a URL "
        f"of kind {url.drivername}"
    )


def _address(url: URL) -> str:
    """Return what opens the same database again, with the password if it has one."""
    return url.render_as_string(hide_password=False)


def _reading(url: URL, *, connections: int) -> Engine:
    if url.get_backend_name() == "sqlite":
        return _sqlite(url, begin="BEGIN", connections=connections, look_only=True)
    return create_engine(
        url,
        pool_size=min(4, connections),
        max_overflow=max(0, connections - 4),
        pool_pre_ping=True,
        isolation_level="REPEATABLE READ",
        connect_args={"options": "-c default_transaction_read_only=on"},
    )


def _writing(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        return _sqlite(url, begin="BEGIN IMMEDIATE", connections=1, look_only=False)
    return create_engine(
        url,
        pool_size=1,
        isolation_level="READ COMMITTED",
        connect_args={"options": " ".join(f"-c {option}" for option in _WRITER_OPTIONS)},
    )


def _sqlite(url: URL, *, begin: str, connections: int, look_only: bool) -> Engine:
    engine = create_engine(
        url, connect_args={"check_same_thread": False}, pool_size=min(8, connections)
    )
    _set_up_sqlite(engine, begin=begin, look_only=look_only)
    return engine


def _set_up_sqlite(engine: Engine, *, begin: str, look_only: bool) -> None:
    def connected(connection: Any, _record: Any) -> None:
        # The driver would begin transactions on its own terms; we say when, and how.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        # Written beside the file and synchronised at every commit: readers never wait for the
        # writer, and what was committed survives the loss of power.
        if cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        if look_only:
            cursor.execute("PRAGMA query_only = ON")
        cursor.close()

    def begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)


def _make_tables(engine: Engine) -> None:
    """Make the tables that are lacking, in one transaction that other processes wait for.

    Raises
    ------
    StoreError
        If a table has other columns than this version's.
    """
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_ADVISORY})"))
        there = inspect(connection)
        known = set(there.get_table_names())
        for table in metadata.sorted_tables:
            if table.name in known and {
                column["name"] for column in there.get_columns(table.name)
            } != set(table.columns.keys()):
                raise StoreError(
                    f"the database was made by another version of steelyard (its table {table.name} has other "
                    "columns): install that version, or name a new database"
                )
        metadata.create_all(connection)


def _make_private(path: Path) -> None:
    """Make the file if it is not there, and take it away from everybody but its owner.

    SQLite gives the files that it keeps beside a database the permissions of the database.

    Raises
    ------
    StoreError
        If there is no such folder, everybody may replace files in it, or the file cannot be made.
    """
    folder = path.parent
    if not folder.is_dir():
        raise StoreError(f"cannot make the database {path}: there is no folder {folder}")
    if os.name != "posix":
        # permissions are inherited from the folder there
        return
    mode = folder.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise StoreError(
            f"cannot keep the database {path} private: everybody may replace files in {folder}; choose "
            f"another folder, or run chmod o-w {folder}"
        )
    try:
        # never readable by others, not even for a moment
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, _OWNER_ONLY))
        for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
            _tighten(file)
    except OSError as error:
        raise StoreError(f"cannot open the database {path}: {error.strerror}") from error


def _tighten(file: Path) -> None:
    try:
        found = stat.S_IMODE(file.stat().st_mode)
    except FileNotFoundError:
        return
    if found & ~_OWNER_ONLY:
        _log.warning(
            "%s was open to others (%o): now its owner alone may read it; if others had a login on this machine, "
            "renew the secret with --renew-secret",
            file.name,
            found,
        )
        file.chmod(_OWNER_ONLY)
