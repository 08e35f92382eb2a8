"""Decisions about raters: only added, never changed; the last one counts."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, insert, select, update

from steelyard.collect.store.queue import rebalance
from steelyard.collect.store.raters import hold_rater
from steelyard.collect.store.refusals import NotAcceptedError
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
    known = connection.execute(select(raters.c.id).where(raters.c.id == rater)).one_or_none()
    if known is None:
        raise NotAcceptedError("there is no such rater", code="not-found")
    hold_rater(connection, rater)
    before = _last(connection, rater, about)
    if before is not None and (
        (before.verdict == verdict and before.by == by) or (before.by == "admin" and by == "rule")
    ):
        return before
    row = {"rater": rater, "about": about, "verdict": verdict, "reason": reason, "by": by}
    added = insert(decisions).values(**row, time=now).returning(decisions.c.id)
    number = connection.execute(added).scalar_one()
    if about == "estimate":
        excluded = update(raters).where(raters.c.id == rater).values(excluded=verdict == "exclude")
        connection.execute(excluded)
        judged = select(submissions.c.unit).where(submissions.c.rater == rater)
        units = connection.execute(judged.order_by(submissions.c.unit)).scalars().all()
        rebalance(connection, units, now=now)
    return Decision(number, rater, about, verdict, reason, by, now)


def history(connection: Connection) -> list[Decision]:
    """Return all decisions, in their order."""
    return [
        Decision(*row) for row in connection.execute(select(decisions).order_by(decisions.c.id))
    ]


def latest(connection: Connection) -> dict[tuple[str, About], Decision]:
    """Return the decision that counts, by rater and what it is about."""
    return {(one.rater, one.about): one for one in history(connection)}


def verdict(connection: Connection, *, rater: str, about: About) -> Verdict | None:
    """Return the decision about a rater that counts, in its word; None if nobody decided."""
    last = _last(connection, rater, about)
    return None if last is None else last.verdict


def _last(connection: Connection, rater: str, about: About) -> Decision | None:
    wanted = select(decisions).where(decisions.c.rater == rater, decisions.c.about == about)
    row = connection.execute(wanted.order_by(decisions.c.id.desc()).limit(1)).one_or_none()
    return None if row is None else Decision(*row)
