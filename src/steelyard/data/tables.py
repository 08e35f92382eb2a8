"""Rows as people brought them, under our column names, and where each of them stands."""

import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import polars as pl

from steelyard.data.formats import Format, format_of
from steelyard.data.lines import line_numbers, malformation
from steelyard.errors import InvalidArgumentError, InvalidDataError

__all__ = ["ROW", "ArrowStream", "Source", "Table", "as_lazy", "open_table", "quoted", "shown"]

# Counts rows from 0 as they were brought, whatever is filtered out later.
ROW = "__row__"


@runtime_checkable
class ArrowStream(Protocol):
    """A table of any library that speaks the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the table as a stream of record batches."""


Source = str | os.PathLike[str] | pl.DataFrame | pl.LazyFrame | ArrowStream


@dataclass(frozen=True, eq=False)
class Table:
    """Rows as they were brought, under our column names.

    Attributes
    ----------
    name : str
        The file as the user named it, or what a data frame holds.
    rows : polars.LazyFrame
        The raw values, and `ROW`.
    schema : polars.Schema
        Raw types, without `ROW`.
    path : Path or None
        The file; None for a data frame.
    format : Format or None
        Its format; None for a data frame.
    mapped : mapping
        The user's name of each column that was renamed.
    is_lazy : bool
        Whether rows stay on disk until asked for.
    """

    name: str
    rows: pl.LazyFrame
    schema: pl.Schema
    path: Path | None
    format: Format | None
    mapped: Mapping[str, str]
    is_lazy: bool

    def collect(self, query: pl.LazyFrame) -> pl.DataFrame:
        """Run a query on the rows in a stream, so that memory is bounded by its result."""
        with _reading(self.name):
            return query.collect(engine="streaming")

    def batches(self, query: pl.LazyFrame) -> Iterator[pl.DataFrame]:
        """Run a query on the rows and hand its result out in parts, in order."""
        with _reading(self.name):
            yield from query.collect_batches(maintain_order=True, engine="streaming")

    def where(self, *rows: int) -> list[str]:
        """Say where rows stand: ``line 7`` of a text file, ``row 6`` (from 1) of another."""
        if self.path is None or self.format is None or not self.format.is_text:
            return [f"row {row + 1}" for row in rows]
        return [f"line {number}" for number in line_numbers(self.path, self.format.kind, rows)]

    def cell_error(self, row: int, column: str, expected: str) -> InvalidDataError:
        """Name the cell that is not what it should be."""
        cell = self.collect(self.rows.filter(pl.col(ROW) == row).select(column)).item()
        return InvalidDataError(
            f"{self.name}, {self.where(row)[0]}, column {self.column(column)}: "
            f"expected {expected}, got {shown(cell)}"
        )

    def type_error(self, column: str, expected: str) -> InvalidDataError:
        """Name the column whose type cannot be what it should be."""
        return InvalidDataError(
            f"{self.name}, column {self.column(column)}: "
            f"expected {expected}, got values of type {self.schema[column]}"
        )

    def column(self, name: str) -> str:
        """Return the user's name of one of our columns."""
        return self.mapped.get(name, name)

    def require(self, columns: Sequence[str]) -> None:
        """Raise unless every one of the columns is there."""
        for column in columns:
            if column not in self.schema:
                raise InvalidDataError(
                    f"{self.name}: no column `{column}`; the columns are {quoted(self.schema)}: "
                    f"say which one it is with --column {column}=YOUR_COLUMN "
                    f"(in Python: columns={{'{column}': 'YOUR_COLUMN'}})"
                )


def open_table(
    source: Source, *, label: str, contract: Sequence[str], columns: Mapping[str, str] | None
) -> Table:
    """Open a file or data frame and give its columns our names.

    Parameters
    ----------
    source : path, polars frame, or Arrow table
        A Parquet file and a lazy frame stay unread but for their schema.
    label : str
        What the rows are called when the source has no name of its own.
    contract : sequence of str
        Our names of the columns that such rows have or may have.
    columns : mapping, optional
        Our name of a column, to the name it has in the source. One mapping serves outputs and
        judgments: it may name columns that only the other has.

    Raises
    ------
    InvalidDataError
        If the source cannot be read, is empty, or its columns cannot be renamed.
    """
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    file_format = None if path is None else _checked_format(path)
    name = label if path is None else str(path)
    is_lazy = isinstance(source, pl.LazyFrame) or (
        file_format is not None and file_format.kind == "parquet"
    )
    with _reading(name):
        if path is not None and file_format is not None:
            rows = _scan(path, file_format)
        else:
            rows = as_lazy(source, argument="source").with_row_index(ROW)
        schema = rows.collect_schema()
        is_empty = rows.select(ROW).head(1).collect().is_empty()
    if is_empty:
        raise InvalidDataError(f"{name}: holds no rows: at least one is needed")
    there = [column for column in schema if column != ROW]
    mapped = _mapped(name, there, contract, columns or {})
    ours = {theirs: ours for ours, theirs in mapped.items()}
    return Table(
        name=name,
        rows=rows.rename(ours),
        schema=pl.Schema({ours.get(column, column): schema[column] for column in there}),
        path=path,
        format=file_format,
        mapped=mapped,
        is_lazy=is_lazy,
    )


def as_lazy(frame: object, *, argument: str) -> pl.LazyFrame:
    """Return a data frame of any library, passed as `argument`, as a lazy frame of polars.

    Raises
    ------
    InvalidArgumentError
        If it is no data frame.
    InvalidDataError
        If its library cannot export it, e.g. because a column mixes types.
    """
    if isinstance(frame, pl.LazyFrame):
        return frame
    if isinstance(frame, pl.DataFrame):
        return frame.lazy()
    if not isinstance(frame, ArrowStream):
        raise InvalidArgumentError(
            f"`{argument}` must be a path or a data frame with the Arrow PyCapsule interface "
            f"(pandas, polars, pyarrow, duckdb ...); got {type(frame).__name__}"
        )
    try:
        return pl.DataFrame(frame).lazy()
    except (TypeError, ValueError, ImportError) as error:
        raise InvalidDataError(f"`{argument}` cannot be read as an Arrow table: {error}") from error


def quoted(names: Sequence[str] | Mapping[str, Any]) -> str:
    """Return names in backticks, separated by commas."""
    return ", ".join(f"`{name}`" for name in names) or "none"


def shown(value: object) -> str:
    """Return a cell as an error shows it: short, and text in quotation marks."""
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turn what a file can do wrong while it is read into one line that names it."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        lines = str(error).splitlines() or [type(error).__name__]
        raise InvalidDataError(f"{name}: cannot be read: {lines[0]}") from error


def _checked_format(path: Path) -> Format:
    if path.is_dir():
        raise InvalidDataError(f"{path}: is a folder: name the file in it")
    if not path.exists():
        raise InvalidDataError(f"{path}: no such file")
    file_format = format_of(path)
    if path.stat().st_size == 0:
        raise InvalidDataError(f"{path}: the file is empty: at least one row is needed")
    return file_format


def _scan(path: Path, file_format: Format) -> pl.LazyFrame:
    if file_format.kind == "parquet":
        return pl.scan_parquet(path, glob=False, hive_partitioning=False, row_index_name=ROW)
    try:
        if file_format.kind == "jsonl":
            # This reader expands patterns and has no option not to.
            rows = pl.read_ndjson(glob.escape(str(path)), infer_schema_length=None)
            return rows.with_row_index(ROW).lazy()
        # Types are made by our rules: an identifier 007 is not the number 7.
        rows = pl.read_csv(path, infer_schema=False, glob=False)
    except pl.exceptions.PolarsError as error:
        reason = malformation(path, file_format.kind)
        if reason is None:
            raise
        raise InvalidDataError(f"{path}, {reason}") from error
    for column in rows.columns:
        # Of the header alone, polars does not say that it is not UTF-8.
        if "\N{REPLACEMENT CHARACTER}" in column:
            raise InvalidDataError(
                f"{path}, line 1: the bytes are not UTF-8: save the file as UTF-8"
            )
        twin = re.fullmatch(r"(.*)_duplicated_\d+", column)
        if twin is not None and twin[1] in rows.columns:
            raise InvalidDataError(f"{path}: two columns are named `{twin[1]}`: rename one")
    # A blank line, or one of commas alone, is no record.
    is_record = ~pl.all_horizontal(pl.exclude(ROW).is_null())
    return rows.with_row_index(ROW).filter(is_record).lazy()


def _mapped(
    name: str, there: Sequence[str], contract: Sequence[str], columns: Mapping[str, str]
) -> dict[str, str]:
    """Return the part of `columns` that concerns this source, checked."""
    mapped = {ours: theirs for ours, theirs in columns.items() if theirs in there}
    for ours, theirs in columns.items():
        if theirs not in there and ours not in there and ours in contract:
            raise InvalidDataError(
                f"{name}: no column `{theirs}` to use as `{ours}`; the columns are {quoted(there)}"
            )
        if list(columns.values()).count(theirs) > 1:
            raise InvalidArgumentError(
                f"`columns` must use each column once; got `{theirs}` for "
                f"{quoted([ours for ours, used in columns.items() if used == theirs])}"
            )
        if ours in mapped and ours in there and ours not in mapped.values():
            raise InvalidDataError(
                f"{name}: `{theirs}` cannot be used as `{ours}`, because there is a column "
                f"`{ours}` already: rename that one too, e.g. --column old_{ours}={ours}"
            )
    return mapped
