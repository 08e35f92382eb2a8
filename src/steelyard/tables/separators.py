"""What stands between the cells of a text, and before the decimals of its numbers."""

import re
from collections.abc import Sequence
from typing import Literal

import polars as pl

from steelyard.errors import InvalidArgumentError

__all__ = [
    "SEPARATORS",
    "Decimal",
    "best_separator",
    "checked_decimal",
    "checked_separator",
    "decimal_mark",
    "has_decimal_comma",
]

Decimal = Literal[".", ","]

# In words.
SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars"}
_NAMES = {"tab": "\t", "\\t": "\t", "semicolon": ";", "comma": ",", "pipe": "|"}

# A number with a decimal comma, and no number otherwise; such a number that may have thousands instead;
# a whole number; one with a decimal point.
_COMMA, _THOUSANDS = r"^\s*[+-]?\d+,\d+\s*%?\s*$", r"^\s*[+-]?[1-9]\d{0,2},\d{3}\s*%?\s*$"
_WHOLE, _POINT = r"^\s*[+-]?\d+\s*%?\s*$", r"^\s*[+-]?\d*\.\d+\s*%?\s*$"


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


def best_separator(header: str, usual: str, contract: Sequence[str]) -> str:
    """Return what cuts most of our columns out of a header; the usual mark unless another is better.

    Examples
    --------
    >>> best_separator("item;system;bleu, chrf", ",", ["item", "system"])
    ';'
    >>> best_separator("a,b;c", ",", [])
    ','
    """

    def fit(mark: str) -> tuple[int, bool]:
        cells = [re.sub(r'^\s*"?|"?\s*$', "", cell).casefold() for cell in header.split(mark)]
        return sum(cell in contract for cell in cells), len(cells) > 1

    return max((usual, *SEPARATORS), key=fit)


def has_decimal_comma(cell: object) -> bool:
    """Whether a cell is a number with a decimal comma."""
    return isinstance(cell, str) and re.match(_COMMA, cell) is not None


def decimal_mark(rows: pl.DataFrame) -> tuple[Decimal | None, str | None]:
    """Return the decimal mark that columns of text leave no doubt about, and a column that leaves one.

    A comma, where columns of numbers hold commas, none of them a point, and a cell such as ``3,5`` cannot
    have a comma between thousands.

    Examples
    --------
    >>> decimal_mark(pl.DataFrame({"a": ["3,5", "4"], "b": ["x", "1,5"]}))
    (',', None)
    >>> decimal_mark(pl.DataFrame({"a": ["3,500", "4"]}))
    (None, 'a')
    """
    texts = [name for name, kind in rows.schema.items() if kind == pl.String]
    commas = [name for name in texts if _all_are(rows[name], _COMMA)]
    if not commas:
        return None, None
    sure = any(
        (rows[name].str.contains(_COMMA) & ~rows[name].str.contains(_THOUSANDS)).any()
        for name in commas
    )
    points = any(rows[name].str.contains(_POINT).any() for name in commas)
    if sure and not points and not any(_all_are(rows[name], _POINT) for name in texts):
        return ",", None
    return None, commas[0]


def _all_are(column: pl.Series, numbers: str) -> bool:
    """Whether some cells are such numbers, and all others numbers too, or blank."""
    mark = "," if numbers == _COMMA else "."
    if not column.str.contains(mark, literal=True).any():
        return False
    cells = column.drop_nulls()
    cells = cells.filter(cells.str.strip_chars() != "")
    found = cells.str.contains(numbers)
    others = cells.str.contains(f"{_COMMA}|{_POINT}|{_WHOLE}")
    return bool(found.any() and others.all())
