"""Values of other tools' files: whatever their type, never an error."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from steelyard.tables.rules import MISSING

__all__ = ["at", "identifier", "is_missing", "moment", "number", "objects", "text"]


def at(value: Any, path: str) -> Any:
    """Return what stands at a dotted path, or None.

    A key that holds dots itself, such as a column ``vars.id``, comes before the path.

    Examples
    --------
    >>> at({"choices": [{"text": "yes"}]}, "choices.0.text")
    'yes'
    >>> at({"choices": 3}, "choices.0.text") is None
    True
    """
    if isinstance(value, Mapping) and path in value:
        return value[path]
    head, _, rest = path.partition(".")
    if isinstance(value, Mapping):
        found = value.get(head)
    elif isinstance(value, list) and head.isdecimal() and len(head) < 10:
        found = value[int(head)] if int(head) < len(value) else None
    else:
        return None
    return at(found, rest) if rest else found


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; what is no list, or no object, is left out.

    Examples
    --------
    >>> objects([{"a": 1}, 2]), objects(None)
    ([{'a': 1}], [])
    """
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text(value: Any) -> str | None:
    r"""Return a value as a text: chat messages by their contents, other objects as JSON.

    Examples
    --------
    >>> text([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])
    'system: Be brief.\n\nuser: Hi'
    >>> text([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}])
    'Hi'
    >>> text({"answer": 4})
    '{"answer": 4}'
    """
    if value is None or isinstance(value, str):
        return None if value is None else _encodable(value)
    if isinstance(value, list) and value and all(map(_is_spoken, value)):
        parts = [(one.get("role"), text(one.get("content", one.get("text")))) for one in value]
        spoken = [(role, said) for role, said in parts if said]
        if len(spoken) == 1 or not all(role for role, _ in spoken):
            return "\n\n".join(said for _, said in spoken)
        return "\n\n".join(f"{role}: {said}" for role, said in spoken)
    return _encodable(json.dumps(value, ensure_ascii=False, default=str))


def identifier(value: Any) -> str | None:
    """Return an id as a text, or None where there is none.

    Examples
    --------
    >>> identifier(7), identifier(7.0), identifier(" q1 "), identifier(None), identifier(["a"])
    ('7', '7', ' q1 ', None, None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float):
        return str(int(value)) if math.isfinite(value) and value == int(value) else None
    if isinstance(value, int):
        return format(value, "d") if abs(value) < 10**100 else None
    return (_encodable(value) or None) if isinstance(value, str) and value.strip() else None


def is_missing(value: Any) -> bool:
    """Say whether a value is a score that is not there: null, NaN, ``N/A``, blank.

    Examples
    --------
    >>> [is_missing(one) for one in (None, float("nan"), " N/A ", 0, "bad")]
    [True, True, True, False, False]
    """
    if isinstance(value, str):
        return value.strip().casefold() in MISSING
    return value is None or (isinstance(value, float) and math.isnan(value))


def number(value: Any, scale: Mapping[str, float] | None = None) -> float | None:
    """Return a finite number, or None; true and false are 1 and 0, words are as `scale` says, 85% is 85.

    Examples
    --------
    >>> number(True), number("0.5"), number("Good", {"good": 1.0}), number("3,5"), number([1])
    (1.0, 0.5, 1.0, None, None)
    """
    if isinstance(value, str):
        word = value.strip().casefold()
        if scale and word in scale:
            return scale[word]
        if word in {"true", "false"}:
            return float(word == "true")
        # Python reads 1_000 as a number, people do not.
        value = None if "_" in word else word.removesuffix("%")
    elif not isinstance(value, int | float):
        return None
    try:
        found = float(value) if value is not None else math.nan
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def moment(value: Any) -> str | None:
    """Return a time as a text; seconds since 1970 become a date.

    Examples
    --------
    >>> moment(0.5), moment("2026-11-16"), moment(None)
    ('1970-01-01T00:00:00+00:00', '2026-11-16', None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return text(value)
    try:
        return datetime.fromtimestamp(value, tz=UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None


def _is_spoken(one: Any) -> bool:
    return isinstance(one, dict) and ("content" in one or "text" in one)


def _encodable(words: str) -> str:
    """Replace halves of surrogate pairs, which JSON may hold and UTF-8 may not."""
    return words.encode("utf-8", "replace").decode("utf-8")
