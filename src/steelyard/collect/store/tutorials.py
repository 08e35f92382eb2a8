"""Tutorials: what a rater answered, and whether it was enough, for each version of a task."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from steelyard.collect.store.raters import hold_rater
from steelyard.collect.store.refusals import StoreError
from steelyard.collect.store.tables import ledger, tutorial_answers, tutorials

__all__ = ["Attempted", "Tutorial", "record_answer", "tutorial"]


@dataclass(frozen=True, slots=True)
class Attempted:
    """A question that a rater has tried.

    Attributes
    ----------
    question : str
        Its id.
    tries : int
        How often.
    correct : bool
        Whether the last try was right.
    answer : Any
        The last answer.
    """

    question: str
    tries: int
    correct: bool
    answer: Any


@dataclass(frozen=True, slots=True)
class Tutorial:
    """How far a rater has come.

    Attributes
    ----------
    version : str
        Of the task.
    answered : tuple of Attempted
        Questions tried, in the order of the first try.
    passed : bool or None
        None while it is under way.
    """

    version: str
    answered: tuple[Attempted, ...]
    passed: bool | None

    @property
    def correct(self) -> int:
        """Number of questions answered right."""
        return sum(one.correct for one in self.answered)


_STATE = select(tutorials.c.passed).where(
    tutorials.c.rater == bindparam("rater"), tutorials.c.version == bindparam("version")
)
_ANSWERS = (
    select(
        tutorial_answers.c.question,
        tutorial_answers.c.attempt,
        tutorial_answers.c.correct,
        tutorial_answers.c.answer,
    )
    .where(
        tutorial_answers.c.rater == bindparam("rater"),
        tutorial_answers.c.version == bindparam("version"),
    )
    .order_by(tutorial_answers.c.id)
)
_ADD = insert(tutorial_answers)
_FINISH = (
    update(tutorials)
    .where(
        tutorials.c.rater == bindparam("of_rater"), tutorials.c.version == bindparam("of_version")
    )
    .values(passed=bindparam("new_passed"), finished=bindparam("new_finished"))
)
_BEGIN = {
    "sqlite": sqlite.insert(tutorials).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(tutorials).on_conflict_do_nothing(),
}
_BONUS = {
    "sqlite": sqlite.insert(ledger).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(ledger).on_conflict_do_nothing(),
}


def tutorial(connection: Connection, *, rater: str, version: str) -> Tutorial:
    """Return how far a rater has come in the tutorial of a version."""
    key = {"rater": rater, "version": version}
    found = connection.execute(_STATE, key).one_or_none()
    questions: dict[str, Attempted] = {}
    for question, attempt, correct, answer in connection.execute(_ANSWERS, key):
        questions[question] = Attempted(question, attempt, correct, json.loads(answer))
    return Tutorial(version, tuple(questions.values()), None if found is None else found.passed)


def record_answer(
    connection: Connection,
    *,
    rater: str,
    version: str,
    question: str,
    answer: Any,
    correct: bool,
    questions: Sequence[str],
    pass_mark: int,
    tries: int,
    bonus: int,
    now: int,
) -> Tutorial:
    """Keep a rater's answer to a question, and finish the tutorial when it was the last.

    Parameters
    ----------
    connection : Connection
        Of the writer.
    rater : str
        Id of the rater.
    version : str
        Of the task.
    question : str
        Id of the question.
    answer : Any
        The answer, as JSON can hold it.
    correct : bool
        Whether it is right.
    questions : sequence of str
        Ids of all questions.
    pass_mark : int
        Right answers needed.
    tries : int
        Tries of each question.
    bonus : int
        Paid when it is passed, once for each rater and version, in millionths of the currency.
    now : int
        Milliseconds.

    Returns
    -------
    Tutorial

    Raises
    ------
    StoreError
        If there is no such question, or it may not be tried again.

    Notes
    -----
    It is finished when every question is answered right or was tried `tries` times.
    """
    hold_rater(connection, rater)
    before = tutorial(connection, rater=rater, version=version)
    tried = {one.question: one for one in before.answered}
    earlier = tried.get(question)
    if question not in questions:
        raise StoreError(f"the tutorial has no question {question!r}")
    if before.passed is not None:
        raise StoreError("the tutorial is finished: its questions cannot be answered again")
    if earlier is not None and (earlier.correct or earlier.tries >= tries):
        raise StoreError(f"question {question!r} cannot be tried again")
    key = {"rater": rater, "version": version}
    connection.execute(_BEGIN[connection.dialect.name], {**key, "started": now})
    row = {
        **key,
        "question": question,
        "attempt": 1 if earlier is None else earlier.tries + 1,
        "answer": json.dumps(answer, ensure_ascii=False),
        "correct": correct,
        "time": now,
    }
    connection.execute(_ADD, row)
    after = tutorial(connection, rater=rater, version=version)
    over = {one.question for one in after.answered if one.correct or one.tries >= tries}
    if not over.issuperset(questions):
        return after
    passed = after.correct >= pass_mark
    connection.execute(
        _FINISH,
        {"of_rater": rater, "of_version": version, "new_passed": passed, "new_finished": now},
    )
    if passed and bonus > 0:
        paid = {"rater": rater, "kind": "bonus", "amount": bonus, "time": now}
        connection.execute(
            _BONUS[connection.dialect.name], {**paid, "reference": f"tutorial {version}"}
        )
    return Tutorial(version, after.answered, passed)
