"""The tables of a campaign, and why they have the indexes they have.

One database holds one campaign. Nothing is ever deleted: submissions, ledger entries, decisions and
what raters answered besides are only added; an answer that its rater changes keeps the earlier ones;
leases keep their drafts; a slot that is not needed any more is not offered. Times are whole
milliseconds since 1970 UTC, money is in millionths of the currency.

Two statements run once for every judgment and decide how fast the store is.

*Which slot is next?* ``slots_open`` holds the slots that still await a judgment, in the order of
the queue, and nothing else. A slot leaves it when its judgment arrives, so that the search begins
at the front however long the campaign has run; it passes over the slots that are leased now, one
for each rater at work, and stops after a few.

*What does this rater hold?* ``slots_held`` is the same kind of index, by the rater who holds the
slot; it has one entry for each rater at work.

That no rater holds two units or is given one twice, and that a submission is stored once, is not
left to these statements: ``slots_held``, ``leases_rater_unit``, ``submissions_unit_rater`` and
``submissions_lease`` are unique. Two processes that serve one rater at the same moment meet there;
the second one's operation runs again and finds what the first one did.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    false,
    text,
    true,
)

__all__ = [
    "decisions",
    "invitations",
    "leases",
    "ledger",
    "metadata",
    "rater_answers",
    "raters",
    "sessions",
    "settings",
    "slots",
    "submissions",
    "targets",
    "units",
]

# SQLite numbers rows by itself only if the key's type is spelt INTEGER.
_Number = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData(
    naming_convention={
        "ix": "%(table_name)s_%(column_0_N_name)s",
        "uq": "%(table_name)s_%(column_0_N_name)s",
        "ck": "%(table_name)s_%(constraint_name)s",
        "fk": "%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "%(table_name)s_key",
    }
)

settings = Table(
    "settings",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("fingerprint", String, nullable=False),
    Column("secret", String, nullable=False),
    Column("state", String, nullable=False),
    Column("half_width", Float),
    Column("budget", BigInteger),
    Column("sample_size", Integer, nullable=False),
    Column("judgments_per_output", Integer, nullable=False),
    Column("session_judgments", Integer),
    Column("gold_every", Integer),
    # Prompts under which the second system of a pair has 1 minus the score of the first, in JSON.
    Column("mirrored", Text, nullable=False),
    # Counts the changes of this row and of the queue, for those who watch.
    Column("revision", Integer, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("changed", BigInteger, nullable=False),
    # The half-width and the budget that the campaign file said when it was last read, in JSON.
    Column("in_file", Text, nullable=False),
    # Whether the server has paused because the present goal was reached.
    Column("goal_met", Boolean, nullable=False, server_default=false()),
    # What raters are told on their pages.
    Column("message", Text),
    # Of each service outside, what the server has to remember and what is wrong, in JSON.
    Column("services", Text, nullable=False, server_default=text("'{}'")),
    CheckConstraint("id = 1", name="single"),
    CheckConstraint("state IN ('running', 'paused', 'stopped')", name="known_state"),
)

units = Table(
    "units",
    metadata,
    # From 1, in the order of the queue.
    Column("id", Integer, primary_key=True, autoincrement=False),
    # Of item and content: what makes two outputs the same unit.
    Column("digest", String, nullable=False, unique=True),
    Column("item", String, nullable=False),
    Column("content", Text, nullable=False),
    Column("pair", Boolean, nullable=False),
    Column("wanted", Integer, nullable=False),
    # The accepted answers of a gold unit, which is in no draw; null for all others.
    Column("gold", Text),
    # When as many raters had handed it back as may: it is given to nobody any more.
    Column("set_aside", BigInteger),
    # Segments of one document, for one rater in the order of their places.
    Column("document", String),
    Column("place", Integer),
)
Index(
    "units_document",
    units.c.document,
    units.c.place,
    sqlite_where=text("document IS NOT NULL"),
    postgresql_where=text("document IS NOT NULL"),
)
Index(
    "units_gold",
    units.c.id,
    sqlite_where=text("gold IS NOT NULL"),
    postgresql_where=text("gold IS NOT NULL"),
)

targets = Table(
    "targets",
    metadata,
    Column("item", String, primary_key=True),
    Column("system", String, primary_key=True),
    Column("unit", ForeignKey(units.c.id), nullable=False, index=True),
    # In a pair: 1 or 2, the side on which the system stands before sides are swapped.
    Column("side", Integer, nullable=False),
    Column("probability", Float),
    Column("stratum", String),
    Column("stratum_size", Integer),
    Column("share", Float),
    Column("draw", Integer, nullable=False),
    Column("design", String),
    Column("seed", BigInteger),
    Column("signature", String),
    # Of a spread draw: the wave, and after the point the place along what it was spread by.
    Column("place", Float),
    # The document that the output is a segment of.
    Column("cluster", String),
)

raters = Table(
    "raters",
    metadata,
    Column("number", _Number, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("panel", String, nullable=False),
    Column("external_id", String, nullable=False),
    Column("joined", BigInteger, nullable=False),
    # The last decision about the estimate, kept here because every submission asks for it.
    Column("excluded", Boolean, nullable=False, server_default=false()),
)
Index("raters_panel_external_id", raters.c.panel, raters.c.external_id, unique=True)

sessions = Table(
    "sessions",
    metadata,
    Column("id", String, primary_key=True),
    Column("rater", ForeignKey(raters.c.id), nullable=False),
    Column("panel_session", String, nullable=False),
    Column("parameters", Text, nullable=False),
    Column("opened", BigInteger, nullable=False),
    Column("done", Integer, nullable=False, server_default=text("0")),
)
Index("sessions_rater_panel_session", sessions.c.rater, sessions.c.panel_session, unique=True)

slots = Table(
    "slots",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("unit", ForeignKey(units.c.id), nullable=False, index=True),
    # The unit, so that the slots of a unit stand together; 0 for replacements, which go first.
    Column("position", Integer, nullable=False),
    # A random number of the unit: with one of the rater it makes the rater's own order.
    Column("salt", BigInteger, nullable=False),
    Column("kind", String, nullable=False),
    # Its judgment is there.
    Column("done", Boolean, nullable=False, server_default=false()),
    # Whoever comes next may have it. Not so a gold slot, which is made for one rater, nor a slot
    # whose judgment is not needed any more; who holds such a slot may still fill it.
    Column("offered", Boolean, nullable=False, server_default=true()),
    Column("lease", String),
    Column("rater", ForeignKey(raters.c.id)),
    Column("expires", BigInteger, nullable=False, server_default=text("0")),
    # Who has begun the document of the unit: until `expires` it is kept for this rater.
    Column("kept", String),
    CheckConstraint("kind IN ('wanted', 'replacement', 'gold')", name="known_kind"),
)
_OPEN = text("NOT done AND offered")
Index("slots_open", slots.c.position, slots.c.id, sqlite_where=_OPEN, postgresql_where=_OPEN)
_HELD = text("NOT done AND rater IS NOT NULL")
Index("slots_held", slots.c.rater, unique=True, sqlite_where=_HELD, postgresql_where=_HELD)

_KEPT = text("NOT done AND kept IS NOT NULL")
Index("slots_kept", slots.c.kept, sqlite_where=_KEPT, postgresql_where=_KEPT)

leases = Table(
    "leases",
    metadata,
    Column("id", String, primary_key=True),
    Column("slot", ForeignKey(slots.c.id), nullable=False),
    Column("unit", ForeignKey(units.c.id), nullable=False),
    Column("rater", ForeignKey(raters.c.id), nullable=False),
    Column("session", ForeignKey(sessions.c.id), nullable=False),
    Column("started", BigInteger, nullable=False),
    Column("draft", Text),
    Column("active_ms", BigInteger, nullable=False, server_default=text("0")),
    # A text that the rater could not judge or skipped: of which kind, why and when.
    Column("hand_back", String),
    Column("hand_back_reason", Text),
    Column("hand_back_time", BigInteger),
    # When that ceased to hold: the text came back to the rater, or whoever runs the campaign undid it.
    Column("hand_back_undone", BigInteger),
    # Whether a skipped text came back to the rater, who may not skip it again.
    Column("came_back", Boolean, nullable=False, server_default=false()),
)
# By rater first: the same index counts what a rater was given.
Index("leases_rater_unit", leases.c.rater, leases.c.unit, unique=True)
_HANDED_BACK = text("hand_back IS NOT NULL")
Index(
    "leases_handed_back",
    leases.c.unit,
    sqlite_where=_HANDED_BACK,
    postgresql_where=_HANDED_BACK,
)

submissions = Table(
    "submissions",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("lease", ForeignKey(leases.c.id), nullable=False, unique=True),
    # Null for a surplus: a judgment that came when its slot was another's already.
    Column("slot", ForeignKey(slots.c.id)),
    Column("unit", ForeignKey(units.c.id), nullable=False),
    Column("rater", ForeignKey(raters.c.id), nullable=False),
    Column("session", ForeignKey(sessions.c.id), nullable=False),
    Column("key", String, nullable=False),
    Column("answer", Text, nullable=False),
    Column("scores", Text, nullable=False),
    Column("active_ms", BigInteger, nullable=False),
    Column("swapped", Boolean, nullable=False),
    Column("started", BigInteger, nullable=False),
    Column("time", BigInteger, nullable=False),
    # How often the rater changed it, and the answers before, in JSON.
    Column("changes", Integer, nullable=False, server_default=text("0")),
    Column("earlier", Text),
)
Index("submissions_unit_rater", submissions.c.unit, submissions.c.rater, unique=True)
Index("submissions_rater", submissions.c.rater)

ledger = Table(
    "ledger",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("rater", ForeignKey(raters.c.id), nullable=False),
    Column("kind", String, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("time", BigInteger, nullable=False),
    Column("submission", ForeignKey(submissions.c.id), unique=True),
    # What a bonus is for: paid once.
    Column("reference", String),
    CheckConstraint("kind IN ('judgment', 'bonus')", name="known_kind"),
)
Index("ledger_rater_amount", ledger.c.rater, ledger.c.amount)
_BONUS = text("kind = 'bonus'")
Index(
    "ledger_bonus_once",
    ledger.c.rater,
    ledger.c.reference,
    unique=True,
    sqlite_where=_BONUS,
    postgresql_where=_BONUS,
)

decisions = Table(
    "decisions",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("rater", ForeignKey(raters.c.id), nullable=False),
    Column("about", String, nullable=False),
    Column("verdict", String, nullable=False),
    Column("reason", Text, nullable=False),
    Column("by", String, nullable=False),
    Column("time", BigInteger, nullable=False),
    CheckConstraint("about IN ('estimate', 'payment')", name="known_about"),
    CheckConstraint("\"by\" IN ('rule', 'admin')", name="known_by"),
)
Index("decisions_rater_about", decisions.c.rater, decisions.c.about, decisions.c.id)

# What raters answered besides judgments: consent, questions before the work and at its end, the tutorial.
rater_answers = Table(
    "rater_answers",
    metadata,
    Column("id", _Number, primary_key=True),
    Column("rater", ForeignKey(raters.c.id), nullable=False),
    Column("part", String, nullable=False),
    # What the rater was told or asked: the task's version of a tutorial, else a digest.
    Column("version", String, nullable=False),
    # Of a tutorial; empty for the tutorial as a whole, whose row is made when it is begun.
    Column("question", String, nullable=False, server_default=""),
    Column("attempt", Integer, nullable=False, server_default=text("1")),
    Column("answer", Text),
    # Agreed, fit to take part, right; null where there is nothing to pass, or not yet.
    Column("passed", Boolean),
    Column("time", BigInteger, nullable=False),
    CheckConstraint("part IN ('consent', 'screening', 'exit', 'tutorial')", name="known_part"),
)
Index(
    "rater_answers_once",
    rater_answers.c.rater,
    rater_answers.c.part,
    rater_answers.c.version,
    rater_answers.c.question,
    rater_answers.c.attempt,
    unique=True,
)

# Whom whoever runs the campaign has invited by name; an invitation from before has no row here.
invitations = Table(
    "invitations",
    metadata,
    Column("name", String, primary_key=True),
    Column("created", BigInteger, nullable=False),
    Column("revoked", BigInteger),
)
