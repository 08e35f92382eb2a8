"""Widgets: the questions that a task can be made of."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, PlainValidator, model_validator

from steelyard.collect.config.declared import Declared, mistake, one_of, shown
from steelyard.collect.tasks.choices import (
    AnyCategory,
    Choice,
    Level,
    Name,
    Option,
    Severity,
    Verdict,
    Words,
    plain,
)
from steelyard.collect.tasks.conditions import Condition, parse_condition

__all__ = [
    "AnyWidget",
    "Comment",
    "Confirm",
    "Gate",
    "Likert",
    "Passages",
    "PostEdit",
    "Preference",
    "Ranking",
    "Slider",
    "Spans",
    "Widget",
    "placeholders",
]

_NO_MAX = {"max": "a comment may have 2,000 characters and an edit 20,000; take it out"}
_PLACEHOLDER = re.compile(r"\{([A-Za-z][A-Za-z0-9_-]*)\}")


def _condition(value: Any) -> Condition:
    if isinstance(value, dict):
        # the JSON form, when a model is made from the dump of another
        return value
    if not isinstance(value, str):
        raise mistake((), f"must be a condition in text; got {shown(value)}")
    try:
        return parse_condition(value)
    except ValueError as error:
        raise mistake((), f"{error}: {shown(value)}") from error


def _optional_condition(value: Any) -> Condition | None:
    return None if value is None else _condition(value)


def _requirement(value: Any) -> bool | Condition:
    return value if isinstance(value, bool) else _condition(value)


class Widget(Declared):
    """What all widgets have in common.

    Attributes
    ----------
    id : str
        Its name in conditions, scores and answers.
    kind : str
        What it is.
    label : str
        The question.
    help : str
        A sentence or two below it.
    required : bool or condition
        Whether there must be an answer if the widget is shown.
    when : condition or None
        When it is shown; always if None.
    """

    id: Name
    kind: str
    label: Words
    help: str = ""
    required: Annotated[bool | Condition, PlainValidator(_requirement)] = True
    when: Annotated[Condition | None, PlainValidator(_optional_condition)] = None

    # The key with what there is to choose from; none of a widget without choices.
    listed: ClassVar[str] = ""

    @property
    def choices(self) -> Sequence[Choice]:
        """What there is to choose from."""
        found: Sequence[Choice] = getattr(self, self.listed) if self.listed else ()
        return found

    @property
    def texts(self) -> Sequence[str]:
        """Texts with placeholders."""
        return ()

    @model_validator(mode="after")
    def _has_distinct_choices(self) -> Self:
        name = self.listed
        seen: dict[str, dict[Any, int]] = {"value": {}, "key": {}}
        for position, choice in enumerate(self.choices):
            for part, before in seen.items():
                value = getattr(choice, part)
                if value is None:
                    continue
                if value in before:
                    raise mistake(
                        (name, position, part),
                        f"must differ from that of entry {before[value] + 1}; both are "
                        f"{shown(plain(value))}",
                    )
                before[value] = position
        return self

    def public(self) -> dict[str, Any]:
        """Return the JSON form for the page."""
        data = self.model_dump(mode="json")
        name = self.listed
        has_keys = any(choice.key for choice in self.choices)
        for position, choice in enumerate(data.get(name, ())):
            choice["value"] = plain(choice["value"])
            choice["label"] = choice["label"] or str(choice["value"])
            if not has_keys and position < 9:
                choice["key"] = str(position + 1)
        longest = getattr(self, "longest", None)
        data |= {} if longest is None else {"max": longest}
        return {key: plain(value) for key, value in data.items()}


class Likert(Widget):
    """A facet rated on levels."""

    listed: ClassVar[str] = "levels"

    kind: Literal["likert"]
    levels: tuple[Level, ...] = Field(strict=False, min_length=2)


class Gate(Widget):
    """A question with options, on which later ones may depend."""

    listed: ClassVar[str] = "options"

    kind: Literal["gate"]
    options: tuple[Option, ...] = Field(strict=False, min_length=2)


class PostEdit(Widget):
    """A box with a text to improve; an answer must differ from the text.

    Attributes
    ----------
    field : str
        Field of the content that holds the text.
    """

    gone = _NO_MAX
    longest: ClassVar[int] = 20_000

    kind: Literal["post-edit"]
    field: Name


class Passages(Widget):
    """A verdict on each passage, justified by highlights, and read back for confirmation.

    Attributes
    ----------
    field : str
        Field of the content that holds the list of passages.
    verdicts : tuple of Verdict
        What there is to say of a passage.
    confirm : str or None
        What is read back for every verdict with highlights. Placeholders are fields of the content,
        ``{passage}``, ``{verdict}`` and ``{highlights}``; None: nothing is read back.
    """

    listed: ClassVar[str] = "verdicts"

    kind: Literal["passages"]
    field: Name
    verdicts: tuple[Verdict, ...] = Field(strict=False, min_length=2)
    confirm: Words | None = None

    @property
    def texts(self) -> Sequence[str]:
        """What is read back."""
        own = (verdict.confirm for verdict in self.verdicts)
        return [text for text in (self.confirm, *own) if text is not None]

    def read_back(self, verdict: str) -> str | None:
        """Return the text that is read back for a verdict; None if nothing is."""
        found = next(choice for choice in self.verdicts if choice.value == verdict)
        return (found.confirm or self.confirm) if found.highlight else None

    def public(self) -> dict[str, Any]:
        """Return the JSON form for the page; each verdict has the text that is read back."""
        data = super().public()
        for verdict in data["verdicts"]:
            verdict["confirm"] = self.read_back(verdict["value"])
        return data


class Confirm(Widget):
    """Earlier answers, read back for confirmation.

    Attributes
    ----------
    text : str
        What is read back, with ids of earlier widgets and fields of the content as placeholders.
    """

    kind: Literal["confirm"]
    text: Words

    @property
    def texts(self) -> Sequence[str]:
        """What is read back."""
        return [self.text]


class Slider(Widget):
    """A number from a range.

    Attributes
    ----------
    min, max, step : float
        The range, and the distance of the values in it.
    low, high : str
        What its ends mean.
    """

    kind: Literal["slider"]
    min: float = 0.0
    max: float = 100.0
    step: float = Field(default=1.0, gt=0)
    low: str = ""
    high: str = ""

    @model_validator(mode="after")
    def _has_a_range(self) -> Self:
        if self.min >= self.max:
            raise mistake(
                ("max",), f"must be greater than min, {plain(self.min)}; got {plain(self.max)}"
            )
        steps = (self.max - self.min) / self.step
        if steps > 10_000 or abs(steps - round(steps)) > 1e-6:
            raise mistake(
                ("step",), f"must divide the range into at most 10000 steps; got {steps:g} of them"
            )
        return self


class Preference(Widget):
    """Which of two outputs is better; answers are as displayed.

    Attributes
    ----------
    ties : bool
        Whether both may be equally good.
    """

    gone = {"tie": "it is called `ties`"}  # noqa: RUF012

    kind: Literal["preference"]
    ties: bool = True


class Ranking(Widget):
    """The order of all outputs on a screen, best first; an answer is the place of each letter.

    Attributes
    ----------
    ties : bool
        Whether several outputs may have the same place.
    """

    kind: Literal["ranking"]
    ties: bool = True


class Spans(Widget):
    """Errors marked in a text, each with a severity, in the manner of MQM and ESA.

    A rater who marks none says that there is none.

    Attributes
    ----------
    field : str
        Field of the content that holds the text.
    severities : tuple of Severity
        How grave an error can be.
    categories : tuple of Category
        What kind of error it can be, which is asked of every error; nothing is asked if empty.
    missing : bool
        Whether an error can be that something is missing, without a span.
    suggested : str or None
        Field of the content that holds errors to begin with; None: there are none.
    most : int
        Most errors that can be marked, which bounds the score.
    """

    gone = {  # noqa: RUF012
        "category_needed": "every error has a category where there are `categories`",
        "say_none": "who marks no error is always asked to say so",
    }

    listed: ClassVar[str] = "severities"

    kind: Literal["spans"]
    required: Annotated[bool | Condition, PlainValidator(_requirement)] = False
    field: Name
    severities: tuple[Severity, ...] = Field(strict=False, min_length=1)
    categories: tuple[AnyCategory, ...] = Field(strict=False, default=())
    missing: bool = False
    suggested: Name | None = None
    most: int = Field(default=20, gt=0, le=1000)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of the categories."""
        return tuple(category.value for category in self.categories)

    def weight(self, error: Mapping[str, Any]) -> float:
        """Return what an error counts."""
        severity = error["severity"]
        for category in self.categories:
            if category.value == error.get("category") and severity in category.weights:
                return category.weights[severity]
        return next(one.weight for one in self.severities if one.value == severity)

    @property
    def heaviest(self) -> float:
        """What an error can count at most."""
        own = (weight for category in self.categories for weight in category.weights.values())
        return max(*(severity.weight for severity in self.severities), 0.0, *own)

    @model_validator(mode="after")
    def _has_consistent_categories(self) -> Self:
        severities = [severity.value for severity in self.severities]
        for position, category in enumerate(self.categories):
            path = ("categories", position)
            if category.value in self.kinds[:position]:
                raise mistake(path, f"{shown(category.value)} is there twice")
            for name in category.weights:
                if name not in severities:
                    raise mistake(
                        (*path, "weights", name), f"is no severity; {one_of(name, severities)}"
                    )
        return self

    def public(self) -> dict[str, Any]:
        """Return the JSON form for the page, without what errors count."""
        data = super().public()
        for severity in data["severities"]:
            del severity["weight"]
        data["categories"] = list(self.kinds)
        return data


class Comment(Widget):
    """A free text.

    Attributes
    ----------
    once : bool
        Side by side: whether it is asked once about the whole screen, not about each output.
    """

    gone = _NO_MAX
    longest: ClassVar[int] = 2_000

    kind: Literal["comment"]
    required: Annotated[bool | Condition, PlainValidator(_requirement)] = False
    once: bool = False


AnyWidget = Annotated[
    Likert | Gate | PostEdit | Passages | Confirm | Slider | Preference | Ranking | Spans | Comment,
    Field(discriminator="kind"),
]


def placeholders(text: str) -> list[str]:
    """Return the names in braces, in order.

    Raises
    ------
    ValueError
        If a brace is not closed, or holds more than a name.

    Examples
    --------
    >>> placeholders("{output} is an answer to {input}")
    ['output', 'input']
    """
    names = _PLACEHOLDER.findall(text)
    if re.search(r"[{}]", _PLACEHOLDER.sub("", text)):
        raise ValueError(f"must have a name in each pair of braces; got {shown(text)}")
    return names
