"""How many more visits a campaign needs from a panel."""

from sqlalchemy import Connection, bindparam, exists, literal_column, select

from steelyard.collect.policy.stopping import lacking_judgments
from steelyard.collect.store.tables import leases, rater_answers, raters, sessions, slots

__all__ = ["wanted_visits"]

_AT_WORK = (
    select(sessions.c.id, sessions.c.done)
    .join_from(slots, leases, leases.c.id == slots.c.lease)
    .join(sessions, sessions.c.id == leases.c.session)
    .where(
        literal_column("NOT slots.done AND slots.rater IS NOT NULL"),
        slots.c.expires > bindparam("now"),
    )
)
# Who came a moment ago reads the first page or is in the tutorial, unless turned away there.
_NEW = (
    select(sessions.c.id, sessions.c.done)
    .join_from(sessions, raters, raters.c.id == sessions.c.rater)
    .where(
        sessions.c.opened > bindparam("since"),
        sessions.c.done == 0,
        raters.c.excluded.is_(False),
        ~exists().where(
            rater_answers.c.rater == raters.c.id,
            rater_answers.c.passed.is_(False),
            rater_answers.c.question == "",
        ),
    )
)


def wanted_visits(
    connection: Connection, *, per_visit: int, price: int, lease_ms: int, now: int
) -> int:
    """Return how many visits would bring what is lacking, can be paid, and nobody at work will bring.

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
    found = lacking_judgments(connection, price=price)
    if found.state != "running":
        return 0
    visits = {row.id: row.done for row in connection.execute(_NEW, {"since": now - lease_ms})}
    visits |= {row.id: row.done for row in connection.execute(_AT_WORK, {"now": now})}
    coming = sum(max(0, per_visit - done) for done in visits.values())
    lacking: int = max(0, found.payable - coming)
    return -(-lacking // per_visit)
