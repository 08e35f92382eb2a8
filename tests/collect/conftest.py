"""A store on SQLite and on a real PostgreSQL, from one fixture."""

import tempfile
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from steelyard.collect.store import Store


@pytest.fixture(scope="session")
def postgresql():
    """A PostgreSQL server, one for each worker of the tests; returns the address of a database."""
    with (
        tempfile.TemporaryDirectory(prefix="steelyard-") as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        runtime = Path(folder, "run")
        runtime.mkdir(mode=0o700)
        # where the server's launcher keeps its lock; it warns if there is no such folder
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        pgserver = pytest.importorskip("pgserver", reason="pgserver has no build for this Python")
        from pgserver import postgres_server

        # it gives the start 10 seconds, too few on a busy machine
        pg_ctl = postgres_server.pg_ctl
        patch.setattr(
            postgres_server,
            "pg_ctl",
            lambda *args, **options: pg_ctl(*args, **(options | {"timeout": 300})),
        )
        server = pgserver.get_server(Path(folder, "data"), cleanup_mode="stop")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            # the tests lose no power
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("CREATE DATABASE migrated")
        Store.open(server.get_uri("migrated")).close()
        yield server.get_uri
        server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """The address of a new database, with its tables."""
    if request.param == "sqlite":
        yield request.getfixturevalue("with_tables")(str(tmp_path / "campaign.sqlite"))
        return
    address = request.getfixturevalue("postgresql")
    name = f"test_{uuid4().hex}"
    with psycopg.connect(address(), autocommit=True) as connection:
        # four times as quick as by way of the log
        connection.execute(f"CREATE DATABASE {name} TEMPLATE migrated STRATEGY file_copy")
        yield address(name)
        # hundreds of files each: those of all tests at once would take a minute to delete
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def store(database):
    """An open store in a new database."""
    with Store.open(database) as opened:
        yield opened
