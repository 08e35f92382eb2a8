"""What raters answered before the work and at its end."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select

from steelyard.collect.config.wording import phrase
from steelyard.collect.store.raters import hold_rater
from steelyard.collect.store.refusals import AlreadySubmittedError
from steelyard.collect.store.tables import questionnaires, raters

__all__ = ["Answered", "all_answered", "answered", "has_failed", "record"]


@dataclass(frozen=True, slots=True)
class Answered:
    """Answers to some questions.

    Attributes
    ----------
    number : int
        Number of the rater.
    part : str
        ``screening`` or ``exit``.
    answer : mapping
        By question.
    passed : bool or None
        Of screening: whether the rater may take part.
    time : int
        Milliseconds.
    """

    number: int
    part: str
    answer: Mapping[str, Any]
    passed: bool | None
    time: int


_ALL = (
    select(
        raters.c.number,
        questionnaires.c.part,
        questionnaires.c.answer,
        questionnaires.c.passed,
        questionnaires.c.time,
    )
    .join_from(questionnaires, raters, raters.c.id == questionnaires.c.rater)
    .order_by(questionnaires.c.id)
)
_ONE = _ALL.where(
    questionnaires.c.rater == bindparam("rater"),
    questionnaires.c.part == bindparam("part"),
    questionnaires.c.questions == bindparam("questions"),
)
_FAILED = select(func.count()).where(
    questionnaires.c.rater == bindparam("rater"), questionnaires.c.passed.is_(False)
)
_ADD = insert(questionnaires)


def answered(connection: Connection, *, rater: str, part: str, questions: str) -> Answered | None:
    """Return what a rater answered to these questions; None if nothing yet."""
    key = {"rater": rater, "part": part, "questions": questions}
    found = connection.execute(_ONE, key).one_or_none()
    return None if found is None else _answered(found)


def all_answered(connection: Connection) -> list[Answered]:
    """Return what all raters answered, in order."""
    return [_answered(one) for one in connection.execute(_ALL)]


def has_failed(connection: Connection, *, rater: str) -> bool:
    """Tell whether a rater was screened out."""
    return bool(connection.execute(_FAILED, {"rater": rater}).scalar_one())


def record(
    connection: Connection,
    *,
    rater: str,
    part: str,
    questions: str,
    answer: Mapping[str, Any],
    passed: bool | None,
    now: int,
) -> None:
    """Keep the answers to some questions.

    Raises
    ------
    AlreadySubmittedError
        If the rater answered them before: there is no second try.
    """
    hold_rater(connection, rater)
    key = {"rater": rater, "part": part, "questions": questions}
    if connection.execute(_ONE, key).one_or_none() is not None:
        raise AlreadySubmittedError(phrase("questions-answered"))
    row = {"answer": json.dumps(answer, ensure_ascii=False), "passed": passed, "time": now}
    connection.execute(_ADD, key | row)


def _answered(row: Any) -> Answered:
    return Answered(row.number, row.part, json.loads(row.answer), row.passed, row.time)
