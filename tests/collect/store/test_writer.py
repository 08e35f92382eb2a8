import threading
from functools import partial

import psycopg
import pytest
from sqlalchemy import event, select, text

from steelyard.collect.store import Store, StoreError
from steelyard.collect.store.raters import join
from steelyard.collect.store.tables import raters


def joining(name):
    return partial(join, panel="open", external_id=name, now=1)


def names(store):
    return store.read(
        lambda connection: (
            connection.execute(select(raters.c.external_id).order_by(raters.c.number))
            .scalars()
            .all()
        )
    )


@pytest.fixture
def gate(store):
    """Hold the writer up, so that what is queued meanwhile is one batch."""
    opened, reached = threading.Event(), threading.Event()

    def wait(_connection):
        reached.set()
        assert opened.wait(120)

    store.write(wait)
    assert reached.wait(120)
    yield opened
    opened.set()


def test_those_who_wait_together_are_committed_together(store, gate):
    commits = []
    event.listen(store._writing, "commit", commits.append)
    futures = [store.write(joining(f"r{number}")) for number in range(10)]
    gate.set()
    assert len({future.result() for future in futures}) == 10
    # the one that held the others up, and the ten
    assert len(commits) == 2


def test_a_future_resolves_after_the_commit(store, gate):
    done_at_commit = []
    futures = []
    event.listen(
        store._writing,
        "commit",
        lambda _connection: done_at_commit.append([one.done() for one in futures]),
    )
    futures.extend(store.write(joining(name)) for name in ("ann", "bob"))
    gate.set()
    for future in futures:
        future.result()
    assert done_at_commit[-1] == [False, False]


def test_an_operation_that_raises_is_rolled_back_alone(store, gate):
    def broken(connection):
        joining("bob")(connection)
        raise ValueError("no")

    first, bad, last = (store.write(one) for one in (joining("ann"), broken, joining("cec")))
    gate.set()
    assert first.result()
    with pytest.raises(ValueError, match="no"):
        bad.result()
    assert last.result()
    assert names(store) == ["ann", "cec"]


def test_what_the_database_refuses_is_refused_alone_and_in_few_words(store, gate):
    def broken(connection):
        joining("bob")(connection)
        connection.execute(text("SELECT no_such_column FROM raters"))

    first, bad = store.write(joining("ann")), store.write(broken)
    gate.set()
    assert first.result()
    with pytest.raises(StoreError, match=r"the database refused \(.*no_such_column.*\)") as caught:
        bad.result()
    assert "SELECT" not in str(caught.value)
    assert names(store) == ["ann"]


def test_a_future_that_was_cancelled_is_not_carried_out(store, gate):
    kept, cancelled = store.write(joining("ann")), store.write(joining("bob"))
    assert cancelled.cancel()
    gate.set()
    kept.result()
    assert names(store) == ["ann"]


def test_closing_finishes_what_is_queued(database):
    store = Store.open(database)
    futures = [store.write(joining(f"r{number}")) for number in range(300)]
    store.close()
    assert all(future.done() for future in futures)
    assert len({future.result() for future in futures}) == 300
    with pytest.raises(StoreError, match="the store is closed"):
        store.write(joining("late"))
    store.close()
    with Store.open(database) as again:
        assert len(names(again)) == 300


def test_a_full_disk_fails_the_operation_and_the_store_goes_on(tmp_path):
    with Store.open(tmp_path / "a.sqlite") as store:

        def limited(connection):
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")

        store.write(limited).result()
        with pytest.raises(StoreError, match="disk is full"):
            store.write(joining("x" * 100_000)).result()
        assert store.failure == "database or disk is full"
        store.write(joining("ann")).result()
        assert store.failure is None
        store.write(
            lambda connection: connection.exec_driver_sql("PRAGMA max_page_count = 100000").all()
        ).result()
        store.write(joining("y" * 100_000)).result()
        assert [name[0] for name in names(store)] == ["a", "y"]


def test_a_commit_that_fails_is_not_acknowledged(store, gate):
    def refuse(_connection):
        raise OSError("the disk is gone")

    future = store.write(joining("ann"))
    event.listen(store._writing, "commit", refuse)
    gate.set()
    with pytest.raises(StoreError, match="not known whether this was stored: send it again"):
        future.result()
    event.remove(store._writing, "commit", refuse)
    assert store.write(joining("bob")).result()
    assert names(store) == ["bob"]


@pytest.fixture
def on_postgresql(database):
    if not database.startswith("postgresql"):
        pytest.skip("is about connections to a server and locks between processes")
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


def test_a_connection_that_was_lost_is_made_again_unnoticed(store, on_postgresql):
    pid = store.write(
        lambda connection: connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
    ).result()
    on_postgresql.execute("SELECT pg_terminate_backend(%s)", [pid])
    assert store.write(joining("ann")).result()
    store.read(lambda connection: connection.execute(text("SELECT 1")).all())


@pytest.mark.usefixtures("on_postgresql")
def test_a_connection_lost_again_and_again_fails_the_batch_and_the_store_goes_on(store, gate):
    def fatal(connection):
        connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    first, bad = store.write(joining("ann")), store.write(fatal)
    gate.set()
    for future in (first, bad):
        with pytest.raises(StoreError, match="nothing was stored: try again"):
            future.result()
    assert store.write(joining("bob")).result()
    assert names(store) == ["bob"]


def test_an_operation_that_finds_a_row_locked_does_not_hold_up_the_others(
    store, gate, on_postgresql
):
    locked = joining("ann")
    gate.set()
    rater = store.write(locked).result()
    release = psycopg.connect(on_postgresql.info.dsn)
    release.execute("SELECT * FROM raters FOR UPDATE")
    runs = []

    def exclude(connection):
        runs.append(connection.execute(text("SHOW lock_timeout")).scalar_one())
        if len(runs) > 2:
            # alone by now: the other process lets go
            release.rollback()
        connection.execute(raters.update().where(raters.c.id == rater).values(excluded=True))

    hold = threading.Event()
    waiting = store.write(lambda _connection: hold.wait(120))
    other, contended = store.write(joining("bob")), store.write(exclude)
    hold.set()
    waiting.result()
    contended.result()
    assert other.result()
    # with the others, then in a savepoint of its own, then alone and with more patience
    assert runs == ["50ms", "50ms", "10s"]
    release.close()


def test_a_row_that_another_process_has_just_inserted_is_found_in_a_second_run(
    store, on_postgresql
):
    runs = []

    def insert(connection):
        runs.append(1)
        there = connection.execute(select(raters.c.number)).all()
        if there:
            return "found"
        on_postgresql.execute(
            "INSERT INTO raters (id, panel, external_id, joined) VALUES ('a', 'p', 'ann', 1)"
        )
        connection.execute(raters.insert().values(id="b", panel="p", external_id="ann", joined=1))
        return "inserted"

    assert store.write(insert).result() == "found"
