"""What requests of raters carry."""

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from steelyard.collect.config.questionnaires import Part

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
    "plain_json",
]

# What is said in answer, as JSON.
Reply: TypeAlias = dict[str, Any]

# As deep as any answer goes (a list of objects with lists of pairs), with room to spare.
_DEEPEST = 8
_GREATEST = 2**53
# What a browser can count exactly, and longer than any lease.
_MOST_MS = 10**12


def plain_json(value: Any) -> Any:
    """Return `value` if every database and every reader can hold it.

    Raises
    ------
    ValueError
        If it is nested deeper than any answer, has a number that is not finite or not exact in
        double precision, or a text with half a surrogate pair or a null character.

    Examples
    --------
    >>> plain_json({"fluency": 2})
    {'fluency': 2}
    >>> plain_json({"fluency": float("nan")})
    Traceback (most recent call last):
    ValueError: a number must be finite and below 2**53 in size
    """
    left = [(value, 0)]
    while left:
        one, depth = left.pop()
        if isinstance(one, str):
            _check_text(one)
        elif isinstance(one, float | int):
            # an integer of any length compares with a float exactly
            if not -_GREATEST <= one <= _GREATEST:
                raise ValueError("a number must be finite and below 2**53 in size")
        elif isinstance(one, dict | list):
            if depth == _DEEPEST:
                raise ValueError("it is nested too deep")
            inner = [*one, *one.values()] if isinstance(one, dict) else one
            left.extend((part, depth + 1) for part in inner)
    return value


def _check_text(text: str) -> None:
    if "\0" in text:
        raise ValueError("a text must not hold a null character")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError("a text must not hold half a surrogate pair") from None


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
