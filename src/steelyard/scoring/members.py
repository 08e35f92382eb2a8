"""Members of a JSON object on a line, changed without touching the others."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["json_text", "with_members"]

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


def with_members(line: str, members: Mapping[str, Any]) -> str:
    """Return a JSON object with members in place of those of the same name, or at its end.

    All other members stay as they are written, to the letter.

    Parameters
    ----------
    line : str
        A well-formed JSON object.
    members : mapping
        Names and values.

    Examples
    --------
    >>> with_members('{"n": 1.50,"edit": 3}', {"edit": 0.5})
    '{"n": 1.50,"edit": 0.5}'
    """
    line = line.strip()
    written = {name: f"{json_text(name)}: {json_text(value)}" for name, value in members.items()}
    # a name may be written with escapes: only names that are read can be compared
    found = list(_members(line))
    for name, start, end in reversed(found):
        if name in written:
            line = f"{line[:start]}{written[name]}{line[end:]}"
    there = {name for name, _, _ in found}
    added = ", ".join(text for name, text in written.items() if name not in there)
    return f"{line[:-1].rstrip()}{', ' if found else ''}{added}}}" if added else line


def _members(line: str) -> Iterator[tuple[str, int, int]]:
    """Yield each member of an object: its name, and where it begins and ends."""
    position = _after_space(line, 1)
    while line[position] != "}":
        start = position
        name, position = _DECODER.raw_decode(line, start)
        colon = _after_space(line, position)
        _, position = _DECODER.raw_decode(line, _after_space(line, colon + 1))
        yield name, start, position
        position = _after_space(line, position)
        if line[position] == ",":
            position = _after_space(line, position + 1)


def _after_space(line: str, position: int) -> int:
    found = _SPACE.match(line, position)
    return position if found is None else found.end()


def json_text(value: Any) -> str:
    """Return a value as it stands in JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
