"""Models of declared things: strict about keys, and exact about where a mistake stands."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from steelyard.collect.config.yaml_lines import Document, KeyPath
from steelyard.errors import InvalidDataError

__all__ = ["Declared", "declared", "mistake", "one_of", "shown"]

Model = TypeVar("Model", bound="Declared")

_PLAIN = {
    "missing": "must be given",
    "model_type": "must hold keys with values; got {input}",
    "model_attributes_type": "must hold keys with values; got {input}",
    "dict_type": "must hold keys with values; got {input}",
    "list_type": "must be a list; got {input}",
    "tuple_type": "must be a list; got {input}",
    "string_type": "must be text; got {input}: put it in quotation marks",
    "string_pattern_mismatch": "must match {pattern}; got {input}",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "int_type": "must be a whole number; got {input}",
    "int_from_float": "must be a whole number; got {input}",
    "float_type": "must be a number; got {input}",
    "finite_number": "must be a finite number; got {input}",
    "bool_type": "must be true or false; got {input}",
    "greater_than": "must be greater than {gt}; got {input}",
    "greater_than_equal": "must be at least {ge}; got {input}",
    "less_than": "must be less than {lt}; got {input}",
    "less_than_equal": "must be at most {le}; got {input}",
    "too_short": "must have at least {min_length} entries; got {actual_length}",
    "too_long": "must have at most {max_length} entries; got {actual_length}",
}


class Declared(BaseModel):
    """A part of a declared file: frozen, typed strictly, and with no key that it does not know."""

    # Keys of before, and what to do instead.
    gone: ClassVar[Mapping[str, str]] = {}

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        validate_by_name=True,
        validate_by_alias=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _knows_every_key(cls, data: Any) -> Any:
        if isinstance(data, dict):
            known = cls.key_names()
            for key in data:
                if key in cls.gone:
                    raise mistake((key,), f"is gone: {cls.gone[key]}")
                if key not in known and key not in cls.model_fields:
                    raise mistake((key,), f"is not a key here; {one_of(key, known)}")
        return data

    @classmethod
    def key_names(cls) -> tuple[str, ...]:
        """Return the keys as files spell them."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())


def mistake(path: KeyPath, message: str) -> PydanticCustomError:
    """Return an error of a validator that stands at `path` below the model."""
    # Braces in a message are braces, not placeholders.
    return PydanticCustomError("mistake", "{message}", {"path": path, "message": message})


def one_of(name: object, known: Iterable[str]) -> str:
    """Suggest the name that was meant, or list those there are.

    Examples
    --------
    >>> one_of("half_widht", ["half_width", "level"])
    'did you mean `half_width`?'
    >>> one_of("colour", ["half_width", "level"])
    'expected one of half_width, level'
    """
    choices = tuple(known)
    near = get_close_matches(str(name), choices, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"expected one of {', '.join(choices)}" if choices else "there is none"


def shown(value: object) -> str:
    """Write a value as the file would, in at most 60 characters.

    Examples
    --------
    >>> shown(True), shown("yes"), shown(None), shown([1, 2])
    ('true', "'yes'", 'nothing', 'a list')
    """
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, dict):
        return "keys with values"
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def declared(
    model: type[Model], document: Document, given: Mapping[str, Any] | None = None
) -> Model:
    """Read a model from a document.

    Parameters
    ----------
    model : type
        What the document declares.
    document : Document
        The file.
    given : mapping, optional
        Values that take the place of what the file holds: things that it only names.

    Returns
    -------
    Declared

    Raises
    ------
    InvalidDataError
        For the first mistake in the file; the message names file, line and key.
    """
    try:
        return model.model_validate(document.data | dict(given or {}))
    except ValidationError as error:
        raise first_mistake(document, error.errors(include_url=False)) from error


def first_mistake(document: Document, details: Sequence[ErrorDetails]) -> InvalidDataError:
    """Return the error for the mistake that stands first in the file."""

    def line(found: tuple[KeyPath, str]) -> int:
        path = found[0]
        while path and path not in document.lines:
            path = path[:-1]
        return document.lines.get(path, 0)

    mistakes = [
        (_path(document, detail), _message(detail))
        for detail in details
        if not _follows(detail, details)
    ]
    path, message = min(mistakes, key=line)
    return document.error(path, message)


def _follows(detail: ErrorDetails, details: Sequence[ErrorDetails]) -> bool:
    """Whether a list is too short only because of mistakes in its entries."""
    at = detail["loc"]
    inside = (one["loc"] for one in details if len(one["loc"]) > len(at))
    return detail["type"] == "too_short" and any(loc[: len(at)] == at for loc in inside)


def _path(document: Document, detail: ErrorDetails) -> KeyPath:
    """Return the path in the file: pydantic's has the kinds of unions in it."""
    path: list[str | int] = []
    here: Any = document.data
    parts = [*detail["loc"], *detail.get("ctx", {}).get("path", ())]
    for position, part in enumerate(parts):
        is_last = position == len(parts) - 1
        if isinstance(here, dict) and part in here:
            here = here[str(part)]
        elif isinstance(here, list) and isinstance(part, int) and part < len(here):
            here = here[part]
        elif not is_last or detail["type"] not in {"missing", "mistake"}:
            continue
        path.append(part)
    return tuple(path)


def _message(detail: ErrorDetails) -> str:
    context = detail.get("ctx", {})
    kind, value = detail["type"], detail["input"]
    if kind == "mistake":
        return str(context["message"])
    if kind == "literal_error":
        choices = str(context["expected"]).replace("'", "")
        return f"must be {choices}; got {shown(value)}"
    if kind == "union_tag_not_found":
        return "must have the key `kind`"
    if kind == "union_tag_invalid":
        kinds = str(context["expected_tags"]).replace("'", "").split(", ")
        return f"kind {context['tag']!r} is not known; {one_of(context['tag'], kinds)}"
    if kind in _PLAIN:
        words = {
            name: f"{part:g}" if isinstance(part, float) else part for name, part in context.items()
        }
        return _PLAIN[kind].format(input=shown(value), **words)
    return f"{detail['msg']}; got {shown(value)}"
