"""Documents: segments that one rater gets in order."""

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0007"
down_revision = "0006"

_NAMED = sa.text("document IS NOT NULL")
_KEPT = sa.text("NOT done AND kept IS NOT NULL")


def upgrade() -> None:
    """Add the columns and their indexes."""
    op.add_column("units", sa.Column("document", sa.String(), nullable=True))
    op.add_column("units", sa.Column("place", sa.Integer(), nullable=True))
    op.add_column("targets", sa.Column("cluster", sa.String(), nullable=True))
    op.add_column("slots", sa.Column("kept", sa.String(), nullable=True))
    op.create_index(
        "units_document",
        "units",
        ["document", "place"],
        sqlite_where=_NAMED,
        postgresql_where=_NAMED,
    )
    op.create_index("slots_kept", "slots", ["kept"], sqlite_where=_KEPT, postgresql_where=_KEPT)
