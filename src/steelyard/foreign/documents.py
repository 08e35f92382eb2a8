"""A file that somebody brought, opened by its content as much as by its name."""

import json
import re
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.tables.formats import readable_format
from steelyard.tables.opening import open_table
from steelyard.tables.rules import typed
from steelyard.tables.separators import best_separator
from steelyard.tables.tables import ROW, Table
from steelyard.tables.text import decoded

__all__ = ["ToolFile", "open_document"]

FileKind = Literal["json", "lines", "table", "zip", "folder"]

# Read by the readers of our own tables.
_BINARY = (".parquet", ".xlsx", ".xls", ".ods", ".zst")


@dataclass(frozen=True, eq=False)
class ToolFile:
    """A file or folder, and what it holds.

    Attributes
    ----------
    path : Path
        As the user named it.
    kind : {"json", "lines", "table", "zip", "folder"}
        One JSON value; JSON values on lines; rows under a header; an archive; a folder.
    value : object
        The JSON value, or the list of those on lines.
    columns : tuple of str
        The header of a table, or the names in an archive or folder.
    text : str
        The text of a table, where it has one.
    table : Table or None
        The rows of a table, as our own reader reads them.
    refusal : InvalidDataError or None
        Why it does not read them.
    """

    path: Path
    kind: FileKind
    value: Any = None
    columns: tuple[str, ...] = ()
    text: str = ""
    table: Table | None = None
    refusal: InvalidDataError | None = None

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Rows of a table by column; cells that are empty in CSV are empty texts."""
        if self.table is None:
            raise self.refusal or InvalidDataError(f"{self.path}: holds no table")
        rows = self.table.collect(self.table.rows.drop(ROW))
        if self.table.decimal == ",":
            rows = rows.with_columns(
                typed(rows[name], ",") for name in rows.columns if rows.schema[name] == pl.String
            )
        return (rows.fill_null("") if self.table.is_csv else rows).to_dicts()

    def place(self, position: int) -> str:
        """Say where a record stands, counted from 0."""
        if self.table is None:
            return f"record {position + 1}"
        return self.table.where(self.table.collect(self.table.rows.select(ROW))[ROW][position])[0]

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """The objects of a list, of lines, or of a table; a lone object is one record."""
        if self.kind == "table":
            return self.rows
        if isinstance(self.value, dict):
            return [self.value]
        return [one for one in self.value or () if isinstance(one, dict)]

    @property
    def first(self) -> dict[str, Any]:
        """The first record, empty if there is none; of a table its columns, without cells."""
        if self.kind == "table":
            return dict.fromkeys(self.columns, "")
        return self.records[0] if self.records else {}

    def has(self, *keys: str) -> bool:
        """Whether the first record, or the header, has all of these keys."""
        return all(key in self.first for key in keys)

    @property
    def contents(self) -> str:
        """What the file has, in one line, for whoever must say what it is."""
        if self.kind == "table" and len(self.columns) == 1:
            return f"a text that starts with {self.columns[0][:60]!r}"
        if self.kind == "table":
            return f"a table with the columns {_listed(self.columns)}"
        if self.kind in ("zip", "folder"):
            what = "an archive" if self.kind == "zip" else "a folder"
            return f"{what} with {_listed(self.columns)}"
        if isinstance(self.value, dict):
            return f"a JSON object with the keys {_listed(self.value)}"
        if not self.records:
            return "JSON without objects"
        what = "JSON Lines of" if self.kind == "lines" else "a JSON list of"
        return f"{what} objects with the keys {_listed(self.first)}"


def open_document(
    path: Path, *, separator: str | None = None, decimal: str | None = None
) -> ToolFile:
    """Open a file and find out how it is written.

    Parameters
    ----------
    path : Path
        The file or folder.
    separator, decimal : str, optional
        What stands between the cells of CSV, and before decimals, if it is not seen.

    Raises
    ------
    InvalidDataError
        If it is not there, is empty, or is none of JSON, JSON Lines, CSV, TSV or ZIP.
    """
    if path.is_dir():
        names = sorted(str(one.relative_to(path)) for one in path.rglob("*") if one.is_file())
        if not names:
            raise InvalidDataError(f"{path}: the folder is empty")
        return ToolFile(path, "folder", columns=tuple(names))
    # a sheet is named after its file: ratings.xlsx#ann
    suffix = Path(path.name.partition("#")[0]).suffix.lower()
    if suffix in _BINARY:
        return _of_table(path, separator, decimal, "")
    if not path.exists():
        raise InvalidDataError(f"{path}: no such file")
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return ToolFile(path, "zip", columns=tuple(archive.namelist()))
    readable_format(path, is_csv=True)  # refuses pickles by name
    content = decoded(path)
    if not content.strip():
        raise InvalidDataError(f"{path}: the file is empty")
    if content.lstrip()[0] not in "{[":
        return _of_table(path, separator, decimal, content)
    try:
        return ToolFile(path, "json", value=json.loads(content))
    except RecursionError as error:
        raise InvalidDataError(f"{path}: the JSON is nested too deeply to be read") from error
    except ValueError as error:
        return _from_lines(path, content, error)


def _of_table(path: Path, separator: str | None, decimal: str | None, text: str) -> ToolFile:
    try:
        table = open_table(
            path,
            label="outputs",
            contract=(),
            separator=separator,
            decimal=decimal,
            is_csv=bool(text),
        )
    except InvalidDataError as error:
        if not text or ", line " not in str(error) or ", line 1:" in str(error):
            raise
        # rows that are no CSV: a format may read the text in its own way
        header = next(line for line in text.splitlines() if line.strip())
        columns = tuple(header.split(best_separator(header, ",", ())))
        return ToolFile(path, "table", columns=columns, text=text, refusal=error)
    return ToolFile(path, "table", columns=tuple(table.schema), text=text, table=table)


def _from_lines(path: Path, content: str, whole: ValueError) -> ToolFile:
    """Read JSON Lines; what fails on its first line is taken for one JSON value."""
    values: list[Any] = []
    # not at U+2028 and the like, which may stand in a text as they are
    for line_number, line in enumerate(re.split(r"\r\n|\n|\r", content), start=1):
        if not line.strip():
            continue
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            reason = error if values else whole
            where = f", line {line_number}" if values else ""
            raise InvalidDataError(f"{path}{where}: malformed JSON: {reason}") from error
    return ToolFile(path, "lines", value=values)


def _listed(names: Any) -> str:
    shown = [f"`{name[:40]}`" for name in list(names)[:12]]
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return (", ".join(shown) or "none") + more
