"""Problems of files, each kind counted, with the first examples and the way out."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from steelyard.tables.rules import ColumnRule
from steelyard.tables.tables import ROW, Table, shown

__all__ = ["FileProblem", "bad_cells", "near_equal_names", "repeated_keys"]

_EXAMPLES = 3


@dataclass(frozen=True)
class FileProblem:
    """Something that is wrong, or may be.

    Attributes
    ----------
    what : str
        The problem, in words.
    count, total : int
        How many of how many have it.
    examples : tuple of str
        The first of them.
    way_out : str
        What to do.
    options : tuple of str
        What to add to the command to go on as they are.
    stops : bool
        Whether nothing is computed as long as it is there.
    """

    what: str
    count: int
    total: int
    examples: tuple[str, ...] = ()
    way_out: str = ""
    options: tuple[str, ...] = ()
    stops: bool = False

    def __str__(self) -> str:
        first = f"; first: {', '.join(self.examples)}" if self.examples else ""
        more = ", ..." if self.examples and self.count > len(self.examples) else ""
        way_out = f": {self.way_out}" if self.way_out else ""
        number = f" ({self.count:,} of {self.total:,}{first}{more})" if self.total else ""
        return f"{self.what}{number}{way_out}"


def bad_cells(
    table: Table, rows: pl.DataFrame, rule: ColumnRule, way_out: str
) -> list[FileProblem]:
    """Return the problem that cells of a column are not what they should be, if some are not."""
    broken = rows.filter(rule.broken).select(ROW, rule.column)
    if broken.is_empty():
        return []
    first = broken.head(_EXAMPLES)
    places = table.where(*first[ROW].to_list())
    examples = tuple(
        f"{place} {shown(cell)}" for place, cell in zip(places, first[rule.column], strict=True)
    )
    what = f"column {table.column(rule.column)}: expected {rule.expected}"
    return [FileProblem(what, broken.height, rows.height, examples, way_out=way_out, stops=True)]


def repeated_keys(
    table: Table, rows: pl.DataFrame, key: Sequence[str], what: str, way_out: FileProblem
) -> list[FileProblem]:
    """Return the problem that rows have the key of an earlier row, if some do."""
    known = rows.drop_nulls(list(key))
    twice = known.filter(~pl.struct(*key).is_first_distinct())
    if twice.is_empty():
        return []
    first = twice.head(_EXAMPLES)
    places = table.where(*first[ROW].to_list())
    examples = tuple(
        f"{place} ({', '.join(f'{name} {value}' for name, value in row.items())})"
        for place, row in zip(places, first.select(key).to_dicts(), strict=True)
    )
    return [
        FileProblem(
            what,
            twice.height,
            rows.height,
            examples,
            way_out=way_out.way_out,
            options=way_out.options,
            stops=True,
        )
    ]


def near_equal_names(column: str, names: Iterable[str]) -> list[FileProblem]:
    """Return the problem that names differ only in case, spaces or signs, if some do.

    Examples
    --------
    >>> print(near_equal_names("system", ["a", "A ", "b"])[0])
    nearly equal names of systems (2 of 3; first: 'a', 'A '): give them one name if they are one
    """
    by_form: dict[str, list[str]] = {}
    listed = list(dict.fromkeys(names))
    for name in listed:
        by_form.setdefault(re.sub(r"[\s_-]+", " ", name).strip().casefold(), []).append(name)
    alike = [name for same in by_form.values() if len(same) > 1 for name in same]
    if not alike:
        return []
    return [
        FileProblem(
            f"nearly equal names of {column}s",
            len(alike),
            len(listed),
            tuple(repr(name) for name in alike[:_EXAMPLES]),
            way_out="give them one name if they are one",
        )
    ]
