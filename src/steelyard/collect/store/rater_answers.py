"""What raters answered besides judgments: consent, and questions before the work and at its end."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from steelyard.collect.config.wording import phrase
from steelyard.collect.store.raters import hold_rater
from steelyard.collect.store.refusals import NotAcceptedError
from steelyard.collect.store.tables import rater_answers, raters

__all__ = [
    "RaterAnswer",
    "agreement",
    "all_answers",
    "has_failed",
    "questions_answered",
    "record_agreement",
    "record_answers",
]


@dataclass(frozen=True, slots=True)
class RaterAnswer:
    """Answers to the questions before the work or at its end.

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


def agreement(connection: Connection, *, rater: str, words: str) -> bool | None:
    """Return whether a rater agreed to the words of this digest; None if not asked yet."""
    last = _last(connection, rater, "consent", words)
    return None if last is None else bool(last.passed)


def record_agreement(
    connection: Connection, *, rater: str, words: str, agreed: bool, now: int
) -> None:
    """Keep what a rater said to these words; the last time counts."""
    hold_rater(connection, rater)
    last = _last(connection, rater, "consent", words)
    row = {"rater": rater, "part": "consent", "version": words, "passed": agreed, "time": now}
    attempt = 1 if last is None else last.attempt + 1
    connection.execute(insert(rater_answers), row | {"attempt": attempt})


def questions_answered(
    connection: Connection, *, rater: str, part: str, questions: str
) -> tuple[bool, bool | None]:
    """Return whether a rater answered the questions of this digest, and whether they were passed."""
    last = _last(connection, rater, part, questions)
    return (False, None) if last is None else (True, last.passed)


def all_answers(connection: Connection) -> list[RaterAnswer]:
    """Return what all raters answered to questions about themselves, in order."""
    columns = ("part", "answer", "passed", "time")
    wanted = (
        select(raters.c.number, *(rater_answers.c[name] for name in columns))
        .join_from(rater_answers, raters, raters.c.id == rater_answers.c.rater)
        .where(rater_answers.c.part.in_(("screening", "exit")))
        .order_by(rater_answers.c.id)
    )
    return [
        RaterAnswer(row.number, row.part, json.loads(row.answer), row.passed, row.time)
        for row in connection.execute(wanted)
    ]


def has_failed(connection: Connection, *, rater: str) -> bool:
    """Tell whether a rater was screened out."""
    wanted = select(rater_answers.c.id).where(
        rater_answers.c.rater == rater,
        rater_answers.c.part == "screening",
        rater_answers.c.passed.is_(False),
    )
    return connection.execute(wanted.limit(1)).first() is not None


def record_answers(
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
    NotAcceptedError
        If the rater answered them before: there is no second try.
    """
    hold_rater(connection, rater)
    if _last(connection, rater, part, questions) is not None:
        raise NotAcceptedError(phrase("questions-answered"), code="already-submitted")
    row = {"rater": rater, "part": part, "version": questions, "passed": passed, "time": now}
    text = json.dumps(answer, ensure_ascii=False)
    connection.execute(insert(rater_answers), row | {"answer": text})


def _last(connection: Connection, rater: str, part: str, version: str) -> Any:
    wanted = select(rater_answers.c.passed, rater_answers.c.attempt).where(
        rater_answers.c.rater == rater,
        rater_answers.c.part == part,
        rater_answers.c.version == version,
    )
    newest = wanted.order_by(rater_answers.c.attempt.desc()).limit(1)
    return connection.execute(newest).one_or_none()
