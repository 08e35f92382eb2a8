"""Profile a file, whatever it is, as long as it can be opened."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.foreign.suggested import suggestion
from steelyard.tables.column_names import Role
from steelyard.tables.judgment_profile import judgment_profile
from steelyard.tables.judgments import JUDGMENT_COLUMNS
from steelyard.tables.locations import located
from steelyard.tables.opening import open_table, renamed
from steelyard.tables.outputs import OUTPUT_COLUMNS
from steelyard.tables.pool_profile import pool_profile
from steelyard.tables.problems import Problem
from steelyard.tables.profile import FileProfile, kind_of, number_columns, own_names
from steelyard.tables.separators import Decimal, checked_decimal
from steelyard.tables.tables import Table

__all__ = ["profile_file"]

_NEEDED: dict[Role, tuple[str, ...]] = {
    "outputs": ("system",),
    "judgments": ("system", "score"),
}
_NEEDED_FOR = {
    "system": "add one that names the system of each row",
    "score": "say which one it is with --column score=YOUR_COLUMN",
}
_CONTRACT = tuple(dict.fromkeys((*OUTPUT_COLUMNS, *JUDGMENT_COLUMNS)))


def profile_file(
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    separator: str | None = None,
    decimal: Mapping[str, str] | None = None,
    bounds: tuple[float, float] | None = None,
) -> FileProfile:
    """Say what is in a file and what is wrong with it.

    Parameters
    ----------
    path : Path
        The file, sheet, folder or pattern.
    columns : mapping, optional
        As in `read_outputs`.
    separator : str, optional
        As in `read_outputs`.
    decimal : mapping, optional
        The decimal mark of ``outputs`` and of ``judgments``.
    bounds : (float, float), optional
        Least and greatest possible score.

    Raises
    ------
    InvalidDataError
        If the file cannot be opened.
    """
    # who says what the columns mean has a file in our form
    form = None if columns else suggestion(path)
    tool = "" if form is None else form.name
    if tool not in {"", "wide", "judgments"}:
        return FileProfile(str(path), "another form", tool=tool)
    location = located(path)
    try:
        table, mark = _opened(path, separator)
    except InvalidDataError as error:
        if location.parts or not _is_foreign(location.path):
            raise
        return FileProfile(str(path), "another form", problems=(Problem(str(error), 0, 0),))
    kind = kind_of(table, columns)
    rows = table.collect(table.rows.select(pl.len())).item()
    there = tuple(table.schema)
    if kind not in {"outputs", "judgments"}:
        known = form if (tool, kind) == ("wide", "wide table") else None
        found = FileProfile(str(path), kind, rows, there, _first_cells(table))
        return found if known is None else replace(found, tool=tool, conversion=known.options)
    role: Role = "outputs" if kind == "outputs" else "judgments"
    names = own_names(there, role, columns)
    if role == "judgments" and "score" not in names:
        names |= _only_numbers(table, names)
    asked = checked_decimal((decimal or {}).get(role))
    options = _needed(names, columns, role, mark)
    missing = [_no_column(name) for name in _NEEDED[role] if name not in names]
    if missing:
        cells = _first_cells(table)
        return FileProfile(str(path), kind, rows, there, cells, tuple(missing), options)
    own = replace(
        renamed(table, {ours: theirs for ours, theirs in names.items() if ours != theirs}),
        role=role,
        decimal=asked,
    )
    counts, problems, more = _profiled(own, role, bounds)
    tool = tool if tool == role else ""
    options = (*options, *more)
    return FileProfile(str(path), kind, rows, there, counts, tuple(problems), options, tool)


def _only_numbers(table: Table, names: Mapping[str, str]) -> dict[str, str]:
    """Return the score of judgments that no column is called after: the only numbers there are."""
    free = [name for name in table.schema if name not in names.values()]
    found = number_columns(table, free)
    return {"score": found[0]} if len(found) == 1 else {}


def _no_column(name: str) -> Problem:
    return Problem(f"no column `{name}`", 0, 0, way_out=_NEEDED_FOR[name], stops=True)


def _opened(path: Path, separator: str | None) -> tuple[Table, str | None]:
    """Open a file; with another separator where its header asks for it, which is returned too."""
    try:
        return open_table(path, label="outputs", contract=_CONTRACT, separator=separator), None
    except InvalidDataError as error:
        if error.options[:1] != ("--separator",):
            raise
        mark = error.options[1].partition(":")[2]
    return open_table(path, label="outputs", contract=_CONTRACT, separator=mark), mark


def _profiled(
    table: Table, role: Role, bounds: tuple[float, float] | None
) -> tuple[dict[str, Any], list[Problem], tuple[str, ...]]:
    """Return counts, problems and needed options; with decimal commas where numbers have them."""

    def profile(with_mark: Decimal | None) -> tuple[dict[str, Any], list[Problem]]:
        own = replace(table, decimal=with_mark)
        return pool_profile(own) if role == "outputs" else judgment_profile(own, bounds)

    try:
        counts, problems = _shaped(table, lambda: profile(table.decimal))
        asked = [one.options for one in problems if one.options[:1] == ("--decimal",)]
    except InvalidDataError as error:
        if error.options[:1] != ("--decimal",):
            raise
        asked = [error.options]
    if not asked:
        return counts, problems, ()
    return *_shaped(table, lambda: profile(",")), asked[0]


def _shaped(
    table: Table, profile: Callable[[], tuple[dict[str, Any], list[Problem]]]
) -> tuple[dict[str, Any], list[Problem]]:
    """Return the profile; where a column has a type that it cannot have, only that problem."""
    try:
        return profile()
    except InvalidDataError as error:
        if error.options:
            raise
        problem = str(error).removeprefix(f"{table.name}, ")
        return {}, [Problem(problem, 0, 0, stops=True)]


def _needed(
    names: Mapping[str, str], columns: Mapping[str, str] | None, role: Role, separator: str | None
) -> tuple[str, ...]:
    """Return the options without which a command would not find separators and columns."""
    options = [] if separator is None else ["--separator", f"{role}:{separator}"]
    told = {*(columns or {})}
    for ours, theirs in names.items():
        if ours != theirs and not {ours, f"{role}:{ours}"} & told:
            options += ["--column", f"{role}:{ours}={theirs}"]
    return tuple(options)


def _first_cells(table: Table) -> dict[str, Any]:
    head = table.collect(table.rows.select(list(table.schema)[:8]).head(1))
    if not head.width:
        return {}
    return {"first_row": {name: str(cell) for name, cell in head.row(0, named=True).items()}}


def _is_foreign(path: Path) -> bool:
    """Whether a file that is no table of ours may well be another tool's: JSON, an archive, a text."""
    with path.open("rb") as file:
        head = file.read(4096)
    is_text = path.suffix.lower() not in {".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet"}
    return bool(head.strip()) and is_text and path.suffix.lower() not in {".xlsx", ".xls", ".ods"}
