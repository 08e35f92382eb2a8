"""How far a campaign has come: counts, raters, and what is still awaited."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, func, literal_column, select

from steelyard.collect.policy.budget import held_units, spent
from steelyard.collect.store.hand_backs import holds
from steelyard.collect.store.tables import (
    decisions,
    leases,
    ledger,
    rater_answers,
    raters,
    sessions,
    settings,
    submissions,
    targets,
    units,
)

__all__ = [
    "Progress",
    "RaterRow",
    "given_up",
    "newest",
    "progress",
    "rater_rows",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterRow:
    """One rater, counted up.

    Attributes
    ----------
    id, number, panel, external_id, excluded
        The rater, as in `Session`.
    joined : int
        When the rater first came, in milliseconds.
    judgments, gold : int
        Submissions of drawn units, and of gold ones.
    handed_back : int
        Texts that were handed back.
    earned : int
        In millionths of the currency.
    last_seen : int or None
        When the last submission came, in milliseconds.
    tutorials : mapping of str to bool or None
        Whether the tutorial of each version was passed; None while it is under way.
    """

    id: str
    number: int
    panel: str
    external_id: str
    joined: int
    excluded: bool
    judgments: int
    gold: int
    handed_back: int
    earned: int
    last_seen: int | None
    tutorials: Mapping[str, bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a campaign has come.

    Attributes
    ----------
    outputs, units : int
        Outputs of the draw, and the units that they are judged in.
    complete : int
        Units with all judgments wanted, those of excluded raters not counted.
    set_aside : int
        Units that are given to nobody any more, because so many raters handed them back.
    wanted, lacking : int
        Judgments wanted, and those of them that are not there yet and still awaited.
    judgments : int
        Submissions of drawn units, all of them.
    counted : int
        Those of raters who are not excluded.
    surplus : int
        Those that are one more than was asked for.
    gold : int
        Submissions of gold units.
    held : int
        Slots that a rater holds now.
    raters, sessions : int
        How many came, and how often.
    spent : int
        In millionths of the currency.
    first, last : int or None
        When the first and the last submission came, in milliseconds.
    """

    outputs: int
    units: int
    complete: int
    set_aside: int
    wanted: int
    lacking: int
    judgments: int
    counted: int
    surplus: int
    gold: int
    held: int
    raters: int
    sessions: int
    spent: int
    first: int | None
    last: int | None


_IS_DRAWN: ColumnElement[bool] = literal_column("units.gold IS NULL")
_judged = (
    select(
        submissions.c.unit,
        func.count().label("given"),
        func.count().filter(raters.c.excluded.is_(False)).label("counted"),
        func.count().filter(submissions.c.slot.is_(None)).label("surplus"),
        func.min(submissions.c.time).label("first"),
        func.max(submissions.c.time).label("last"),
    )
    .join_from(submissions, raters, raters.c.id == submissions.c.rater)
    .group_by(submissions.c.unit)
    .subquery("judged")
)
_counted = func.coalesce(_judged.c.counted, 0)
_given = func.coalesce(_judged.c.given, 0)
# Set aside, and not judged often enough by who still held it then.
_IS_GIVEN_UP = and_(units.c.set_aside.is_not(None), _counted < units.c.wanted)
_UNITS = (
    select(
        func.count().filter(_IS_DRAWN).label("units"),
        func.count().filter(and_(_IS_DRAWN, _counted >= units.c.wanted)).label("complete"),
        func.count().filter(and_(_IS_DRAWN, _IS_GIVEN_UP)).label("set_aside"),
        func.sum(units.c.wanted).filter(_IS_DRAWN).label("wanted"),
        func.sum(units.c.wanted - _counted)
        .filter(_IS_DRAWN, _counted < units.c.wanted, units.c.set_aside.is_(None))
        .label("lacking"),
        func.sum(_given).filter(_IS_DRAWN).label("judgments"),
        func.sum(_counted).filter(_IS_DRAWN).label("counted"),
        func.sum(_judged.c.surplus).filter(_IS_DRAWN).label("surplus"),
        func.sum(_given).filter(literal_column("units.gold IS NOT NULL")).label("gold"),
        func.min(_judged.c.first).label("first"),
        func.max(_judged.c.last).label("last"),
    )
    .select_from(units)
    .outerjoin(_judged, _judged.c.unit == units.c.id)
)
_OUTPUTS = select(func.count()).select_from(targets)
_RATERS = select(func.count()).select_from(raters)
_SESSIONS = select(func.count()).select_from(sessions)
_GIVEN_UP = (
    select(targets.c.system, targets.c.draw)
    .join_from(units, targets, targets.c.unit == units.c.id)
    .outerjoin(_judged, _judged.c.unit == units.c.id)
    .where(_IS_DRAWN, _IS_GIVEN_UP)
)
_work = (
    select(
        submissions.c.rater,
        func.count().filter(_IS_DRAWN).label("judgments"),
        func.count().filter(literal_column("units.gold IS NOT NULL")).label("gold"),
        func.max(submissions.c.time).label("last_seen"),
    )
    .join_from(submissions, units, units.c.id == submissions.c.unit)
    .group_by(submissions.c.rater)
    .subquery("work")
)
_pay = (
    select(ledger.c.rater, func.sum(ledger.c.amount).label("earned"))
    .group_by(ledger.c.rater)
    .subquery("pay")
)
_handed_back = select(func.count()).where(leases.c.rater == raters.c.id, holds).scalar_subquery()
_RATER_ROWS = (
    select(
        raters.c.id,
        raters.c.number,
        raters.c.panel,
        raters.c.external_id,
        raters.c.joined,
        raters.c.excluded,
        func.coalesce(_work.c.judgments, 0).label("judgments"),
        func.coalesce(_work.c.gold, 0).label("gold"),
        _handed_back.label("handed_back"),
        func.coalesce(_pay.c.earned, 0).label("earned"),
        _work.c.last_seen,
    )
    .select_from(raters)
    .outerjoin(_work, _work.c.rater == raters.c.id)
    .outerjoin(_pay, _pay.c.rater == raters.c.id)
    .order_by(raters.c.number)
)
_TUTORIALS = (
    select(rater_answers.c.rater, rater_answers.c.version, rater_answers.c.passed)
    .where(rater_answers.c.part == "tutorial", rater_answers.c.question == "")
    .order_by(rater_answers.c.time, rater_answers.c.version)
)
# Counts, not greatest numbers: a process may commit a lower number after a higher one.
_NEWEST = select(
    *(
        select(func.count()).select_from(table).scalar_subquery()
        for table in (submissions, decisions, raters, ledger)
    ),
    select(func.coalesce(func.sum(submissions.c.changes), 0)).scalar_subquery(),
    select(func.count() + func.count(leases.c.hand_back_undone))
    .where(leases.c.hand_back.is_not(None))
    .scalar_subquery(),
    select(func.coalesce(func.max(settings.c.revision), 0)).scalar_subquery(),
)


def progress(connection: Connection, *, now: int) -> Progress:
    """Count up the campaign."""
    found = connection.execute(_UNITS).mappings().one()
    moments = {name: found[name] for name in ("first", "last")}
    counts = {name: int(value or 0) for name, value in found.items() if name not in moments}
    return Progress(
        **counts,
        **moments,
        outputs=connection.execute(_OUTPUTS).scalar_one(),
        held=held_units(connection, now=now),
        raters=connection.execute(_RATERS).scalar_one(),
        sessions=connection.execute(_SESSIONS).scalar_one(),
        spent=spent(connection),
    )


def given_up(connection: Connection) -> list[tuple[str, int]]:
    """Return system and draw number of outputs that were set aside: no judgment of them is awaited."""
    return [(system, draw) for system, draw in connection.execute(_GIVEN_UP)]


def rater_rows(connection: Connection) -> list[RaterRow]:
    """Return every rater who joined, by number."""
    passed: dict[str, dict[str, bool | None]] = {}
    for rater, version, result in connection.execute(_TUTORIALS):
        passed.setdefault(rater, {})[version] = result
    return [
        RaterRow(**{**row, "earned": int(row["earned"])}, tutorials=passed.get(row["id"], {}))
        for row in connection.execute(_RATER_ROWS).mappings()
    ]


def newest(connection: Connection) -> int:
    """Return a number that grows whenever there is something new to show."""
    return sum(map(int, connection.execute(_NEWEST).one()))
