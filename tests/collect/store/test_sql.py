"""Statements in SQL give the same on both databases."""

import pytest
from sqlalchemy import exc

from steelyard.collect.store import StoreError
from steelyard.collect.store.sql import change, first, rows

ROW = {"id": "r1", "panel": "open", "name": "ann", "joined": 5}
ADD = """
    INSERT INTO raters (id, panel, external_id, joined)
    VALUES (:id, :panel, :name, :joined) RETURNING number"""
FIND = "SELECT number, excluded, external_id AS who FROM raters WHERE id = :rater"
EXCLUDE = "UPDATE raters SET excluded = TRUE WHERE id = :rater"
PAY = "INSERT INTO ledger (rater, kind, amount, time) VALUES ('nobody', 'gift', 1, 1)"


def test_rows_have_the_names_of_their_columns_and_changes_are_counted(store):
    def work(connection):
        number = first(connection, ADD, **ROW).number
        return number, [change(connection, EXCLUDE, rater=name) for name in ("r1", "nobody")]

    assert store.write(work).result() == (1, [1, 0])
    [row] = store.read(lambda connection: rows(connection, FIND, rater="r1"))
    assert (row.number, bool(row.excluded), row.who) == (1, True, "ann")
    assert store.read(lambda connection: first(connection, FIND, rater="nobody")) is None


def test_an_error_is_one_of_sqlalchemy_so_that_it_is_told_apart(store):
    kinds = []

    def work(connection):
        try:
            change(connection, PAY)
        except exc.DBAPIError as error:
            kinds.append(type(error))
            raise

    with pytest.raises(StoreError, match="refused"):
        store.write(work).result()
    assert kinds == [exc.IntegrityError] * len(kinds) != []


def test_what_fails_is_rolled_back_alone(store):
    def twice(connection):
        first(connection, ADD, **ROW)
        first(connection, ADD, **ROW)

    with pytest.raises(StoreError, match="nothing was stored"):
        store.write(twice).result()
    assert store.read(lambda connection: first(connection, FIND, rater="r1")) is None
