"""Rows as people brought them, under our column names, and where each of them stands."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.tables.column_names import Role, missing_columns, quoted
from steelyard.tables.formats import FileFormat, TextKind
from steelyard.tables.lines import line_numbers
from steelyard.tables.separators import Decimal
from steelyard.tables.text import Text

__all__ = ["ROW", "Table", "quoted", "reading", "shown"]

# Counts rows from 0 as they were brought, whatever is filtered out later.
ROW = "__row__"


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
    role : {"outputs", "judgments"}
        What the rows are.
    format : FileFormat or None
        The format of the file; None for a data frame.
    mapped : mapping
        The user's name of each column that was renamed.
    is_lazy : bool
        Whether rows stay on disk until asked for.
    decimal : str or None
        What stands before the decimals in texts that are numbers; None if nobody said so.
    notes : tuple of str
        What was seen of how the file is written.
    human : tuple of str
        The columns of human scores of one table.
    text : Path, bytes or None
        What the lines of a text file are counted in.
    parts : tuple of Path
        The Parquet files of a folder or pattern.
    left_out : tuple of str
        Systems that were there and left out, as asked.
    """

    name: str
    rows: pl.LazyFrame
    schema: pl.Schema
    role: Role
    format: FileFormat | None = None
    mapped: Mapping[str, str] = field(default_factory=dict)
    is_lazy: bool = False
    decimal: Decimal | None = None
    text: Text | None = None
    parts: tuple[Path, ...] = ()
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    human: tuple[str, ...] = ()

    def collect(self, query: pl.LazyFrame) -> pl.DataFrame:
        """Run a query on the rows in a stream, so that memory is bounded by its result."""
        with reading(self.name):
            return query.collect(engine="streaming")

    def batches(self, query: pl.LazyFrame) -> Iterator[pl.DataFrame]:
        """Run a query on the rows and hand its result out in parts, in order."""
        with reading(self.name):
            yield from query.collect_batches(maintain_order=True, engine="streaming")

    def where(self, *rows: int) -> list[str]:
        """Say where rows stand: ``line 7`` of a text file, ``row 6`` (from 1) of another."""
        if self.parts:
            return _rows_of_parts(self.parts, rows)
        if self.format is not None and self.format.kind == "excel":
            return [f"row {row + 1} below the header" for row in rows]
        if self.format is None or self.text is None:
            return [f"row {row + 1}" for row in rows]
        return [f"line {number}" for number in line_numbers(self.text, self.text_kind, rows)]

    @property
    def text_kind(self) -> TextKind:
        """Which of the formats that have lines this is."""
        return "csv" if self.is_csv else "jsonl"

    @property
    def has_blank_cells(self) -> bool:
        """Whether an empty cell may be an empty text: a sheet and CSV do not tell them apart."""
        return self.format is not None and self.format.kind in {"csv", "excel"}

    @property
    def is_csv(self) -> bool:
        """Whether all cells come as text, whatever they hold."""
        return self.format is not None and self.format.kind == "csv"

    def cell_error(self, row: int, column: str, expected: str) -> InvalidDataError:
        """Name the cell that is not what it should be."""
        # a row of one table may be there once for each rater
        cell = self.collect(self.rows.filter(pl.col(ROW) == row).select(column).head(1)).item()
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

    def conversion(self, *options: str) -> str:
        """Return the command that writes the file anew, read with these options."""
        name = self.name if self.format is not None else f"{self.role.upper()}.csv"
        said = [("--column", f"{ours}={theirs}") for ours, theirs in self.mapped.items()]
        said += [("--column", f"score={one}") for one in self.human]
        given = [part for pair in said for part in pair]
        command = ["steelyard", "convert", "--from", "own", name, *given, *options]
        return shlex.join([*command, "-o", "converted"])

    def column(self, name: str) -> str:
        """Return the user's name of one of our columns."""
        return self.mapped.get(name, name)

    def require(self, columns: Sequence[str]) -> None:
        """Raise unless every one of the columns is there."""
        missing = [column for column in columns if column not in self.schema]
        if missing:
            raise missing_columns(self.name, list(self.schema), missing, columns)


def shown(value: object) -> str:
    """Return a cell as an error shows it: short, and text in quotation marks."""
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what a file can do wrong while it is read into one line that names it."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        lines = str(error).splitlines() or [type(error).__name__]
        raise InvalidDataError(f"{name}: cannot be read: {lines[0]}") from error


def _rows_of_parts(parts: Sequence[Path], rows: Sequence[int]) -> list[str]:
    """Name rows, counted over all parts, by their part and from 1 in it."""
    sizes = [pl.scan_parquet(part, glob=False).select(pl.len()).collect().item() for part in parts]
    ends = list(accumulate(sizes))
    places = []
    for row in rows:
        number = next(place for place, end in enumerate(ends) if row < end)
        places.append(f"row {row - ends[number] + sizes[number] + 1} of {parts[number].name}")
    return places
