"""What is known of services outside, and a message to raters."""

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table, and room for the message."""
    op.create_table(
        "services",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("memory", sa.Text(), nullable=False),
        sa.Column("trouble", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("name", name="services_key"),
    )
    op.add_column("settings", sa.Column("message", sa.Text(), nullable=True))
