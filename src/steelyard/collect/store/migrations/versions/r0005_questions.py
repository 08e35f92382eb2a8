"""Questions before and after the work, answers as they were before a change, texts set aside."""

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0005"
down_revision = "0004"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the two tables, and the column of units."""
    op.add_column("units", sa.Column("set_aside", sa.BigInteger(), nullable=True))
    op.create_table(
        "questionnaires",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("rater", sa.String(), nullable=False),
        sa.Column("part", sa.String(), nullable=False),
        sa.Column("questions", sa.String(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=True),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["rater"], ["raters.id"], name="questionnaires_rater_raters"),
        sa.PrimaryKeyConstraint("id", name="questionnaires_key"),
    )
    op.create_index(
        "questionnaires_once", "questionnaires", ["rater", "part", "questions"], unique=True
    )
    op.create_table(
        "earlier_answers",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("submission", _NUMBER, nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("scores", sa.Text(), nullable=False),
        sa.Column("active_ms", sa.BigInteger(), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission"], ["submissions.id"], name="earlier_answers_submission_submissions"
        ),
        sa.PrimaryKeyConstraint("id", name="earlier_answers_key"),
    )
    op.create_index("earlier_answers_submission", "earlier_answers", ["submission"])
