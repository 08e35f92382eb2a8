"""Statements in SQL, run by the shortest way: what a judgment needs runs a hundred thousand times.

On SQLite they go to the driver itself: SQLAlchemy takes ten times as long for a statement as SQLite needs to
find a row by its key, which made a server take 1.35 times the processor time for a judgment. A PostgreSQL is
further away than that, and gets them from SQLAlchemy.
"""

import sqlite3
from collections import namedtuple
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, TextClause, text
from sqlalchemy.exc import DBAPIError

__all__ = ["change", "first", "rows"]

_statement = lru_cache(maxsize=256)(text)


@lru_cache(maxsize=256)
def _row_type(names: tuple[str, ...]) -> Any:
    named: Any = namedtuple  # noqa: PYI024 - the statement has the names
    return named("Row", names)


def rows(connection: Connection, statement: str, **values: Any) -> list[Any]:
    """Return what a statement selects or returns; a truth is 0 or 1 on SQLite.

    Examples
    --------
    >>> from sqlalchemy import create_engine
    >>> with create_engine("sqlite://").connect() as connection:
    ...     rows(connection, "SELECT :a + 1 AS more", a=5)
    [Row(more=6)]
    """
    if connection.dialect.name != "sqlite":
        return list(connection.execute(_clause(statement), values))
    cursor = _cursor(connection, statement, values)
    row_type = _row_type(tuple(column[0] for column in cursor.description))
    return [row_type._make(row) for row in cursor.fetchall()]


def first(connection: Connection, statement: str, **values: Any) -> Any:
    """Return the first row of a statement; None if there is none."""
    found = rows(connection, statement, **values)
    return found[0] if found else None


def change(connection: Connection, statement: str, **values: Any) -> int:
    """Run a statement that returns nothing; return how many rows it changed."""
    if connection.dialect.name != "sqlite":
        return connection.execute(_clause(statement), values).rowcount
    return _cursor(connection, statement, values).rowcount


def _clause(statement: str) -> TextClause:
    return _statement(statement)


def _cursor(connection: Connection, statement: str, values: dict[str, Any]) -> sqlite3.Cursor:
    if not connection.in_transaction():
        connection.begin()
    driver: Any = connection.connection.dbapi_connection
    try:
        cursor: sqlite3.Cursor = driver.execute(statement, values)
    except sqlite3.Error as error:
        # as from any other statement, for those who tell errors apart
        raise DBAPIError.instance(statement, None, error, sqlite3.Error) from error
    return cursor
