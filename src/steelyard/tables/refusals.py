"""Rows that break a rule: where, how many, what is expected, and the way out."""

import re
from collections.abc import Sequence

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.tables.rules import ColumnRule
from steelyard.tables.separators import has_decimal_comma
from steelyard.tables.tables import ROW, Table

__all__ = ["check", "decimal_comma", "is_spelled_number", "scale_of", "unlike_the_others"]

# Words that are asked about; columns whose words are no scores.
_WORDS, _NO_SCALE = 30, {"seconds", "probability", "lower_is_better"}
# More rows with the same trouble that are named by their place.
_SHOWN = 3


def check(table: Table, rows: pl.DataFrame, rules: Sequence[ColumnRule]) -> None:
    """Raise for the first row in `rows` that breaks a rule, and name its cell."""
    broken = rows.select(ROW, *(rule.broken.alias(rule.column) for rule in rules)).filter(
        pl.any_horizontal(pl.exclude(ROW))
    )
    if broken.is_empty():
        return
    first = broken.row(0, named=True)
    rule = next(rule for rule in rules if first[rule.column])
    alike = broken.filter(pl.col(rule.column))[ROW].to_list()
    error = table.cell_error(alike[0], rule.column, rule.expected)
    more = _others(table, alike[1:], rows.height)
    cell = rows.filter(pl.col(ROW) == alike[0])[rule.column][0]
    if rule.is_number and (odd := unlike_the_others(cell, rows[rule.column])):
        raise InvalidDataError(f"{error}{more}: {odd}")
    if table.decimal is None and rule.is_number and has_decimal_comma(cell):
        raise decimal_comma(table, f"{error}{more}")
    if (
        rule.is_number
        and isinstance(cell, str)
        and not is_spelled_number(cell)
        and rule.column not in _NO_SCALE
    ):
        options = scale_of(rows.filter(pl.col(ROW).is_in(alike))[rule.column])
        way_out = f": if words are scores, say what each is worth: {table.conversion(*options)}"
        raise InvalidDataError(f"{error}{more}{way_out}", options=options)
    raise InvalidDataError(f"{error}{more}")


def is_spelled_number(cell: object) -> bool:
    """Whether a cell is a number for machines: also an infinite one, or one that is too large."""
    pattern = r"\s*[+-]?(inf|infinity|[\d.]+(e[+-]?\d+)?)\s*%?\s*"
    flags = re.IGNORECASE | re.ASCII
    return isinstance(cell, str) and re.fullmatch(pattern, cell, flags) is not None


def unlike_the_others(cell: object, cells: pl.Series) -> str:
    """Say how a number is written otherwise than the others of its column; empty if it is not.

    Examples
    --------
    >>> unlike_the_others("85", pl.Series(["85", "90%"]))
    'other cells have a percent sign: write all alike'
    >>> unlike_the_others("1,234", pl.Series(["1,234", "3.5"]))
    'other cells have a point before decimals: write all alike'
    """
    if not isinstance(cell, str) or cells.dtype != pl.String:
        return ""
    if (
        is_spelled_number(cell)
        and "%" not in cell
        and cells.str.contains(r"^[\s\d.,+-]+%\s*$").any()
    ):
        return "other cells have a percent sign: write all alike"
    if has_decimal_comma(cell) and cells.str.contains(r"^\s*[+-]?\d*\.\d+\s*$").any():
        return "other cells have a point before decimals: write all alike"
    return ""


def scale_of(cells: pl.Series) -> tuple[str, str]:
    """Return the option of ``convert`` that says what words are worth, with a question mark for each.

    Examples
    --------
    >>> scale_of(pl.Series(["Good", "bad", "good "]))
    ('--scale', 'Good=?,bad=?')
    """
    words: dict[str, str] = {}
    for word in filter(None, cells):
        words.setdefault(word.strip().casefold(), word.strip())
    return "--scale", ",".join(f"{word}=?" for word in [*words.values()][:_WORDS])


def decimal_comma(table: Table, problem: str) -> InvalidDataError:
    """Return the error for numbers whose comma may stand before decimals or between thousands."""
    return InvalidDataError(
        f"{problem}: say whether the comma stands before decimals: {table.conversion('--decimal', ',')} "
        "(in Python: read with decimal=',')",
        options=("--decimal", ","),
    )


def _others(table: Table, rows: Sequence[int], total: int) -> str:
    """Say how many more rows have the same trouble, and where the next of them stand."""
    if not rows:
        return ""
    places = ", ".join(table.where(*rows[:_SHOWN]))
    dots = ", ..." if len(rows) > _SHOWN else ""
    return f" (the same in {len(rows):,} more of {total:,} rows: {places}{dots})"
