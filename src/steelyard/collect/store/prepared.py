"""Statements that run with every judgment: written out once, and on SQLite run by the driver itself."""

import sqlite3
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Boolean, Connection, Insert, Select, Update
from sqlalchemy.exc import DBAPIError

__all__ = ["Prepared"]


class Prepared:
    """A statement that runs again and again, each time with values of the same names.

    SQLAlchemy makes a context and a result for every run. That takes ten times as long as SQLite
    needs to find a row by its key, so there the statement is written out once and handed to the
    driver. A PostgreSQL is further away than that: it gets its statements from SQLAlchemy, as ever.

    Parameters
    ----------
    statement
        What to run; its values are bound by name, and there is no list among them.

    Examples
    --------
    >>> from sqlalchemy import bindparam, create_engine, select, true
    >>> prepared = Prepared(select(bindparam("a", 0).label("a"), true().label("holds")))
    >>> with create_engine("sqlite://").connect() as connection:
    ...     prepared.row(connection, {"a": 5}).a, prepared.row(connection, {"a": 5}).holds
    (5, True)
    """

    def __init__(self, statement: Select[*tuple[Any, ...]] | Insert | Update) -> None:
        self._statement = statement
        self._written: _Written | None = None

    def rows(self, connection: Connection, values: Mapping[str, Any]) -> list[Any]:
        """Return the rows that it finds, with a name for each column."""
        if connection.dialect.name != "sqlite":
            return list(connection.execute(self._statement, values).all())
        written = self._for(connection, values)
        return [written.row(found) for found in written.run(connection, values).fetchall()]

    def row(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        """Return the first row that it finds; None if it finds none."""
        found = self.rows(connection, values)
        return found[0] if found else None

    def scalar(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        """Return the first value of the first row that it finds; None if it finds none."""
        found = self.rows(connection, values)
        return found[0][0] if found else None

    def change(self, connection: Connection, values: Mapping[str, Any]) -> int:
        """Change rows; return how many."""
        if connection.dialect.name != "sqlite":
            return connection.execute(self._statement, values).rowcount
        return self._for(connection, values).run(connection, values).rowcount

    def _for(self, connection: Connection, values: Mapping[str, Any]) -> "_Written":
        if self._written is None:
            self._written = _written(self._statement, connection, values)
        return self._written


@dataclass(frozen=True, slots=True)
class _Written:
    """A statement as SQLite takes it.

    Attributes
    ----------
    text : str
        With a question mark for each value.
    values : tuple of (str, Any)
        Names of the values in their order, and what stands there if none is given.
    row : function
        Makes a row with names of what the driver found.
    """

    text: str
    values: tuple[tuple[str, Any], ...]
    row: Callable[[tuple[Any, ...]], Any]

    def run(self, connection: Connection, values: Mapping[str, Any]) -> sqlite3.Cursor:
        if not connection.in_transaction():
            connection.begin()
        driver: Any = connection.connection.dbapi_connection
        given = [values.get(name, otherwise) for name, otherwise in self.values]
        try:
            found: sqlite3.Cursor = driver.execute(self.text, given)
        except sqlite3.Error as error:
            # as from any other statement, for those who tell errors apart
            raise DBAPIError.instance(self.text, None, error, sqlite3.Error) from error
        return found


def _written(
    statement: Select[*tuple[Any, ...]] | Insert | Update,
    connection: Connection,
    values: Mapping[str, Any],
) -> _Written:
    compiled: Any = statement.compile(dialect=connection.dialect, column_keys=list(values))
    order = compiled.positiontup
    columns = list(statement.exported_columns)
    names = [str(column.key) for column in columns]
    named: Any = namedtuple  # noqa: PYI024 - the statement has the names
    made = named("Row", names, rename=True)
    truths = [place for place, one in enumerate(columns) if isinstance(one.type, Boolean)]

    def row(found: tuple[Any, ...]) -> Any:
        if not truths:
            return made._make(found)
        cells = list(found)
        for place in truths:
            cells[place] = None if cells[place] is None else bool(cells[place])
        return made._make(cells)

    return _Written(compiled.string, tuple((name, compiled.params[name]) for name in order), row)
