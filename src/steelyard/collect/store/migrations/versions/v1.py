"""The tables as they are first released: those that `steelyard.collect.store.tables` declares.

Once they are released, this file states them itself, and every change is a file of its own.
"""

from alembic import op

from steelyard.collect.store.tables import metadata

__all__ = ["down_revision", "revision", "upgrade"]

revision = "v1"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    metadata.create_all(op.get_bind())
