"""The history of the tables, and how a database of any age is brought up to date."""

import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from steelyard.collect.store.refusals import StoreError

__all__ = ["migrate"]

# Alembic keeps the migration that runs in a variable of its module.
_ONE_AT_A_TIME = threading.Lock()
# Any number that no other program locks in the same database.
_ADVISORY = 0x57EE1_4A4D


def migrate(engine: Engine) -> None:
    """Bring the tables up to date, in one transaction that other processes wait for.

    Raises
    ------
    StoreError
        If the database was made by another version.
    """
    config = Config()
    # Alembic reads options as a template, in which a percent sign is doubled.
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    script = ScriptDirectory.from_config(config)
    with _ONE_AT_A_TIME, engine.begin() as connection:
        _wait_for_others(connection)
        revision = MigrationContext.configure(connection).get_current_revision()
        if revision == script.get_current_head():
            return
        if revision is not None and revision not in {
            one.revision for one in script.walk_revisions()
        }:
            raise StoreError(
                f"the database was made by another version of steelyard (its tables have revision "
                f"{revision}): install that version, or name a new database"
            )
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _wait_for_others(connection: Connection) -> None:
    """Let one process migrate at a time; a transaction on SQLite excludes others by itself."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL lock_timeout = 0"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _ADVISORY})
