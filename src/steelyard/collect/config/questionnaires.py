"""Questions about raters: before the work, to find those whom a study is for, and at its end."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from steelyard.collect.config.declared import Declared, mistake
from steelyard.collect.fingerprint import without_wording
from steelyard.collect.tasks.answers import visible
from steelyard.collect.tasks.consistency import check_questions
from steelyard.collect.tasks.grading import check_accepted, is_accepted
from steelyard.collect.tasks.widgets import Comment, Gate, Likert, Slider

__all__ = [
    "AnyQuestion",
    "Part",
    "ScreeningQuestion",
    "ScreeningQuestions",
    "digest_of",
    "is_passed",
]

Part: TypeAlias = Literal["screening", "exit"]
AnyQuestion = Annotated[Likert | Gate | Slider | Comment, Field(discriminator="kind")]


class ScreeningQuestion(Declared):
    """A question before the work.

    Attributes
    ----------
    ask : Widget
        A likert, gate, slider or comment.
    answer : object
        What is accepted, as in a tutorial; not given: any answer is.
    """

    ask: AnyQuestion
    answer: Any = None

    @model_validator(mode="after")
    def _can_be_met(self) -> Self:
        if self.answer is not None:
            try:
                check_accepted(self.ask, {}, self.answer)
            except PydanticCustomError as error:
                context = error.context or {}
                raise mistake(tuple(context["path"]), str(context["message"])) from error
        return self


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        raise mistake((), "is a list of questions now: take out `questions` and `message`")
    return value


def _screens(questions: tuple[ScreeningQuestion, ...]) -> tuple[ScreeningQuestion, ...]:
    asked = [one.ask for one in questions]
    check_questions(asked, [(place, "ask") for place in range(len(questions))])
    if questions and all(one.answer is None for one in questions):
        raise mistake(
            (), "must have an `answer` to one of them at least, or nobody is screened out"
        )
    return questions


ScreeningQuestions = Annotated[
    tuple[ScreeningQuestion, ...],
    Field(strict=False),
    BeforeValidator(_listed),
    AfterValidator(_screens),
]


def is_passed(questions: Sequence[ScreeningQuestion], answer: Mapping[str, Any]) -> bool:
    """Tell whether a complete answer has what is accepted of every question that was shown."""
    shown = visible([one.ask for one in questions], answer)
    return all(
        is_accepted(one.ask, {}, one.answer, answer.get(one.ask.id))
        for one in questions
        if one.answer is not None and one.ask.id in shown
    )


def digest_of(questions: Sequence[Declared]) -> str:
    """Return what tells these questions from others; other wording is no other question."""
    facts = [without_wording(one.model_dump(mode="json")) for one in questions]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
