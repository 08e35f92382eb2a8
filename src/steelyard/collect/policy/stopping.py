"""What a campaign aims at, whether it has come to its end, and what is given out no more."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import (
    Connection,
    Float,
    bindparam,
    exists,
    false,
    func,
    literal_column,
    or_,
    select,
    update,
)

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.money import micro
from steelyard.collect.policy.budget import payable_judgments, spent
from steelyard.collect.store.queue import rebalance
from steelyard.collect.store.settings import Settings, State, current
from steelyard.collect.store.tables import settings, slots, submissions, targets, units
from steelyard.questions.goal import Goal

__all__ = [
    "End",
    "Lacking",
    "goal_of",
    "lacking_judgments",
    "let_go",
    "pause_at_goal",
    "planned_of",
]

End = Literal["stopped", "goal", "judged", "budget"]


def goal_of(campaign: Campaign, settings: Settings) -> tuple[Goal, float]:
    """Return the goal as it stands, the file's with what was changed since, and its level."""
    declared = campaign.goal
    if declared is None or declared.decide is None:
        goal = Goal(half_width=settings.half_width)
    else:
        goal = Goal(decide=declared.decide, margin=declared.margin)
    return goal, 0.95 if declared is None else declared.level


def planned_of(campaign: Campaign, settings: Settings, *, systems: int) -> float | None:
    """Return the judgments of each system that are planned: those drawn, or those that the budget pays.

    None where the goal decides which system is better: then some systems end long before others.
    """
    if campaign.goal is not None and campaign.goal.decide is not None:
        return None
    planned = float(settings.sample_size * settings.judgments_per_output)
    price = micro(campaign.pay.per_judgment)
    if settings.budget and price:
        planned = min(planned, settings.budget / price / max(systems, 1))
    return planned if planned > 1 else None


@dataclass(frozen=True, slots=True)
class Lacking:
    """What a campaign lacks, and whether it goes on: a few numbers that cost next to nothing.

    Attributes
    ----------
    state : {"running", "paused", "stopped"}
        Whether raters are given work.
    end : {"stopped", "goal", "judged", "budget"} or None
        Why it has come to an end; None if it has not.
    judgments, lacking, payable : int
        Submissions so far, gold too; judgments that are lacking; those of them that can be paid for.
    last : int or None
        When the last submission came, in milliseconds.
    changed : int
        When somebody last changed the campaign, in milliseconds.
    """

    state: State
    end: End | None
    judgments: int
    lacking: int
    payable: int
    last: int | None
    changed: int


_OPEN = select(func.count()).select_from(slots).where(literal_column("NOT done AND offered"))
_DONE = select(func.count(), func.max(submissions.c.time)).select_from(submissions)
_REACHED = bindparam("reached", type_=Float())
# Once for each goal: who resumes the campaign is not interrupted again.
_PAUSE = (
    update(settings)
    .where(
        settings.c.id == 1,
        settings.c.state == "running",
        settings.c.goal_met == false(),
        or_(settings.c.half_width == _REACHED, _REACHED.is_(None)),
    )
    .values(
        state="paused",
        goal_met=True,
        revision=settings.c.revision + 1,
        changed=bindparam("new_changed"),
    )
)


def lacking_judgments(connection: Connection, *, price: int) -> Lacking:
    """Return what a campaign that has begun lacks; a judgment is paid `price` millionths."""
    found = current(connection)
    assert found is not None
    lacking = connection.execute(_OPEN).scalar_one()
    judgments, last = connection.execute(_DONE).one()
    owed = 0 if found.budget is None else spent(connection)
    payable = payable_judgments(lacking, budget=found.budget, spent=owed, pay=price)
    end: End | None = None
    if found.state == "stopped":
        end = "stopped"
    elif found.state == "paused" and found.goal_met:
        end = "goal"
    elif judgments and not lacking:
        end = "judged"
    elif lacking and not payable:
        end = "budget"
    return Lacking(found.state, end, judgments, lacking, payable, last, found.changed)


def pause_at_goal(connection: Connection, *, half_width: float | None, now: int) -> bool:
    """Pause because this half-width is reached, or what is to be decided is; return whether that was so.

    Nothing happens if the campaign is not running, its half-width is another by now, or it was
    paused for this goal before and resumed.
    """
    values = {"reached": half_width, "new_changed": now}
    return connection.execute(_PAUSE, values).rowcount == 1


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
