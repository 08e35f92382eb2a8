"""What is in one file: which kind, how much, and every problem counted, before anything fails."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.records import Output
from steelyard.tables.column_names import Columns, Role
from steelyard.tables.judgments_profile import judgments_profile
from steelyard.tables.kinds import CONTRACT, TableKind, first_rows, kind_of, only_numbers, own_names
from steelyard.tables.metric_columns import metric_columns, with_numbers
from steelyard.tables.opening import open_table, renamed
from steelyard.tables.problems import FileProblem, bad_cells, near_equal_names, repeated_keys
from steelyard.tables.profile_counts import Counts
from steelyard.tables.rules import identifier, is_gap
from steelyard.tables.tables import ROW, Table

__all__ = ["FileProfile", "guessed_command", "profile_file", "unknown_form"]

_NEEDED = {"outputs": ("item", "system"), "judgments": ("item", "system", "score")}
_NEEDED_FOR = {
    "item": "say which one it is with --column item=YOUR_COLUMN",
    "system": "add one that names the system of each row",
    "score": "say which one it is with --column score=YOUR_COLUMN",
}
_ALREADY = FileProblem("", 0, 0, way_out="keep one of them, or tell their items apart")


@dataclass(frozen=True, eq=False)
class FileProfile:
    """What is in one file.

    Attributes
    ----------
    name : str
        The file as the user named it.
    kind : {"outputs", "judgments", "one table", "wide table", "another form"}
        What it is; one table holds outputs and human scores.
    rows : int
        Its rows; 0 where it cannot be read as a table.
    columns : tuple of str
        Its columns, as they are called there.
    counts : Counts
        How many items, systems, raters, prompts and so on.
    problems : tuple of FileProblem
        What is wrong or may be, each kind of problem counted.
    options : tuple of str
        What a command must be given so that it can read the file.
    tool : str
        The format of another tool, or of a wide table, as ``convert --from`` takes it; empty for our
        own.
    conversion : tuple of str
        What else ``convert`` must be given.
    human : tuple of str
        The columns of human scores of one table, or a pattern of them.
    """

    name: str
    kind: TableKind
    rows: int = 0
    columns: tuple[str, ...] = ()
    counts: Counts = field(default_factory=Counts)
    problems: tuple[FileProblem, ...] = ()
    options: tuple[str, ...] = ()
    tool: str = ""
    conversion: tuple[str, ...] = ()
    human: tuple[str, ...] = ()


def profile_file(
    path: Path,
    *,
    columns: Columns | None = None,
    bounds: tuple[float, float] | None = None,
    role: Role | None = None,
) -> FileProfile:
    """Say what is in a file and what is wrong with it.

    Parameters
    ----------
    path : Path
        The file, sheet, folder or pattern.
    columns : mapping, optional
        As in `read_outputs`.
    bounds : (float, float), optional
        Least and greatest possible score.
    role : {"outputs", "judgments"}, optional
        What it is, where other files show it.

    Raises
    ------
    InvalidDataError
        If the file cannot be opened.
    """
    table = open_table(path, label="outputs", contract=CONTRACT)
    kind, human = (role, ()) if role is not None else kind_of(table, columns)
    rows = table.collect(table.rows.select(pl.len())).item()
    known = FileProfile(str(path), kind, rows, tuple(table.schema), human=human)
    if kind not in {"outputs", "judgments"}:
        names = own_names(table, "outputs", columns) if kind == "one table" else {}
        return replace(
            known, counts=Counts(**first_rows(table)), options=_renaming(names, columns, None)
        )
    own_role: Role = "outputs" if kind == "outputs" else "judgments"
    names = own_names(table, own_role, columns)
    if own_role == "judgments" and "score" not in names:
        names |= only_numbers(table, names)
    known = replace(known, options=_renaming(names, columns, own_role))
    missing = [name for name in _NEEDED[own_role] if name not in names]
    if missing:
        problems = [
            FileProblem(f"no column `{name}`", 0, 0, way_out=_NEEDED_FOR[name], stops=True)
            for name in missing
        ]
        return replace(known, counts=Counts(**first_rows(table)), problems=tuple(problems))
    mapped = {ours: theirs for ours, theirs in names.items() if ours != theirs}
    own = replace(renamed(table, mapped), role=own_role)
    try:
        counts, problems = (
            _of_outputs(own) if own_role == "outputs" else judgments_profile(own, bounds)
        )
    except InvalidDataError as error:
        # a column has a type that it cannot have
        what = str(error).removeprefix(f"{table.name}, ")
        counts, problems = Counts(), [FileProblem(what, 0, 0, options=error.options, stops=True)]
    return replace(known, counts=counts, problems=tuple(problems))


def _renaming(
    names: Mapping[str, str], columns: Columns | None, role: Role | None
) -> tuple[str, ...]:
    """Return the options without which a command would not find our columns."""
    options: list[str] = []
    for ours, theirs in names.items():
        if ours != theirs and not {ours, f"{role}:{ours}"} & {*(columns or {})}:
            options += ["--column", f"{role}:{ours}={theirs}" if role else f"{ours}={theirs}"]
    return tuple(options)


def _of_outputs(table: Table) -> tuple[Counts, list[FileProblem]]:
    """Return the counts and the problems of outputs.

    Parameters
    ----------
    table : Table
        Outputs under our column names: item and system at least.
    """
    if table.has_blank_cells:
        table = with_numbers(table)
    table, metrics, notes = metric_columns(table, None)
    keys = [identifier(table, column) for column in Output.key]
    has_texts = "output" in table.schema
    rows = table.collect(table.rows.select(ROW, *Output.key, *metrics))
    problems = [FileProblem(one, 0, 0) for one in notes]
    problems += [one for rule in keys for one in bad_cells(table, rows, rule, "fill it in")]
    rows = rows.with_columns(rule.value for rule in keys)
    sizes = rows.drop_nulls("system").group_by("system", maintain_order=True).len()
    problems += repeated_keys(
        table, rows, Output.key, "outputs that are there more than once", _ALREADY
    )
    problems += near_equal_names("system", sizes["system"])
    problems += _gaps(table, rows, metrics)
    if has_texts and table.schema["output"].is_nested():
        what = f"column {table.column('output')}: expected text, got {table.schema['output']}"
        problems.append(
            FileProblem(what, rows.height, rows.height, way_out="bring texts", stops=True)
        )
    counts = Counts(
        items=rows["item"].drop_nulls().n_unique(),
        systems=dict(sizes.iter_rows()),
        metrics=tuple(metrics),
        texts=has_texts,
    )
    return counts, problems


def _gaps(table: Table, rows: pl.DataFrame, metrics: tuple[str, ...]) -> list[FileProblem]:
    problems = []
    for name in metrics:
        missing = rows.filter(is_gap(name))
        if missing.height:
            item, system = missing.select(Output.key).row(0)
            problems.append(
                FileProblem(
                    f"gap in metric {table.column(name)}",
                    missing.height,
                    rows.height,
                    (f"item {item}, system {system}",),
                    way_out="score them, or go on: each counts as the mean of the system's others",
                )
            )
        elif rows[name].n_unique() == 1 and rows.height > 1:
            problems.append(
                FileProblem(
                    f"metric {table.column(name)} is the same on all outputs: it cannot correct",
                    0,
                    0,
                )
            )
    return problems


def unknown_form(file: FileProfile) -> str:
    """Say what is missing from a file in no form that is known."""
    if not file.columns:
        return f"nothing yet: {file.name} cannot be read as a table, and is of no tool that `convert` knows"
    return (
        "nothing yet: it is not seen which column holds what: tables need `item` and `system`, `output` or "
        "metrics, and scores of people. Say what yours are called with --column, and which one people filled "
        "with --column score=YOURS; or convert a table with a column for each system or rater: steelyard convert "
        f"{shlex.quote(file.name)} --wide '{{system}}' (or '{{rater}}', '{{rater}}_{{system}}')"
    )


def guessed_command(file: FileProfile) -> str:
    """Return a command that reads a file of unknown columns, with its numbers as human scores."""
    may_be: Mapping[str, str] = file.counts.may_be
    numbers = [name for name, what in may_be.items() if what.startswith(("numbers", "score"))]
    if not numbers:
        command = ["steelyard", "convert", "--help"]
        return shlex.join(command)
    return shlex.join(
        ["steelyard", "check", file.name, *file.options, "--column", f"score={numbers[-1]}"]
    )
