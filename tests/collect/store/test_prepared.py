"""A statement that the driver runs gives what SQLAlchemy gives, on both databases."""

import pytest
from sqlalchemy import bindparam, exc, insert, select, true, update

from steelyard.collect.store import StoreError
from steelyard.collect.store.prepared import Prepared
from steelyard.collect.store.tables import ledger, raters

ROW = {"id": "r1", "panel": "open", "external_id": "ann", "joined": 5}
_FIND = select(raters.c.number, raters.c.excluded, raters.c.external_id.label("who")).where(
    raters.c.id == bindparam("rater")
)
_EXCLUDE = update(raters).where(raters.c.id == bindparam("rater")).values(excluded=true())


def written(store, operation):
    return store.write(operation).result()


def test_rows_have_the_names_and_truths_that_sqlalchemy_gives(store):
    add, find = Prepared(insert(raters)), Prepared(_FIND)

    def both(connection):
        add.change(connection, ROW)
        own = find.row(connection, {"rater": "r1"})
        theirs = connection.execute(_FIND, {"rater": "r1"}).one()
        return (
            (own.number, own.excluded, own.who),
            tuple(theirs),
            find.row(connection, {"rater": "x"}),
        )

    own, theirs, nobody = written(store, both)
    assert own == theirs == (1, False, "ann")
    assert isinstance(own[1], bool)
    assert nobody is None


def test_changes_are_counted_and_what_was_added_is_returned(store):
    add, exclude = Prepared(insert(raters).returning(raters.c.number)), Prepared(_EXCLUDE)

    def work(connection):
        number = add.scalar(connection, ROW)
        counts = [exclude.change(connection, {"rater": name}) for name in ("r1", "nobody")]
        return number, counts

    assert written(store, work) == (1, [1, 0])
    found = store.read(lambda connection: Prepared(_FIND).rows(connection, {"rater": "r1"}))
    assert [(one.number, one.excluded) for one in found] == [(1, True)]


def test_an_error_is_one_of_sqlalchemy_so_that_it_is_told_apart(store):
    add = Prepared(insert(ledger))
    bad = {"rater": "nobody", "kind": "gift", "amount": 1, "time": 1}
    kinds = []

    def work(connection):
        try:
            add.change(connection, bad)
        except exc.DBAPIError as error:
            kinds.append(type(error))
            raise

    with pytest.raises(StoreError, match="refused"):
        written(store, work)
    assert kinds == [exc.IntegrityError] * len(kinds) != []


def test_what_fails_is_rolled_back_alone(store):
    add = Prepared(insert(raters))

    def twice(connection):
        add.change(connection, ROW)
        add.change(connection, ROW)

    with pytest.raises(StoreError, match="nothing was stored"):
        written(store, twice)
    assert store.read(lambda connection: Prepared(_FIND).row(connection, {"rater": "r1"})) is None
