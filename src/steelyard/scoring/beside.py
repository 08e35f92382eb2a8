"""New columns beside those of a file, which stay as they are."""

import gzip
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.scoring.members import json_text, with_members
from steelyard.tables import write_table
from steelyard.tables.formats import Compression, format_of
from steelyard.tables.metric_columns import with_numbers
from steelyard.tables.replacing import replacing
from steelyard.tables.rules import references
from steelyard.tables.tables import ROW, Table
from steelyard.tables.text import unpacked

__all__ = ["write_beside"]


def write_beside(table: Table, target: Path, columns: pl.DataFrame) -> None:
    """Write a file of outputs again, with new columns.

    From JSON Lines to JSON Lines every line stays as it is written, and the new members stand at its
    end. In other formats, values and types stay; in text without types, columns of numbers become
    numbers only if the file to write has types.

    Parameters
    ----------
    table : Table
        The file as it was opened.
    target : Path
        The file to write.
    columns : polars.DataFrame
        The new columns. One that is there is replaced.

    Raises
    ------
    InvalidDataError
        If the file cannot be written, or has changed since it was read.
    """
    target_format = format_of(target)
    is_lines = table.text is not None and not table.is_csv
    if is_lines and target_format.kind == "jsonl":
        with replacing(target) as temporary:
            _write_lines(_lines(table, columns), temporary, target_format.compression)
        return
    if table.has_blank_cells and target_format.kind != "csv":
        table = _typed(table)
    rows = table.rows.drop(ROW).rename(dict(table.mapped))
    others = rows.drop(set(columns.columns) & {*rows.collect_schema()})
    order = dict.fromkeys([*rows.collect_schema(), *columns.columns])
    write_table(pl.concat([others, columns.lazy()], how="horizontal").select(*order), target)


def _typed(table: Table) -> Table:
    """Return a sheet or CSV with numbers as numbers, and lists of references as lists."""
    table = with_numbers(table)
    if "reference" not in table.schema:
        return table
    rows = table.collect(table.rows)
    lists = rows.select(references(table, "reference").value).to_series()
    cell = rows["reference"].cast(pl.String)
    if ((lists.list.len() == 0) | ((lists.list.len() == 1) & (lists.list.first() == cell))).all():
        return table
    return Table(
        table.name, rows.with_columns(lists).lazy(), table.schema, table.role, mapped=table.mapped
    )


def _lines(table: Table, columns: pl.DataFrame) -> Iterator[str]:
    """Yield the lines of a file with new members."""
    is_new = not {*columns.columns} & {*table.schema}
    names = [json_text(name) for name in columns.columns]
    values = columns.iter_rows()
    for line in _own_lines(table):
        row = next(values, None)
        if row is None:
            raise _changed(table)
        if is_new:
            cells = (repr(cell) if isinstance(cell, float) else json_text(cell) for cell in row)
            added = ", ".join(f"{name}: {cell}" for name, cell in zip(names, cells, strict=True))
            yield f"{line[:-1].rstrip()}, {added}}}\n"
        else:
            yield f"{with_members(line, dict(zip(columns.columns, row, strict=True)))}\n"
    if next(values, None) is not None:
        raise _changed(table)


def _own_lines(table: Table) -> Iterator[str]:
    """Yield the lines that are not blank, as they are written."""
    content = table.text
    assert content is not None
    assert table.format is not None
    if isinstance(content, Path) and table.format.compression == "uncompressed":
        opened: IO[bytes] = content.open("rb")
    else:
        data = unpacked(content, table.format) if isinstance(content, Path) else content
        opened = io.BytesIO(data)
    with opened as file:
        for line in file:
            text = line.decode().strip()
            if text:
                yield text


def _write_lines(lines: Iterator[str], path: Path, compression: Compression) -> None:
    if compression == "zstd":
        # Python cannot write Zstandard before 3.14; polars can.
        cells = pl.LazyFrame({"line": [line.removesuffix("\n") for line in lines]})
        cells.sink_csv(
            path,
            include_header=False,
            quote_style="never",
            compression="zstd",
            check_extension=False,
        )
        return
    with path.open("wb") as raw:
        out = _packing(raw) if compression == "gzip" else raw
        out.writelines(line.encode() for line in lines)
        if out is not raw:
            out.close()
        raw.flush()
        os.fsync(raw.fileno())


def _packing(raw: IO[bytes]) -> IO[bytes]:
    """Pack what is written; without name and time in it, the same rows are the same file."""
    return cast("IO[bytes]", gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0))


def _changed(table: Table) -> InvalidDataError:
    return InvalidDataError(f"{table.name}: changed while it was read: run the same command again")
