"""How many more visits a campaign needs from a panel."""

import math
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, exists, func, literal_column, select

from steelyard.collect.store.settings import current
from steelyard.collect.store.tables import (
    consents,
    leases,
    ledger,
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
    judgments : int
        Judgments that are lacking and can be paid for.
    visits : int
        Visits that would bring those of them which nobody at work is expected to bring.
    """

    running: bool
    judgments: int
    visits: int


_OPEN = select(func.count()).select_from(slots).where(literal_column("NOT done AND offered"))
_AT_WORK = (
    select(sessions.c.id, sessions.c.done)
    .join_from(slots, leases, leases.c.id == slots.c.lease)
    .join(sessions, sessions.c.id == leases.c.session)
    .where(
        literal_column("NOT slots.done AND slots.rater IS NOT NULL"),
        slots.c.expires > bindparam("now"),
    )
)
_SPENT = select(func.coalesce(func.sum(ledger.c.amount), 0))
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
    found = current(connection)
    if found is None:
        return Demand(running=False, judgments=0, visits=0)
    lacking = connection.execute(_OPEN).scalar_one()
    if found.budget is not None and price:
        left = found.budget - int(connection.execute(_SPENT).scalar_one())
        lacking = max(0, min(lacking, left // price))
    visits = {row.id: row.done for row in connection.execute(_NEW, {"since": now - lease_ms})}
    visits |= {row.id: row.done for row in connection.execute(_AT_WORK, {"now": now})}
    coming = sum(max(0, per_visit - done) for done in visits.values())
    wanted = math.ceil(max(0, lacking - coming) / per_visit)
    return Demand(running=found.state == "running", judgments=lacking, visits=wanted)
