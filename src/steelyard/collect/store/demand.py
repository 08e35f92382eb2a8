"""How many more visits a campaign needs from a panel."""

import math
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, exists, literal_column, select

from steelyard.collect.store.course import course
from steelyard.collect.store.tables import (
    consents,
    leases,
    raters,
    sessions,
    slots,
    tutorials,
)

__all__ = ["Demand", "demand"]


@dataclass(frozen=True, slots=True)
class Demand:
    """What a campaign wants of a panel.

    Attributes
    ----------
    running : bool
        Whether raters are given work at all.
    visits : int
        Visits that would bring what is lacking, can be paid for, and is not expected of raters at work.
    """

    running: bool
    visits: int


_AT_WORK = (
    select(sessions.c.id, sessions.c.done)
    .join_from(slots, leases, leases.c.id == slots.c.lease)
    .join(sessions, sessions.c.id == leases.c.session)
    .where(
        literal_column("NOT slots.done AND slots.rater IS NOT NULL"),
        slots.c.expires > bindparam("now"),
    )
)
# Who came a moment ago reads the first page or is in the tutorial.
_NEW = (
    select(sessions.c.id, sessions.c.done)
    .join_from(sessions, raters, raters.c.id == sessions.c.rater)
    .where(
        sessions.c.opened > bindparam("since"),
        sessions.c.done == 0,
        raters.c.excluded.is_(False),
        ~exists().where(tutorials.c.rater == raters.c.id, tutorials.c.passed.is_(False)),
        ~exists().where(consents.c.rater == raters.c.id, consents.c.agreed.is_(False)),
    )
)


def demand(
    connection: Connection, *, per_visit: int, price: int, lease_ms: int, now: int
) -> Demand:
    """Count what is lacking, less what raters at work will bring.

    Parameters
    ----------
    connection : Connection
        Any.
    per_visit : int
        Judgments that a visit brings.
    price : int
        What a judgment is paid, in millionths of the currency.
    lease_ms : int
        How long somebody who came is expected to begin.
    now : int
        Milliseconds.
    """
    found = course(connection, price=price)
    visits = {row.id: row.done for row in connection.execute(_NEW, {"since": now - lease_ms})}
    visits |= {row.id: row.done for row in connection.execute(_AT_WORK, {"now": now})}
    coming = sum(max(0, per_visit - done) for done in visits.values())
    wanted = math.ceil(max(0, found.payable - coming) / per_visit)
    return Demand(running=found.state == "running", visits=wanted)
