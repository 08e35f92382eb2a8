"""What is in one file: which kind, how much, and every problem counted, before anything fails."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from steelyard.records import DRAW_COLUMNS, PLACE
from steelyard.tables.column_names import Role, for_role, lookalike
from steelyard.tables.judgments import JUDGMENT_COLUMNS
from steelyard.tables.outputs import OUTPUT_COLUMNS
from steelyard.tables.problems import Problem
from steelyard.tables.rules import is_number
from steelyard.tables.tables import ROW, Table

__all__ = ["FileProfile", "Kind", "kind_of", "number_columns", "own_names"]

Kind = Literal["outputs", "judgments", "wide table", "another form"]

_WANTED: dict[Role, tuple[str, ...]] = {
    "outputs": ("item", "system", "output"),
    "judgments": ("item", "system", "score", "rater", "prompt"),
}


@dataclass(frozen=True, eq=False)
class FileProfile:
    """What is in one file.

    Attributes
    ----------
    name : str
        The file as the user named it.
    kind : {"outputs", "judgments", "wide table", "another form"}
        What it is.
    rows : int
        Its rows; 0 where it cannot be read as a table.
    columns : tuple of str
        Its columns, as they are called there.
    counts : mapping
        How many items, systems, raters, prompts and so on.
    problems : tuple of Problem
        What is wrong or may be, each kind of problem counted.
    options : tuple of str
        What a command must be given so that it can read the file.
    tool : str
        The format of another tool, or of a wide table, as ``convert --from`` takes it; empty for our
        own.
    conversion : tuple of str
        What else ``convert`` must be given.
    """

    name: str
    kind: Kind
    rows: int = 0
    columns: tuple[str, ...] = ()
    counts: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    options: tuple[str, ...] = ()
    tool: str = ""
    conversion: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "file": self.name,
            "kind": self.kind,
            "rows": self.rows,
            "columns": list(self.columns),
            **self.counts,
            "problems": [one.to_dict() for one in self.problems],
            "options": list(self.options),
            "tool": self.tool or None,
        }


def own_names(
    there: Sequence[str], role: Role, columns: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return which column is which of ours: as told, by its name, or because it looks like it.

    Examples
    --------
    >>> own_names(["Item", "model", "score"], "judgments")
    {'item': 'Item', 'system': 'model', 'score': 'score'}
    """
    told = {our: own for our, own in for_role(columns, role).items() if own in there}
    wanted = _WANTED[role]
    found = {name: name for name in wanted if name in there} | told
    known = {*OUTPUT_COLUMNS, *JUDGMENT_COLUMNS, *DRAW_COLUMNS, PLACE, *told.values()}
    free = [name for name in there if name not in known]
    for name in wanted:
        if name not in found:
            near = lookalike(name, free, misspelt=name not in {"rater", "prompt"})
            if near is not None:
                found[name] = near
                free.remove(near)
    return {name: found[name] for name in dict.fromkeys((*wanted, *told)) if name in found}


def kind_of(table: Table, columns: Mapping[str, str] | None = None) -> Kind:
    """Return what a table is, by its columns and what they hold."""
    there = list(table.schema)
    judged = own_names(there, "judgments", columns)
    pool = own_names(there, "outputs", columns)
    numeric = number_columns(table, [name for name in there if name not in pool.values()])
    is_judged = "rater" in judged or "prompt" in judged or "output" not in pool
    if {"item", "score"} <= set(judged) and is_judged and _is_sure(judged):
        return "judgments"
    if {"item", "rater"} <= set(judged) and "output" not in pool and numeric:
        return "judgments"
    if "item" in pool and ("output" in pool or ("system" in pool and numeric)):
        return "outputs"
    return "wide table" if "system" not in pool and len(there) > 2 else "another form"


def _is_sure(judged: Mapping[str, str]) -> bool:
    """Whether the score is one by its name, where there is no system to bear it out."""
    return "system" in judged or lookalike("score", [judged["score"]], misspelt=False) is not None


def number_columns(table: Table, names: Sequence[str]) -> list[str]:
    """Return the columns that hold numbers, also as text."""
    found = [name for name in names if is_number(table.schema[name])]
    texts = [name for name in names if table.schema[name] == pl.String]
    if texts and table.has_blank_cells:
        head = table.collect(table.rows.select(ROW, *texts).head(100))
        for name in texts:
            cells = head[name].drop_nulls()
            spelled = cells.str.strip_chars().str.replace(",", ".", literal=True)
            if len(cells) and spelled.cast(pl.Float64, strict=False).null_count() == 0:
                found.append(name)
    return found
