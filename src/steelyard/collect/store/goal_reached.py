"""The pause that the server makes by itself when the goal is reached, and who is let go before."""

from collections.abc import Collection

from sqlalchemy import Connection, bindparam, exists, literal_column, or_, select, update

from steelyard.collect.store.queue import rebalance
from steelyard.collect.store.tables import settings, slots, targets, units

__all__ = ["RACE_OVER", "let_go", "pause_at_goal"]

# Stands for a race that is decided where a half-width would stand for itself: none is 0.
RACE_OVER = 0.0

# Once for each goal: who resumes the campaign is not interrupted again.
_PAUSE = (
    update(settings)
    .where(
        settings.c.id == 1,
        settings.c.state == "running",
        or_(
            settings.c.half_width == bindparam("reached"),
            bindparam("reached") == literal_column(str(RACE_OVER)),
        ),
        or_(settings.c.met_half_width.is_(None), settings.c.met_half_width != bindparam("reached")),
    )
    .values(
        state="paused",
        met_half_width=bindparam("reached"),
        revision=settings.c.revision + 1,
        changed=bindparam("new_changed"),
    )
)


def pause_at_goal(connection: Connection, *, half_width: float, now: int) -> bool:
    """Pause because this half-width is reached, or a race is over; return whether that was so.

    Nothing happens if the campaign is not running, its goal is another by now, or it was paused
    for this goal before and resumed.
    """
    return connection.execute(_PAUSE, {"reached": half_width, "new_changed": now}).rowcount == 1


def let_go(connection: Connection, *, systems: Collection[str], now: int) -> int:
    """Give out no more units of which every system was let go; return how many slots that changed.

    What raters hold they may submit. A system that is in again, because judgments were left out of
    the estimate, gets its slots back.
    """
    kept = exists().where(targets.c.unit == units.c.id, targets.c.system.not_in(list(systems)))
    drawn = exists().where(targets.c.unit == units.c.id)
    closed = select(units.c.id).where(drawn, ~kept)
    open_units = select(units.c.id).where(drawn, kept)
    waiting = (~slots.c.done, slots.c.kind != "gold")
    withheld = connection.execute(
        update(slots)
        .where(*waiting, slots.c.offered, slots.c.unit.in_(closed))
        .values(offered=False)
    ).rowcount
    idle = select(slots.c.unit).where(*waiting, ~slots.c.offered, slots.c.unit.in_(open_units))
    back = sorted(set(connection.execute(idle).scalars()))
    rebalance(connection, back, now=now)
    return withheld + len(back)
