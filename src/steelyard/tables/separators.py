"""What stands between the cells of a text, and before the decimals of its numbers: asked, not guessed."""

import re
import shlex
from collections.abc import Sequence
from typing import Literal

from steelyard.errors import InvalidArgumentError, InvalidDataError

__all__ = ["DECIMAL_COMMA", "Decimal", "checked_decimal", "checked_separator", "other_separator"]

Decimal = Literal[".", ","]

# A number with a decimal comma, and no number otherwise.
DECIMAL_COMMA = r"^\s*[+-]?\d+,\d+\s*$"

_NAMES = {"tab": "\t", "\\t": "\t", "semicolon": ";", "comma": ",", "pipe": "|"}
_WORDS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "vertical bars"}


def checked_separator(separator: str) -> str:
    r"""Return the character that a user means.

    Examples
    --------
    >>> checked_separator("tab"), checked_separator(";")
    ('\t', ';')

    Raises
    ------
    InvalidArgumentError
        If it is not one character, or one that CSV needs for itself.
    """
    found = _NAMES.get(separator, separator)
    if len(found) != 1 or not found.isascii() or found in '"\r\n' or found.isalnum():
        raise InvalidArgumentError(
            "`separator` (--separator) must be one character, such as ';' or '|', or tab; "
            f"got {separator!r}"
        )
    return found


def checked_decimal(decimal: str | None) -> Decimal | None:
    """Return the decimal mark, once it is known to be one."""
    known: dict[str | None, Decimal | None] = {None: None, ".": ".", ",": ","}
    if decimal in known:
        return known[decimal]
    raise InvalidArgumentError(f"`decimal` (--decimal) must be '.' or ','; got {decimal!r}")


def other_separator(
    name: str, header: str, separator: str, contract: Sequence[str], role: str
) -> InvalidDataError | None:
    """Return the error for a header that another separator cuts better; None if it is well cut."""
    best, most = separator, _fit(header, separator, contract)
    for one in _WORDS:
        if (fit := _fit(header, one, contract)) > most:
            best, most = one, fit
    if best == separator:
        return None
    value = f"{role}:{'tab' if best == chr(9) else best}"
    word = "tab" if best == "\t" else best
    return InvalidDataError(
        f"{name}, line 1: the columns look separated by {_WORDS[best]}, not by "
        f"{_WORDS.get(separator, repr(separator))}: add --separator {shlex.quote(value)} "
        f"(in Python: separator={word!r})",
        options=("--separator", value),
    )


def _fit(header: str, separator: str, contract: Sequence[str]) -> tuple[int, bool]:
    """How many of our columns a separator cuts out of a header, and whether it cuts at all."""
    cells = [re.sub(r'^\s*"?|"?\s*$', "", cell).casefold() for cell in header.split(separator)]
    return sum(cell in contract for cell in cells), len(cells) > 1
