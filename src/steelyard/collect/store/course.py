"""Whether a campaign goes on, and why not: a few numbers that cost next to nothing."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, func, literal_column, select

from steelyard.collect.store.settings import State, current
from steelyard.collect.store.tables import ledger, slots, submissions

__all__ = ["Course", "course"]


@dataclass(frozen=True, slots=True)
class Course:
    """How a campaign goes.

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
    end: Literal["stopped", "goal", "judged", "budget"] | None
    judgments: int
    lacking: int
    payable: int
    last: int | None
    changed: int


_OPEN = select(func.count()).select_from(slots).where(literal_column("NOT done AND offered"))
_DONE = select(func.count(), func.max(submissions.c.time)).select_from(submissions)
_SPENT = select(func.coalesce(func.sum(ledger.c.amount), 0))


def course(connection: Connection, *, price: int) -> Course:
    """Return how a campaign goes.

    Parameters
    ----------
    connection : Connection
        Any, of a campaign that has begun.
    price : int
        What a judgment is paid, in millionths of the currency.
    """
    found = current(connection)
    assert found is not None
    lacking = connection.execute(_OPEN).scalar_one()
    judgments, last = connection.execute(_DONE).one()
    payable = lacking
    if found.budget is not None and price:
        left = found.budget - int(connection.execute(_SPENT).scalar_one())
        payable = max(0, min(lacking, left // price))
    end: Literal["stopped", "goal", "judged", "budget"] | None = None
    if found.state == "stopped":
        end = "stopped"
    elif found.state == "paused" and found.met_half_width is not None:
        end = "goal"
    elif judgments and not lacking:
        end = "judged"
    elif lacking and not payable:
        end = "budget"
    return Course(found.state, end, judgments, lacking, payable, last, found.changed)
