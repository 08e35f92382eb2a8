"""A statement that the driver runs gives what SQLAlchemy gives, on both databases."""

import pytest
from sqlalchemy import bindparam, exc, insert, select, true, update

from steelyard.collect.store import StoreError
from steelyard.collect.store.prepared import run
from steelyard.collect.store.tables import ledger, raters

ROW = {"id": "r1", "panel": "open", "external_id": "ann", "joined": 5}
_FIND = select(raters.c.number, raters.c.excluded, raters.c.external_id.label("who")).where(
    raters.c.id == bindparam("rater")
)
_EXCLUDE = update(raters).where(raters.c.id == bindparam("rater")).values(excluded=true())
_ADD = insert(raters)
_ADD_NUMBERED = insert(raters).returning(raters.c.number)
_PAY = insert(ledger)


def written(store, operation):
    return store.write(operation).result()


def test_rows_have_the_names_and_truths_that_sqlalchemy_gives(store):
    def both(connection):
        run(connection, _ADD, ROW)
        own = run(connection, _FIND, {"rater": "r1"}).one()
        theirs = connection.execute(_FIND, {"rater": "r1"}).one()
        nobody = run(connection, _FIND, {"rater": "x"})
        return (own.number, own.excluded, own.who), tuple(theirs), nobody.one_or_none()

    own, theirs, nobody = written(store, both)
    assert own == theirs == (1, False, "ann")
    assert isinstance(own[1], bool)
    assert nobody is None


def test_changes_are_counted_and_what_was_added_is_returned(store):
    def work(connection):
        number = run(connection, _ADD_NUMBERED, ROW).scalar_one()
        names = ("r1", "nobody")
        return number, [run(connection, _EXCLUDE, {"rater": name}).rowcount for name in names]

    assert written(store, work) == (1, [1, 0])
    found = store.read(lambda connection: run(connection, _FIND, {"rater": "r1"}).all())
    assert [(one.number, one.excluded) for one in found] == [(1, True)]


def test_an_error_is_one_of_sqlalchemy_so_that_it_is_told_apart(store):
    kinds = []

    def work(connection):
        try:
            run(connection, _PAY, {"rater": "nobody", "kind": "gift", "amount": 1, "time": 1})
        except exc.DBAPIError as error:
            kinds.append(type(error))
            raise

    with pytest.raises(StoreError, match="refused"):
        written(store, work)
    assert kinds == [exc.IntegrityError] * len(kinds) != []


def test_what_fails_is_rolled_back_alone(store):
    def twice(connection):
        run(connection, _ADD, ROW)
        run(connection, _ADD, ROW)

    with pytest.raises(StoreError, match="nothing was stored"):
        written(store, twice)
    find = store.read(lambda connection: run(connection, _FIND, {"rater": "r1"}).one_or_none())
    assert find is None
