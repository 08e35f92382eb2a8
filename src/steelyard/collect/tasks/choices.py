"""What a rater can choose from, and the words of which declarations are made."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from steelyard.collect.config.declared import Declared

__all__ = [
    "AnyCategory",
    "Category",
    "Choice",
    "Level",
    "Name",
    "Option",
    "Severity",
    "Verdict",
    "Words",
    "plain",
]


def plain(value: Any) -> Any:
    """Return whole numbers as such, and all else as it is.

    Examples
    --------
    >>> plain(2.0), plain(0.5), plain("a")
    (2, 0.5, 'a')
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _key(value: Any) -> Any:
    # `key: 1` is what one writes for the key 1
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=60)]
Words = Annotated[str, Field(min_length=1)]
Key = Annotated[str, BeforeValidator(_key), Field(pattern=r"^[a-z0-9]$")]
Weight = Annotated[float, Field(ge=0)]


class Choice(Declared):
    """What the things to choose from have in common.

    Attributes
    ----------
    value : object
        What is recorded when it is chosen; of a level, its score.
    label : str
        What the button says; the value if it is not given.
    tip : str
        When to choose it: the tooltip of the button.
    key : str or None
        A letter or digit that chooses it. If no choice of a widget has one, they are 1, 2, 3 ...
    """

    value: Any
    label: str = ""
    tip: str = ""
    key: Key | None = None

    @property
    def shown(self) -> str:
        """What the button says."""
        return self.label or str(plain(self.value))


class Level(Choice):
    """A level of a Likert scale; `value` is its score."""

    value: float


class Option(Choice):
    """An option of a gate."""

    value: Words


class Verdict(Choice):
    """A verdict on a passage.

    Attributes
    ----------
    highlight : bool
        Whether it must be justified by highlighting at least one span of the passage.
    confirm : str or None
        What is read back for confirmation, if it is not the text of the widget.
    """

    value: Words
    highlight: bool = False
    confirm: Words | None = None


class Severity(Choice):
    """A severity of an error; `weight` is what the error counts."""

    value: Words
    weight: float = Field(ge=0)


class Category(Declared):
    """A kind of error; in a file, its name alone will do.

    Attributes
    ----------
    value : str
        Its name; what stands before a slash groups kinds: ``accuracy/omission``.
    weights : dict of str to float
        What an error of this kind counts under a severity, if not the weight of the severity.
    """

    gone = {"label": "a category is shown by its name"}  # noqa: RUF012

    value: Words
    weights: dict[str, Weight] = Field(default_factory=dict)


def _category(value: Any) -> Any:
    return {"value": value} if isinstance(value, str) else value


AnyCategory = Annotated[Category, BeforeValidator(_category)]
