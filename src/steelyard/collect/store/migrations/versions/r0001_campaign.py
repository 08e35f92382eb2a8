"""The tables of a campaign as they were first made."""

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "revision", "upgrade"]

revision = "0001"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables; those that others refer to come first."""
    _settings()
    _units()
    _targets()
    _raters()
    _sessions()
    _slots()
    _leases()
    _submissions()
    _ledger()
    _decisions()
    _tutorials()
    _tutorial_answers()


def _settings() -> None:
    op.create_table(
        "settings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("secret", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("half_width", sa.Float(), nullable=True),
        sa.Column("budget", sa.BigInteger(), nullable=True),
        sa.Column("sample_size", sa.Integer(), nullable=False),
        sa.Column("judgments_per_output", sa.Integer(), nullable=False),
        sa.Column("session_judgments", sa.Integer(), nullable=True),
        sa.Column("gold_every", sa.Integer(), nullable=True),
        sa.Column("mirrored", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("changed", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "state IN ('running', 'paused', 'stopped')", name="settings_known_state"
        ),
        sa.CheckConstraint("id = 1", name="settings_single"),
        sa.PrimaryKeyConstraint("id", name="settings_key"),
    )


def _units() -> None:
    op.create_table(
        "units",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("item", sa.String(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("pair", sa.Boolean(), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("gold", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="units_key"),
        sa.UniqueConstraint("digest", name="units_digest"),
    )
    op.create_index(
        "units_gold",
        "units",
        ["id"],
        unique=False,
        sqlite_where=sa.text("gold IS NOT NULL"),
        postgresql_where=sa.text("gold IS NOT NULL"),
    )


def _targets() -> None:
    op.create_table(
        "targets",
        sa.Column("item", sa.String(), nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("unit", sa.Integer(), nullable=False),
        sa.Column("side", sa.Integer(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=True),
        sa.Column("stratum", sa.String(), nullable=True),
        sa.Column("stratum_size", sa.Integer(), nullable=True),
        sa.Column("share", sa.Float(), nullable=True),
        sa.Column("draw", sa.Integer(), nullable=False),
        sa.Column("design", sa.String(), nullable=True),
        sa.Column("seed", sa.BigInteger(), nullable=True),
        sa.Column("signature", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["unit"], ["units.id"], name="targets_unit_units"),
        sa.PrimaryKeyConstraint("item", "system", name="targets_key"),
    )
    op.create_index("targets_unit", "targets", ["unit"], unique=False)


def _raters() -> None:
    op.create_table(
        "raters",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("panel", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("joined", sa.BigInteger(), nullable=False),
        sa.Column("excluded", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="raters_key"),
        sa.UniqueConstraint("id", name="raters_id"),
    )
    op.create_index("raters_panel_external_id", "raters", ["panel", "external_id"], unique=True)


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("rater", sa.String(), nullable=False),
        sa.Column("panel_session", sa.String(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("opened", sa.BigInteger(), nullable=False),
        sa.Column("done", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(["rater"], ["raters.id"], name="sessions_rater_raters"),
        sa.PrimaryKeyConstraint("id", name="sessions_key"),
    )
    op.create_index(
        "sessions_rater_panel_session", "sessions", ["rater", "panel_session"], unique=True
    )


def _slots() -> None:
    op.create_table(
        "slots",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("unit", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("salt", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("done", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("offered", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("lease", sa.String(), nullable=True),
        sa.Column("rater", sa.String(), nullable=True),
        sa.Column("expires", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.CheckConstraint("kind IN ('wanted', 'replacement', 'gold')", name="slots_known_kind"),
        sa.ForeignKeyConstraint(["rater"], ["raters.id"], name="slots_rater_raters"),
        sa.ForeignKeyConstraint(["unit"], ["units.id"], name="slots_unit_units"),
        sa.PrimaryKeyConstraint("id", name="slots_key"),
    )
    op.create_index(
        "slots_held",
        "slots",
        ["rater"],
        unique=True,
        sqlite_where=sa.text("NOT done AND rater IS NOT NULL"),
        postgresql_where=sa.text("NOT done AND rater IS NOT NULL"),
    )
    op.create_index(
        "slots_open",
        "slots",
        ["position", "id"],
        unique=False,
        sqlite_where=sa.text("NOT done AND offered"),
        postgresql_where=sa.text("NOT done AND offered"),
    )
    op.create_index("slots_unit", "slots", ["unit"], unique=False)


def _leases() -> None:
    op.create_table(
        "leases",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("slot", _NUMBER, nullable=False),
        sa.Column("unit", sa.Integer(), nullable=False),
        sa.Column("rater", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("started", sa.BigInteger(), nullable=False),
        sa.Column("draft", sa.Text(), nullable=True),
        sa.Column("active_ms", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(["rater"], ["raters.id"], name="leases_rater_raters"),
        sa.ForeignKeyConstraint(["session"], ["sessions.id"], name="leases_session_sessions"),
        sa.ForeignKeyConstraint(["slot"], ["slots.id"], name="leases_slot_slots"),
        sa.ForeignKeyConstraint(["unit"], ["units.id"], name="leases_unit_units"),
        sa.PrimaryKeyConstraint("id", name="leases_key"),
    )
    op.create_index("leases_rater_unit", "leases", ["rater", "unit"], unique=True)


def _submissions() -> None:
    op.create_table(
        "submissions",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("lease", sa.String(), nullable=False),
        sa.Column("slot", _NUMBER, nullable=True),
        sa.Column("unit", sa.Integer(), nullable=False),
        sa.Column("rater", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("scores", sa.Text(), nullable=False),
        sa.Column("active_ms", sa.BigInteger(), nullable=False),
        sa.Column("swapped", sa.Boolean(), nullable=False),
        sa.Column("started", sa.BigInteger(), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["lease"], ["leases.id"], name="submissions_lease_leases"),
        sa.ForeignKeyConstraint(["rater"], ["raters.id"], name="submissions_rater_raters"),
        sa.ForeignKeyConstraint(["session"], ["sessions.id"], name="submissions_session_sessions"),
        sa.ForeignKeyConstraint(["slot"], ["slots.id"], name="submissions_slot_slots"),
        sa.ForeignKeyConstraint(["unit"], ["units.id"], name="submissions_unit_units"),
        sa.PrimaryKeyConstraint("id", name="submissions_key"),
        sa.UniqueConstraint("lease", name="submissions_lease"),
    )
    op.create_index("submissions_rater", "submissions", ["rater"], unique=False)
    op.create_index("submissions_unit_rater", "submissions", ["unit", "rater"], unique=True)


def _ledger() -> None:
    op.create_table(
        "ledger",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("rater", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.Column("submission", _NUMBER, nullable=True),
        sa.Column("reference", sa.String(), nullable=True),
        sa.CheckConstraint("kind IN ('judgment', 'bonus')", name="ledger_known_kind"),
        sa.ForeignKeyConstraint(["rater"], ["raters.id"], name="ledger_rater_raters"),
        sa.ForeignKeyConstraint(
            ["submission"], ["submissions.id"], name="ledger_submission_submissions"
        ),
        sa.PrimaryKeyConstraint("id", name="ledger_key"),
        sa.UniqueConstraint("submission", name="ledger_submission"),
    )
    op.create_index(
        "ledger_bonus_once",
        "ledger",
        ["rater", "reference"],
        unique=True,
        sqlite_where=sa.text("kind = 'bonus'"),
        postgresql_where=sa.text("kind = 'bonus'"),
    )
    op.create_index("ledger_rater_amount", "ledger", ["rater", "amount"], unique=False)


def _decisions() -> None:
    op.create_table(
        "decisions",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("rater", sa.String(), nullable=False),
        sa.Column("about", sa.String(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("about IN ('estimate', 'payment')", name="decisions_known_about"),
        sa.CheckConstraint("\"by\" IN ('rule', 'admin')", name="decisions_known_by"),
        sa.ForeignKeyConstraint(["rater"], ["raters.id"], name="decisions_rater_raters"),
        sa.PrimaryKeyConstraint("id", name="decisions_key"),
    )
    op.create_index("decisions_rater_about", "decisions", ["rater", "about", "id"], unique=False)


def _tutorials() -> None:
    op.create_table(
        "tutorials",
        sa.Column("rater", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("started", sa.BigInteger(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=True),
        sa.Column("finished", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["rater"], ["raters.id"], name="tutorials_rater_raters"),
        sa.PrimaryKeyConstraint("rater", "version", name="tutorials_key"),
    )


def _tutorial_answers() -> None:
    op.create_table(
        "tutorial_answers",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("rater", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("question", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("correct", sa.Boolean(), nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["rater"], ["raters.id"], name="tutorial_answers_rater_raters"),
        sa.PrimaryKeyConstraint("id", name="tutorial_answers_key"),
    )
    op.create_index(
        "tutorial_answers_once",
        "tutorial_answers",
        ["rater", "version", "question", "attempt"],
        unique=True,
    )
