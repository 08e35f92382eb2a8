"""Metric specifications: a name, then options, as in ``rouge-l:stem,recall``."""

import difflib
from collections.abc import Iterable
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from steelyard.errors import InvalidArgumentError
from steelyard.metrics.metric import Metric

__all__ = ["close_match", "configured", "name_and_options"]


def name_and_options(specification: str) -> tuple[str, list[str]]:
    """Split a specification into the metric's name and its options.

    Examples
    --------
    >>> name_and_options("bleu:smooth=floor,order=2")
    ('bleu', ['smooth=floor', 'order=2'])
    """
    name, _, rest = specification.partition(":")
    return name.strip(), [option.strip() for option in rest.split(",")] if rest else []


def configured(kind: type[Metric], options: Iterable[str], *, name: str) -> Metric:
    """Make a metric from options as they are written in a specification.

    Parameters
    ----------
    kind : type
        The metric's class; its fields are its options.
    options : iterable of str
        ``option=value``; the bare name of a yes/no option; or the bare value of an option that
        has named values. A field ``smooth_value`` is written ``smooth-value``.
    name : str
        What the metric is called, for messages.

    Returns
    -------
    Metric

    Raises
    ------
    InvalidArgumentError
        If an option is unknown, given twice, or has a value it cannot have.
    """
    types = _option_types(kind)
    values: dict[str, Any] = {}
    for option in options:
        key, equals, text = option.partition("=")
        field = key.replace("-", "_")
        if not equals:
            field, text = _bare(types, option)
        if field not in types:
            raise InvalidArgumentError(_unknown(option, types, name=name))
        if field in values:
            raise InvalidArgumentError(
                f"`metrics`: {name!r} takes each option once; got {field.replace('_', '-')!r} "
                f"again in {option!r}"
            )
        values[field] = _value(types[field], text, option=option, name=name)
    return kind(**values)


def close_match(word: str, known: Iterable[str]) -> str:
    """A hint at the nearest known word, or an empty string when none is near."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _option_types(kind: type[Metric]) -> dict[str, Any]:
    """Types of the fields that a specification can set, functions and the like left out."""
    hints = get_type_hints(kind)
    return {
        field.name: hints[field.name]
        for field in fields(kind)
        if _plain(hints[field.name]) in (bool, int, float, str)
        or get_origin(hints[field.name]) is Literal
    }


def _plain(hint: Any) -> Any:
    """Return the type of a field that may also be None."""
    if get_origin(hint) is UnionType:
        return next(part for part in get_args(hint) if part is not NoneType)
    return hint


def _bare(types: dict[str, Any], option: str) -> tuple[str, str]:
    field = option.replace("-", "_")
    if types.get(field) is bool:
        return field, "yes"
    for owner, hint in types.items():
        if get_origin(hint) is Literal and option in get_args(hint):
            return owner, option
    return "", ""


def _unknown(option: str, types: dict[str, Any], *, name: str) -> str:
    known = []
    for field, hint in types.items():
        written = field.replace("_", "-")
        if get_origin(hint) is Literal:
            known.append(f"{written}={'|'.join(get_args(hint))}")
        else:
            known.append(written if hint is bool else f"{written}=...")
    words = [word for entry in known for word in (entry, *entry.partition("=")[2].split("|"))]
    return (
        f"`metrics`: {name!r} has no option {option!r}{close_match(option, words)}; "
        f"it knows {', '.join(known)}"
    )


def _value(hint: Any, text: str, *, option: str, name: str) -> Any:
    if get_origin(hint) is Literal:
        choices = get_args(hint)
        if text in choices:
            return text
        rule = f"one of {', '.join(choices)}"
    elif hint is bool:
        if text in ("yes", "no"):
            return text == "yes"
        rule = "yes or no"
    elif _plain(hint) is str:
        return text
    else:
        try:
            return _plain(hint)(text)
        except ValueError:
            rule = "a whole number" if _plain(hint) is int else "a number"
    raise InvalidArgumentError(f"`metrics`: {name!r} needs {rule} in {option!r}; got {text!r}")
