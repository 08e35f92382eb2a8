"""Tutorials: what a rater answered, and whether it was enough, for each version of a task."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, insert, select, update

from steelyard.collect.config.wording import phrase
from steelyard.collect.store.raters import add_once, hold_rater
from steelyard.collect.store.refusals import NotAcceptedError
from steelyard.collect.store.tables import ledger, rater_answers

__all__ = ["Attempted", "Tutorial", "record_tutorial_answer", "tutorial"]


@dataclass(frozen=True, slots=True)
class Attempted:
    """A question that a rater has tried: how often, and whether the last try was right."""

    question: str
    tries: int
    correct: bool
    answer: Any

    def is_over(self, tries: int) -> bool:
        """Whether it cannot be tried again."""
        return self.correct or self.tries >= tries


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


def tutorial(connection: Connection, *, rater: str, version: str) -> Tutorial:
    """Return how far a rater has come in the tutorial of a version."""
    questions: dict[str, Attempted] = {}
    passed = None
    wanted = select(rater_answers).where(*_of(rater, version)).order_by(rater_answers.c.id)
    for row in connection.execute(wanted):
        if row.question:
            questions[row.question] = Attempted(
                row.question, row.attempt, row.passed, json.loads(row.answer)
            )
        else:
            passed = row.passed
    return Tutorial(version, tuple(questions.values()), passed)


def _of(rater: str, version: str) -> tuple[ColumnElement[bool], ...]:
    return (
        rater_answers.c.rater == rater,
        rater_answers.c.part == "tutorial",
        rater_answers.c.version == version,
    )


def record_tutorial_answer(
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

    It is finished when every question of `questions` is answered right or was tried `tries` times,
    and passed with `pass_mark` right answers; then `bonus` (in millionths of the currency) is paid,
    once for each rater and version.

    Raises
    ------
    NotAcceptedError
        If there is no such question, or it may not be tried again: its feedback has told what was right.
    """
    hold_rater(connection, rater)
    before = tutorial(connection, rater=rater, version=version)
    if question not in questions:
        raise NotAcceptedError(f"the tutorial has no question {question!r}", code="not-found")
    if before.passed is not None:
        raise NotAcceptedError(phrase("tutorial-answered"), code="already-answered")
    earlier = next((one for one in before.answered if one.question == question), None)
    if earlier is not None and earlier.is_over(tries):
        raise NotAcceptedError(phrase("tutorial-answered"), code="already-answered")
    key = {"rater": rater, "part": "tutorial", "version": version, "time": now}
    if not before.answered:
        connection.execute(insert(rater_answers), key | {"question": ""})
    row = {
        **key,
        "question": question,
        "attempt": 1 if earlier is None else earlier.tries + 1,
        "answer": json.dumps(answer, ensure_ascii=False),
        "passed": correct,
    }
    connection.execute(insert(rater_answers), row)
    after = tutorial(connection, rater=rater, version=version)
    if not {one.question for one in after.answered if one.is_over(tries)}.issuperset(questions):
        return after
    passed = after.correct >= pass_mark
    whole = update(rater_answers).where(*_of(rater, version), rater_answers.c.question == "")
    connection.execute(whole.values(passed=passed))
    if passed and bonus > 0:
        paid = {"rater": rater, "kind": "bonus", "amount": bonus, "time": now}
        add_once(connection, ledger, {**paid, "reference": f"tutorial {version}"})
    return Tutorial(version, after.answered, passed)
