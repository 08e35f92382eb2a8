"""Open a file or data frame, whatever its format, as a table."""

import glob
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.tables.column_names import Role, for_role, lookalike, mapped_columns
from steelyard.tables.excel import read_sheet
from steelyard.tables.formats import FileFormat, readable_format
from steelyard.tables.formulas import unguarded_cells
from steelyard.tables.frames import Source, as_lazy
from steelyard.tables.json_arrays import read_array
from steelyard.tables.lines import header_record, malformation, short_lines
from steelyard.tables.locations import Location, located
from steelyard.tables.separators import (
    SEPARATORS,
    best_separator,
    checked_decimal,
    checked_separator,
    decimal_mark,
)
from steelyard.tables.tables import ROW, Table, reading
from steelyard.tables.text import Text, readable_text

__all__ = ["open_table", "renamed"]

# A header has one of these, or no number in it.
_KNOWN = ("item", "system", "output", "rater", "score")
# They hold no numbers, whatever they look like.
_TEXTS = {"item", "system", "output", "input", "reference", "rater", "prompt"}


def open_table(
    source: Source | Table,
    *,
    label: Role,
    contract: Sequence[str],
    columns: Mapping[str, str] | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    is_csv: bool = False,
) -> Table:
    """Open a file or data frame and give its columns our names.

    Parameters
    ----------
    source : path, data frame, list of dicts, or dict of columns
        Parquet files and lazy frames stay unread but for their schema. A table is open already.
    label : {"outputs", "judgments"}
        What the rows are, and are called when the source has no name.
    contract : sequence of str
        Our names of the columns that such rows have or may have.
    columns : mapping, optional
        Our name of a column, to the name it has in the source. One mapping serves outputs and
        judgments: it may name columns that only the other has, and ``outputs:item`` is for outputs
        only.
    separator : str, optional
        What stands between the cells of CSV; if not given, what cuts most columns out of the header.
    decimal : {".", ","}, optional
        What stands before the decimals of numbers in text; if not given, a point, or a comma where the
        numbers leave no doubt.
    is_csv : bool
        Whether it is CSV, whatever it is called.

    Raises
    ------
    InvalidDataError
        If the source cannot be read, is empty, or its columns cannot be renamed.
    """
    if isinstance(source, Table):
        return source
    mark = checked_decimal(decimal)
    if isinstance(source, str | os.PathLike):
        table = _open_file(Path(source), label, contract, separator, is_csv=is_csv)
    else:
        with reading(label):
            rows = as_lazy(source, argument="source").with_row_index(ROW)
            is_lazy = isinstance(source, pl.LazyFrame)
            table = Table(label, rows, rows.collect_schema(), label, is_lazy=is_lazy)
    with reading(table.name):
        is_empty = table.rows.select(ROW).head(1).collect().is_empty()
    if is_empty:
        raise InvalidDataError(f"{table.name}: holds no rows: at least one is needed")
    there = [column for column in table.schema if column != ROW]
    mapped = mapped_columns(table.name, there, contract, for_role(columns, label), label)
    if mark is None and table.has_blank_cells:
        texts = {mapped.get(name, name) for name in _TEXTS}
        numbers = [name for name in there if name not in texts]
        mark, _ = decimal_mark(table.collect(table.rows.select(numbers)))
        if mark == ",":
            said = f"{table.name}: commas stand before the decimals of numbers"
            table = replace(table, notes=(*table.notes, said))
    return renamed(replace(table, decimal=mark), mapped)


def renamed(table: Table, mapped: Mapping[str, str]) -> Table:
    """Return the table with our names, by ours, in place of the user's."""
    ours = {theirs: ours for ours, theirs in mapped.items()}
    there = [column for column in table.schema if column != ROW]
    return replace(
        table,
        rows=table.rows.rename(ours),
        schema=pl.Schema({ours.get(column, column): table.schema[column] for column in there}),
        mapped=mapped,
    )


def _open_file(
    path: Path, label: Role, contract: Sequence[str], separator: str | None, *, is_csv: bool
) -> Table:
    """Open what a path means: a file by its format, a sheet, or Parquet files together."""
    place = located(path)
    name = str(path)
    if place.parts:
        return _open_parts(name, place, label)
    if not place.path.is_file():
        raise InvalidDataError(f"{name}: is not a file")
    with reading(name):
        if place.path.stat().st_size == 0:
            raise InvalidDataError(f"{name}: the file is empty: at least one row is needed")
        file_format = readable_format(place.path, is_csv=is_csv)
        if place.sheet is not None and file_format.kind != "excel":
            raise InvalidDataError(f"{name}: only Excel files have sheets: name {place.path} alone")
        if file_format.kind == "parquet":
            rows = pl.scan_parquet(
                place.path, glob=False, hive_partitioning=False, row_index_name=ROW
            )
            return Table(name, rows, rows.collect_schema(), label, file_format, is_lazy=True)
        file_format, found, text, notes = _rows_of(name, place, file_format, separator, contract)
    found = _unnested(found, contract)
    rows = _records(found.with_row_index(ROW), file_format).lazy()
    return Table(name, rows, found.schema, label, file_format, text=text, notes=notes)


def _rows_of(
    name: str,
    place: Location,
    file_format: FileFormat,
    separator: str | None,
    contract: Sequence[str],
) -> tuple[FileFormat, pl.DataFrame, Text | None, tuple[str, ...]]:
    """Read a file into memory; return its format as it is seen now, its rows, its lines, and notes."""
    if file_format.kind == "excel":
        return file_format, read_sheet(place.path, place.sheet), None, ()
    if file_format.kind == "json":
        found = read_array(place.path)
        if found is not None:
            return file_format, found, None, ()
        file_format = replace(file_format, kind="jsonl")
    text = readable_text(place.path, file_format)
    if file_format.kind == "jsonl":
        return file_format, _read_text(name, text, file_format), text, ()
    file_format, notes = _separated(name, text, file_format, separator, contract)
    found = _read_text(name, text, file_format)
    # a mark at the end of the header alone makes a column without a name
    width = next((n for n in range(found.width, 0, -1) if found.columns[n - 1].strip()), 0)
    return file_format, found, text, notes + _cut_short(name, text, file_format.separator, width)


def _separated(
    name: str, text: Text, file_format: FileFormat, separator: str | None, contract: Sequence[str]
) -> tuple[FileFormat, tuple[str, ...]]:
    """Return the format with what stands between cells, and a note if that is not what the name says."""
    if separator is not None:
        return replace(file_format, separator=checked_separator(separator)), ()
    usual = file_format.separator
    best = best_separator(header_record(text), usual, contract)
    said = f"{name}: the columns are separated by {SEPARATORS[best]}"
    return replace(file_format, separator=best), () if best == usual else (said,)


def _cut_short(name: str, text: Text, separator: str, width: int) -> tuple[str, ...]:
    """Return a note on rows that have fewer cells than the header, whose other cells are blank then."""
    found = short_lines(text, separator, width)
    if found is None:
        return ()
    count, line = found
    words = "row has" if count == 1 else "rows have"
    where = f"fewer cells than the header (first: line {line})"
    return (f"{name}: {count:,} {words} {where}: what is missing counts as blank",)


def _unnested(rows: pl.DataFrame, contract: Sequence[str]) -> pl.DataFrame:
    """Give what stands inside an object a column of its own, called ``outer.inner``."""
    nested = [
        name
        for name, kind in rows.schema.items()
        if isinstance(kind, pl.Struct) and name not in contract
    ]
    for name in nested:
        inner = [one.name for one in rows.schema[name].fields]  # type: ignore[attr-defined]
        cells = [pl.col(name).struct.field(one).alias(f"{name}.{one}") for one in inner]
        if not {f"{name}.{one}" for one in inner} & {*rows.columns}:
            rows = rows.with_columns(cells).drop(name)
    return (
        _unnested(rows, contract) if nested and any(n not in rows.columns for n in nested) else rows
    )


def _records(rows: pl.DataFrame, file_format: FileFormat) -> pl.DataFrame:
    """Leave out blank lines, or lines of separators alone, of a sheet or CSV: they are no records."""
    if file_format.kind not in {"csv", "excel"} or rows.width == 1:
        return rows
    return rows.filter(~pl.all_horizontal(pl.exclude(ROW).is_null()))


def _read_text(name: str, text: Text, file_format: FileFormat) -> pl.DataFrame:
    if file_format.kind == "jsonl":
        try:
            # This reader expands patterns and has no option not to.
            source = glob.escape(str(text)) if isinstance(text, Path) else text
            return pl.read_ndjson(source, infer_schema_length=None)
        except pl.exceptions.PolarsError as error:
            reason = malformation(text, "jsonl")
            if reason is None:
                raise
            raise InvalidDataError(f"{name}, {reason}") from error
    separator = file_format.separator
    try:
        # Types are made by our rules: an identifier 007 is not the number 7.
        rows = pl.read_csv(text, separator=separator, infer_schema=False, glob=False)
    except pl.exceptions.PolarsError as error:
        reason = malformation(text, "csv", separator)
        if reason is None:
            raise
        raise InvalidDataError(f"{name}, {reason}") from error
    _check_header(name, rows.columns)
    return unguarded_cells(rows)


def _check_header(name: str, columns: Sequence[str]) -> None:
    known = [
        one for ours in _KNOWN if (one := lookalike(ours, columns, misspelt=False)) is not None
    ]
    if not known and any(re.fullmatch(r"\s*[+-]?\d+([.,]\d+)?%?\s*", one) for one in columns):
        raise InvalidDataError(
            f"{name}, line 1: expected the names of the columns, got {', '.join(columns)[:60]!r}: put a line such as "
            "item,system,rater,score above it"
        )
    for column in columns:
        # Of the header alone, polars does not say that it is not UTF-8.
        if "\N{REPLACEMENT CHARACTER}" in column or "\x00" in column:
            raise InvalidDataError(
                f"{name}, line 1: the bytes are not UTF-8: save the file as UTF-8"
            )
        twin = re.fullmatch(r"(.*)_duplicated_\d+", column)
        if twin is not None and twin[1] in columns:
            raise InvalidDataError(f"{name}: two columns are named `{twin[1]}`: rename one")


def _open_parts(name: str, place: Location, label: Role) -> Table:
    """Scan Parquet files as one pool, once it is known that they have the same columns."""
    first: pl.Schema | None = None
    for part in place.parts:
        with reading(str(part)):
            schema = pl.read_parquet_schema(part)
        if first is not None and dict(first) != dict(schema):
            other = next(
                column for column in {**first, **schema} if first.get(column) != schema.get(column)
            )
            raise InvalidDataError(
                f"{part}: expected the columns and types of {place.parts[0]}: column `{other}` has "
                f"type {schema.get(other, 'none, as it is missing')} instead of "
                f"{first.get(other, 'none, as it is missing')}"
            )
        first = first or pl.Schema(schema)
    with reading(name):
        rows = pl.scan_parquet(
            list(place.parts), glob=False, hive_partitioning=False, row_index_name=ROW
        )
        return Table(
            name,
            rows,
            rows.collect_schema(),
            label,
            FileFormat("parquet"),
            is_lazy=True,
            parts=place.parts,
        )
