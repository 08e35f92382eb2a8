"""Decisions about raters: only added, never changed; the last one counts."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, bindparam, insert, select, update

from steelyard.collect.store.queue import rebalance
from steelyard.collect.store.raters import hold_rater
from steelyard.collect.store.raters import rater as known_rater
from steelyard.collect.store.tables import decisions, raters, submissions
from steelyard.errors import InvalidArgumentError

__all__ = ["About", "By", "Decision", "decide", "history", "latest", "verdict"]

About = Literal["estimate", "payment"]
By = Literal["rule", "admin"]
Verdict = Literal["exclude", "include", "refuse", "pay"]

_VERDICTS = {"estimate": ("exclude", "include"), "payment": ("refuse", "pay")}


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision.

    Attributes
    ----------
    id : int
        From 1, in the order of decision.
    rater : str
        Id of the rater.
    about : {"estimate", "payment"}
        Whether judgments count, or whether they are paid: two matters.
    verdict : str
        ``exclude`` or ``include`` about the estimate, ``refuse`` or ``pay`` about payment.
    reason : str
        In words.
    by : {"rule", "admin"}
        Who decided.
    time : int
        Milliseconds.
    """

    id: int
    rater: str
    about: About
    verdict: Verdict
    reason: str
    by: By
    time: int


_COLUMNS = (
    decisions.c.id,
    decisions.c.rater,
    decisions.c.about,
    decisions.c.verdict,
    decisions.c.reason,
    decisions.c.by,
    decisions.c.time,
)
_ALL = select(*_COLUMNS).order_by(decisions.c.id)
_LAST = (
    select(*_COLUMNS)
    .where(decisions.c.rater == bindparam("rater"), decisions.c.about == bindparam("about"))
    .order_by(decisions.c.id.desc())
    .limit(1)
)
_ADD = insert(decisions).returning(decisions.c.id)
_EXCLUDE = (
    update(raters)
    .where(raters.c.id == bindparam("rater_id"))
    .values(excluded=bindparam("new_excluded"))
)
_JUDGED = (
    select(submissions.c.unit)
    .where(submissions.c.rater == bindparam("rater"))
    .order_by(submissions.c.unit)
)


def decide(
    connection: Connection,
    *,
    rater: str,
    about: About,
    verdict: Verdict,
    reason: str,
    by: By,
    now: int,
) -> Decision:
    """Add a decision about a rater; one that changes nothing is not added again.

    Excluding a rater from the estimate offers the units that fall out to others, at the front of
    the queue; taking the rater in again withdraws what is not yet being worked on.

    Parameters
    ----------
    connection : Connection
        Of the writer.
    rater : str
        Id of the rater.
    about, verdict, reason, by
        As in `Decision`.
    now : int
        Milliseconds.

    Returns
    -------
    Decision
        The decision that now counts. A rule does not overrule an administrator: that decision
        is then returned.

    Raises
    ------
    InvalidArgumentError
        If the verdict does not suit, or the reason is empty.
    UnknownRaterError
        If there is no such rater.
    """
    if verdict not in _VERDICTS.get(about, ()):
        raise InvalidArgumentError(
            "`verdict` must be exclude or include about the estimate, refuse or pay about payment; "
            f"got {verdict!r} about {about!r}"
        )
    if by not in {"rule", "admin"}:
        raise InvalidArgumentError(f"`by` must be rule or admin; got {by!r}")
    if not reason.strip():
        raise InvalidArgumentError("`reason` must say why; got nothing")
    known_rater(connection, rater)
    hold_rater(connection, rater)
    before = _last(connection, rater, about)
    if before is not None and (
        (before.verdict == verdict and before.by == by) or (before.by == "admin" and by == "rule")
    ):
        return before
    row = {"rater": rater, "about": about, "verdict": verdict, "reason": reason, "by": by}
    number = connection.execute(_ADD, {**row, "time": now}).scalar_one()
    if about == "estimate":
        connection.execute(_EXCLUDE, {"rater_id": rater, "new_excluded": verdict == "exclude"})
        judged = connection.execute(_JUDGED, {"rater": rater}).scalars().all()
        rebalance(connection, judged, now=now)
    return Decision(number, rater, about, verdict, reason, by, now)


def history(connection: Connection) -> list[Decision]:
    """Return all decisions, in their order."""
    return [Decision(*row) for row in connection.execute(_ALL)]


def latest(connection: Connection) -> dict[tuple[str, About], Decision]:
    """Return the decision that counts, by rater and what it is about."""
    return {(one.rater, one.about): one for one in history(connection)}


def verdict(connection: Connection, *, rater: str, about: About) -> Verdict | None:
    """Return the decision about a rater that counts, in its word; None if nobody decided."""
    found = _last(connection, rater, about)
    return None if found is None else found.verdict


def _last(connection: Connection, rater: str, about: About) -> Decision | None:
    found = connection.execute(_LAST, {"rater": rater, "about": about}).one_or_none()
    return None if found is None else Decision(*found)
