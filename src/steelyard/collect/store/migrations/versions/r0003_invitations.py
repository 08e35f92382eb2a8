"""Invitations by name, texts that a rater could not judge, and consent."""

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0003"
down_revision = "0002"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the three tables."""
    op.create_table(
        "invitations",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("revoked", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name="invitations_key"),
    )
    op.create_table(
        "reports",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("lease", sa.String(), nullable=False),
        sa.Column("unit", sa.Integer(), nullable=False),
        sa.Column("rater", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["lease"], ["leases.id"], name="reports_lease_leases"),
        sa.ForeignKeyConstraint(["unit"], ["units.id"], name="reports_unit_units"),
        sa.ForeignKeyConstraint(["rater"], ["raters.id"], name="reports_rater_raters"),
        sa.PrimaryKeyConstraint("id", name="reports_key"),
    )
    op.create_index("reports_unit_rater", "reports", ["unit", "rater"], unique=True)
    op.create_table(
        "consents",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("rater", sa.String(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("agreed", sa.Boolean(), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["rater"], ["raters.id"], name="consents_rater_raters"),
        sa.PrimaryKeyConstraint("id", name="consents_key"),
    )
    op.create_index("consents_rater_words", "consents", ["rater", "words"])
