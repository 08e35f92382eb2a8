"""Alembic runs this file to migrate on the connection that it was given."""

from alembic import context

from steelyard.collect.store.tables import metadata

__all__ = ["run"]


def run() -> None:
    """Run the migrations in the transaction of the connection."""
    context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
    context.run_migrations()


# The name under which Alembic loads the file; imported under another, it does nothing.
if __name__ == "env_py":
    run()
