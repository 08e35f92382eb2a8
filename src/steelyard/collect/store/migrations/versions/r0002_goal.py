"""What the campaign file said of the goal, and the goal at which the server paused."""

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add both; of a database from before, neither is known."""
    op.add_column("settings", sa.Column("declared", sa.Text(), nullable=True))
    op.add_column("settings", sa.Column("met_half_width", sa.Float(), nullable=True))
