"""What requests of raters carry."""

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from steelyard.collect.config.questionnaires import Part
from steelyard.collect.web.payloads import plain_json

__all__ = [
    "Answer",
    "Consent",
    "Draft",
    "HandBack",
    "Name",
    "Nothing",
    "PlainText",
    "Question",
    "Questionnaire",
    "Reply",
    "Sent",
    "Submission",
]

# What is said in answer, as JSON.
Reply: TypeAlias = dict[str, Any]

# What a browser can count exactly, and longer than any lease.
_MOST_MS = 10**12

Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.-]+$")]
PlainText: TypeAlias = Annotated[str, AfterValidator(plain_json)]
Answer: TypeAlias = Annotated[
    dict[str, Any],
    AfterValidator(plain_json),
    Field(description="Answers by the id of their widget, as the task declares them."),
]


class Sent(BaseModel):
    """A request's body: nothing unknown, nothing converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Nothing(Sent):
    """An empty object."""


class Consent(Sent):
    """Whether a rater agrees to take part."""

    agreed: bool


class Draft(Sent):
    """Work in progress on an assignment."""

    assignment: Name
    answer: Answer
    active_ms: int = Field(ge=0, le=_MOST_MS)


class Submission(Sent):
    """A complete answer; the same `key` again is the same submission."""

    assignment: Name
    key: str = Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")
    answer: Answer
    active_ms: int = Field(ge=0, le=_MOST_MS)


class HandBack(Sent):
    """A text that the rater cannot judge, and why; a text that is skipped needs no reason."""

    assignment: Name
    kind: Literal["cannot-judge", "problem", "skip"]
    reason: PlainText = Field(default="", max_length=1_000)

    @model_validator(mode="after")
    def _has_a_reason(self) -> Self:
        if self.kind != "skip" and not self.reason.strip():
            raise ValueError("a reason is needed")
        return self


class Questionnaire(Sent):
    """Answers to the questions before the work, or at its end."""

    part: Part
    answer: Answer


class Question(Sent):
    """An answer to a question of the tutorial."""

    question: PlainText = Field(min_length=1, max_length=200)
    answer: Annotated[Any, AfterValidator(plain_json)]
