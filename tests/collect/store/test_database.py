import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from sqlalchemy import text

from steelyard.collect.store import Store, StoreError
from steelyard.collect.store.raters import join
from steelyard.errors import InvalidArgumentError

JOIN = partial(join, panel="open", external_id="ann", now=1)


def test_several_processes_may_open_a_new_database_at_once(tmp_path, postgresql):
    import psycopg

    with psycopg.connect(postgresql(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE together")
    for database in (tmp_path / "new.sqlite", postgresql("together")):
        with ThreadPoolExecutor(4) as pool:
            stores = list(pool.map(lambda _, where=database: Store.open(where), range(4)))
        assert len({store.write(JOIN).result() for store in stores}) == 1
        for store in stores:
            store.close()


def test_an_old_database_is_opened_again(database):
    with Store.open(database) as store:
        first = store.write(JOIN).result()
    with Store.open(database) as store:
        assert store.write(JOIN).result() == first


def test_a_database_of_another_version_is_left_alone(database):
    with Store.open(database) as store:
        store.write(
            lambda connection: connection.execute(
                text("ALTER TABLE decisions ADD COLUMN later INTEGER")
            )
        ).result()
    with pytest.raises(StoreError, match="made by another version of steelyard"):
        Store.open(database)


def test_commits_to_sqlite_are_durable_and_keys_are_checked(tmp_path):
    with Store.open(tmp_path / "a.sqlite") as store:

        def pragmas(connection):
            names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            return [connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in names]

        # 2 is FULL
        assert store.write(pragmas).result() == ["wal", 2, 1, 30_000]


def test_only_the_owner_may_read_a_new_database(tmp_path):
    path = tmp_path / "a.sqlite"
    before = os.umask(0)
    try:
        with Store.open(path) as store:
            store.write(JOIN).result()
            modes = {one.name: one.stat().st_mode & 0o777 for one in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == {"a.sqlite": 0o600, "a.sqlite-wal": 0o600, "a.sqlite-shm": 0o600}


def test_an_old_database_that_others_may_read_is_taken_from_them(tmp_path, caplog):
    path = tmp_path / "a.sqlite"
    Store.open(path).close()
    path.chmod(0o644)
    Store.open(path).close()
    assert path.stat().st_mode & 0o777 == 0o600
    assert "a.sqlite was open to others (644)" in caplog.text


def test_a_folder_in_which_everybody_may_replace_files_is_refused(tmp_path):
    folder = tmp_path / "public"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(
        StoreError, match=r"everybody may replace files in .*public; choose another"
    ):
        Store.open(folder / "a.sqlite")
    assert list(folder.iterdir()) == []
    # others cannot replace a file in a folder like /tmp
    folder.chmod(0o1777)
    Store.open(folder / "a.sqlite").close()


def test_reading_cannot_write(store):
    with pytest.raises(StoreError, match=r"read-?only"):
        store.read(JOIN)


def test_a_reader_sees_one_moment(store):
    count = text("SELECT count(*) FROM raters")

    def twice(connection):
        before = connection.execute(count).scalar_one()
        store.write(JOIN).result()
        return before, connection.execute(count).scalar_one()

    assert store.read(twice) == (0, 0)


def test_a_killed_process_leaves_what_it_acknowledged_and_no_lock(tmp_path):
    path = tmp_path / "a.sqlite"
    code = (
        "import sys, time\n"
        "from functools import partial\n"
        "from steelyard.collect.store import Store\n"
        "from steelyard.collect.store.raters import join\n"
        "store = Store.open(sys.argv[1])\n"
        "for number in range(10**6):\n"
        "    store.write(partial(join, panel='p', external_id=str(number), now=1)).result()\n"
        "    print(number, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        acknowledged = -1
        while acknowledged < 25:
            acknowledged = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        acknowledged = max([acknowledged, *map(int, process.stdout.read().split())])
    with Store.open(path) as store:
        there = store.read(
            lambda connection: connection.execute(text("SELECT count(*) FROM raters")).scalar_one()
        )
        # all that was acknowledged, and at most one that was not yet
        assert there - (acknowledged + 1) in {0, 1}
        store.write(JOIN).result()


def test_errors_name_what_is_wrong(tmp_path):
    with pytest.raises(InvalidArgumentError, match="`database` must be the path of an SQLite"):
        Store.open("mysql://somewhere/db")
    with pytest.raises(InvalidArgumentError, match="cannot be read as a URL"):
        Store.open("postgresql://host:port:port/x")
    with pytest.raises(StoreError, match="there is no folder"):
        Store.open(tmp_path / "no" / "a.sqlite")
    (tmp_path / "text.sqlite").write_text("this is no database, but a text of some length\n" * 99)
    with pytest.raises(StoreError, match="file is not a database"):
        Store.open(tmp_path / "text.sqlite")
    with pytest.raises(StoreError, match=r"cannot open the database .*://u:\*\*\*@") as caught:
        Store.open(f"postgresql://u:secret@/db?host={tmp_path}")
    assert "secret" not in str(caught.value)


def test_another_program_may_look_into_the_file_meanwhile(tmp_path):
    path = tmp_path / "a.sqlite"
    with Store.open(path) as store:
        other = sqlite3.connect(path)
        assert other.execute("SELECT count(*) FROM raters").fetchone() == (0,)
        store.write(JOIN).result()
        assert other.execute("SELECT count(*) FROM raters").fetchone() == (1,)
        other.close()
