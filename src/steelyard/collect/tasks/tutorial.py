"""Tutorials: questions with known answers, which a rater goes through before the first judgment."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, PrivateAttr, Tag, model_validator

from steelyard.collect.config.declared import Declared, mistake
from steelyard.collect.tasks.choices import Name, Words
from steelyard.collect.tasks.grading import check_accepted, is_accepted
from steelyard.collect.tasks.spans import suggestion_problem
from steelyard.collect.tasks.widgets import AnyWidget, Spans, Widget

__all__ = ["Question", "Tutorial", "grade"]

FieldValue = str | list[str]


def _form(value: Any) -> str:
    # no keys of a widget, so that a place in the file is told from the form
    return "(id)" if isinstance(value, str) else "(widget)"


class Question(Declared):
    """A question of a tutorial.

    Attributes
    ----------
    id : str
        Its name, under which results are kept; pages never see it, because it may hint at the answer.
    content : mapping
        The fields that are shown.
    ask : str or Widget
        Id of the widget of the task that is asked, or a widget for this question alone.
    answer : object
        What is accepted; see `steelyard.collect.tasks.grading`.
    hint : str
        What is shown after a wrong answer, while there are tries left.
    feedback : str
        What is shown at the end, whether right or wrong.
    """

    gone = {"widget": "it is called `ask`, an id or a question"}  # noqa: RUF012

    id: Name
    content: dict[str, Any] = Field(min_length=1)
    ask: Annotated[
        Annotated[str, Tag("(id)")] | Annotated[AnyWidget, Tag("(widget)")], Discriminator(_form)
    ]
    answer: Any
    hint: Words
    feedback: Words

    _asked: Widget | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _shows_texts(self) -> Self:
        for field, value in self.content.items():
            texts = value if isinstance(value, list) else [value]
            if not all(isinstance(text, str | dict) for text in texts):
                raise mistake(("content", field), "must be text or a list of texts")
        return self

    @property
    def asked(self) -> Widget:
        """The widget that is asked."""
        assert self._asked is not None
        return self._asked

    def resolve(self, widgets: Mapping[str, Widget]) -> None:
        """Look up the widget by its id, and check that the answers accepted are possible."""
        asked = widgets[self.ask] if isinstance(self.ask, str) else self.ask
        # It is asked alone: nothing else can hide it or make it needless.
        self._asked = asked.model_copy(update={"required": True, "when": None})
        self._check_suggestions(asked)
        check_accepted(self._asked, self.content, self.answer)

    def _check_suggestions(self, asked: Widget) -> None:
        """Raise unless objects in the content are errors to begin with."""
        suggested = asked.suggested if isinstance(asked, Spans) else None
        for field, value in self.content.items():
            if field == suggested:
                assert isinstance(asked, Spans)
                problem = suggestion_problem(asked, self.content, value)
                if problem is not None:
                    raise mistake(("content", field), problem)
            elif any(
                isinstance(one, dict) for one in (value if isinstance(value, list) else [value])
            ):
                raise mistake(("content", field), "must be text or a list of texts")

    def public(self, name: str) -> dict[str, Any]:
        """Return the JSON form for the page, under another name: no answer, hint or feedback."""
        return {
            "id": name,
            "content": dict(self.content),
            "widget": self.ask if isinstance(self.ask, str) else None,
            "ask": self.asked.public(),
        }


class Tutorial(Declared):
    """The questions, and how many of them must be right.

    Attributes
    ----------
    pass_mark : int
        Number of right answers with which the tutorial is passed; the key is ``pass``.
    tries : int
        Tries at each question.
    questions : tuple of Question
        In order.
    """

    pass_mark: int = Field(alias="pass", ge=0)
    tries: int = Field(default=2, ge=1, le=10)
    questions: Annotated[tuple[Question, ...], Field(strict=False, min_length=1)]

    @model_validator(mode="after")
    def _can_be_passed(self) -> Self:
        if self.pass_mark > len(self.questions):
            raise mistake(
                ("pass",),
                f"must be at most the number of questions, {len(self.questions)}; "
                f"got {self.pass_mark}",
            )
        ids = [question.id for question in self.questions]
        for position, name in enumerate(ids):
            if name in ids[:position]:
                raise mistake(
                    ("questions", position, "id"),
                    f"must differ from that of entry {ids.index(name) + 1}; both are {name}",
                )
        return self

    @property
    def named(self) -> dict[str, Question]:
        """The questions by the names that pages know: their places, which give nothing away."""
        return {f"q{place}": question for place, question in enumerate(self.questions, start=1)}

    def name_of(self, question_id: str) -> str | None:
        """Return the name that pages know of the question with this id; None if there is none."""
        return next((name for name, one in self.named.items() if one.id == question_id), None)


def grade(question: Question, answer: Any) -> bool:
    """Tell whether the answer to a question is right.

    Parameters
    ----------
    question : Question
        Of a loaded task.
    answer : object
        The value of the widget asked: any JSON value.

    Returns
    -------
    bool
        False also for what is no answer at all.
    """
    return is_accepted(question.asked, question.content, question.answer, answer)
