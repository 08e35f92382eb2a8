"""New columns beside those of a file, which stay as they are."""

import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.scoring.assembly import join_text
from steelyard.scoring.members import with_members
from steelyard.tables import read_outputs, write_table
from steelyard.tables.formats import format_of
from steelyard.tables.opening import open_table
from steelyard.tables.outputs import OUTPUT_COLUMNS
from steelyard.tables.replacing import writing_failure
from steelyard.tables.tables import ROW, Table
from steelyard.tables.text import unpacked

__all__ = ["write_beside"]


def write_beside(
    outputs: Path,
    target: Path,
    columns: Mapping[str, Sequence[Any]],
    *,
    reading: Mapping[str, Any],
) -> None:
    """Write a file of outputs again, with new columns.

    From JSON Lines to JSON Lines every line stays as it is written, and the new members stand at its
    end. In other formats, values and types stay; in text without types, columns of numbers become
    numbers only if the file to write has types.

    Parameters
    ----------
    outputs : Path
        The file that was read.
    target : Path
        The file to write.
    columns : mapping
        Names and values, one for each row. A column that is there is replaced.
    reading : mapping
        How `read_outputs` was told to read the file.

    Raises
    ------
    InvalidDataError
        If the file cannot be written, or has changed since it was read.
    """
    table = open_table(outputs, label="outputs", contract=OUTPUT_COLUMNS, **reading)
    if format_of(target).kind == "jsonl" and table.text is not None and not table.is_csv:
        _write_lines(_lines(table), target, columns, source=outputs)
        return
    rows = table.collect(table.rows).drop(ROW)
    if table.has_blank_cells and format_of(target).kind != "csv":
        others = [name for name in rows.columns if name not in OUTPUT_COLUMNS]
        typed = read_outputs(outputs, **reading).rows(columns=others) if others else rows
        rows = rows.with_columns(typed[name] for name in others)
    rows = rows.rename(dict(table.mapped))
    _check(rows.height, columns, outputs)
    write_table(rows.with_columns(_series(name, found) for name, found in columns.items()), target)


def _lines(table: Table) -> list[str]:
    text, form = table.text, table.format
    assert text is not None
    assert form is not None
    content = unpacked(text, form) if isinstance(text, Path) else text
    return [line for line in content.decode().split("\n") if line.strip()]


def _write_lines(
    lines: Sequence[str], target: Path, columns: Mapping[str, Sequence[Any]], *, source: Path
) -> None:
    _check(len(lines), columns, source)
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            for line, values in zip(lines, zip(*columns.values(), strict=True), strict=True):
                file.write(f"{with_members(line, dict(zip(columns, values, strict=True)))}\n")
        join_text([part], target, columns=(), compression=format_of(target).compression)
    except OSError as error:
        raise InvalidDataError(f"{target}: cannot be written: {writing_failure(error)}") from error
    finally:
        part.unlink(missing_ok=True)


def _series(name: str, values: Sequence[Any]) -> pl.Series:
    is_text = any(isinstance(value, str) for value in values) or name.endswith(
        (".reason", ".explanation")
    )
    return pl.Series(name, values, dtype=pl.String if is_text else pl.Float64)


def _check(height: int, columns: Mapping[str, Sequence[Any]], source: Path) -> None:
    if any(len(values) != height for values in columns.values()):
        raise InvalidDataError(f"{source}: changed while it was judged: run the same command again")
