"""Statements that run with every judgment: on SQLite written out once and run by the driver itself.

SQLAlchemy makes a context and a result for every run, which takes ten times as long as SQLite needs to
find a row by its key. Of a judgment's processor time that is 0.25 to 0.35 of 0.9 to 1.2 ms: without
this, a server takes 1.2 to 1.4 times as long (`python -m benchmarks.collect --quick`, column cpu ms).
A PostgreSQL is further away than that: it gets its statements from SQLAlchemy, as ever.
"""

import sqlite3
from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Boolean, Connection, Insert, Select, Update
from sqlalchemy.exc import DBAPIError

__all__ = ["run"]

_Statement = Select[*tuple[Any, ...]] | Insert | Update


class _Rows:
    """What the driver found, asked as a result of SQLAlchemy is."""

    __slots__ = ("_cursor", "_row")

    def __init__(self, cursor: sqlite3.Cursor, row: Callable[[tuple[Any, ...]], Any]) -> None:
        self._cursor = cursor
        self._row = row

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    def all(self) -> list[Any]:
        return [self._row(found) for found in self._cursor.fetchall()]

    def one_or_none(self) -> Any:
        found = self.all()
        return found[0] if found else None

    first = one_or_none

    def one(self) -> Any:
        (found,) = self.all()
        return found

    def scalar_one(self) -> Any:
        return self.one()[0]


class _Written:
    """A statement as SQLite takes it, with a question mark for each value."""

    def __init__(self, statement: _Statement, connection: Connection, names: list[str]) -> None:
        compiled: Any = statement.compile(dialect=connection.dialect, column_keys=names)
        columns = list(statement.exported_columns)
        named: Any = namedtuple  # noqa: PYI024 - the statement has the names
        self._text: str = compiled.string
        # names of the values in their order, and what stands there if none is given
        self._values = [(name, compiled.params[name]) for name in compiled.positiontup]
        self._made = named("Row", [str(column.key) for column in columns], rename=True)
        self._truths = [place for place, one in enumerate(columns) if isinstance(one.type, Boolean)]

    def run(self, connection: Connection, values: Mapping[str, Any]) -> _Rows:
        if not connection.in_transaction():
            connection.begin()
        driver: Any = connection.connection.dbapi_connection
        given = [values.get(name, otherwise) for name, otherwise in self._values]
        try:
            cursor: sqlite3.Cursor = driver.execute(self._text, given)
        except sqlite3.Error as error:
            # as from any other statement, for those who tell errors apart
            raise DBAPIError.instance(self._text, None, error, sqlite3.Error) from error
        return _Rows(cursor, self._row)

    def _row(self, found: tuple[Any, ...]) -> Any:
        if not self._truths:
            return self._made._make(found)
        cells = list(found)
        for place in self._truths:
            cells[place] = None if cells[place] is None else bool(cells[place])
        return self._made._make(cells)


_WRITTEN: dict[_Statement, _Written] = {}


def run(connection: Connection, statement: _Statement, values: Mapping[str, Any]) -> Any:
    """Run a statement of a module, each time with values of the same names, no list among them.

    Returns
    -------
    What ``connection.execute`` returns, or on SQLite the same with fewer methods.

    Examples
    --------
    >>> from sqlalchemy import bindparam, create_engine, select, true
    >>> statement = select(bindparam("a", 0).label("a"), true().label("holds"))
    >>> with create_engine("sqlite://").connect() as connection:
    ...     run(connection, statement, {"a": 5}).one().a, run(connection, statement, {"a": 5}).one().holds
    (5, True)
    """
    if connection.dialect.name != "sqlite":
        return connection.execute(statement, values)
    written = _WRITTEN.get(statement)
    if written is None:
        written = _WRITTEN[statement] = _Written(statement, connection, list(values))
    return written.run(connection, values)
