"""The places of a spread draw, by which its variance goes."""

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make the column of targets."""
    op.add_column("targets", sa.Column("place", sa.Float(), nullable=True))
