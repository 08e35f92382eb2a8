"""A file that somebody brought, opened by its content as much as by its name."""

import csv
import gzip
import io
import json
import re
import zipfile
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.tables.formulas import unguarded
from steelyard.tables.opening import open_table
from steelyard.tables.tables import ROW

__all__ = ["Document", "open_document"]

Kind = Literal["json", "lines", "table", "zip", "folder"]

# Read by the readers of our own tables.
_BINARY = (".parquet", ".xlsx", ".xls", ".ods", ".zst")


@dataclass(frozen=True, eq=False)
class Document:
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
        The text of a table.
    cells : tuple of dict or None
        Rows that another reader has read already.
    """

    path: Path
    kind: Kind
    value: Any = None
    columns: tuple[str, ...] = ()
    text: str = ""
    cells: tuple[dict[str, Any], ...] | None = None

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Rows of a table by column, with the number of their line under `ROW`."""
        if self.cells is not None:
            return list(self.cells)
        found = []
        for line, cells in _split(self.path, self.text)[1:]:
            if len(cells) > len(self.columns):
                raise InvalidDataError(
                    f"{self.path}, line {line}: expected {len(self.columns)} fields, got {len(cells)}"
                )
            padded = [*map(unguarded, cells), *[""] * (len(self.columns) - len(cells))]
            found.append({**dict(zip(self.columns, padded, strict=True)), ROW: line})
        return found

    @property
    def separator(self) -> str:
        """What stands between the columns of a table."""
        return _separator(self.text)

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

    def frame(self) -> pl.DataFrame:
        """Return a table as a data frame, with `ROW`."""
        return pl.DataFrame(self.rows, infer_schema_length=None, strict=False)


def open_document(path: Path) -> Document:
    """Open a file and find out how it is written.

    Raises
    ------
    InvalidDataError
        If it is not there, is empty, or is none of JSON, JSON Lines, CSV, TSV or ZIP.
    """
    if path.is_dir():
        names = sorted(str(one.relative_to(path)) for one in path.rglob("*") if one.is_file())
        if not names:
            raise InvalidDataError(f"{path}: the folder is empty")
        return Document(path, "folder", columns=tuple(names))
    # a sheet is named after its file: ratings.xlsx#ann
    suffix = Path(path.name.partition("#")[0]).suffix.lower()
    if suffix in _BINARY:
        return _from_table(path)
    if not path.exists():
        raise InvalidDataError(f"{path}: no such file")
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return Document(path, "zip", columns=tuple(archive.namelist()))
    return parsed(path, _text(path))


def parsed(path: Path, content: str) -> Document:
    """Return the document that a text is."""
    if not content.strip():
        raise InvalidDataError(f"{path}: the file is empty")
    if content.lstrip()[0] in "{[":
        try:
            return Document(path, "json", value=json.loads(content))
        except RecursionError as error:
            raise InvalidDataError(f"{path}: the JSON is nested too deeply to be read") from error
        except ValueError as error:
            return _from_lines(path, content, error)
    return _from_csv(path, content)


def _text(path: Path) -> str:
    try:
        body = path.read_bytes()
        if body[:2] == b"\x1f\x8b":
            body = gzip.decompress(body)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidDataError(f"{path}: cannot be read: {error}") from error
    encoding = "utf-16" if body[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        line = body[: error.start].count(b"\n") + 1
        raise InvalidDataError(
            f"{path}, line {line}: the bytes are not UTF-8: save the file as UTF-8"
        ) from error


def _from_lines(path: Path, content: str, whole: ValueError) -> Document:
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
    return Document(path, "lines", value=values)


def _from_csv(path: Path, content: str) -> Document:
    _, header = _split(path, content, only_header=True)[0]
    columns = tuple(name.strip() for name in header)
    for name in columns:
        if columns.count(name) > 1:
            raise InvalidDataError(f"{path}: two columns are named `{name[:40]}`: rename one")
    return Document(path, "table", columns=columns, text=content)


def _separator(content: str) -> str:
    header = next(line for line in content.splitlines() if line.strip())
    return max(",\t;", key=header.count)


def _split(path: Path, content: str, *, only_header: bool = False) -> list[tuple[int, list[str]]]:
    """Return the cells of each row that is not blank, and the line on which it ends."""
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=_separator(content))
    found = []
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                found.append((reader.line_num, cells))
                if only_header:
                    break
    except csv.Error as error:
        raise InvalidDataError(f"{path}: cannot be read as a table: {error}") from error
    if not found:
        raise InvalidDataError(f"{path}: the file is empty")
    return found


def _from_table(path: Path) -> Document:
    table = open_table(path, label="outputs", contract=(), columns=None)
    rows = tuple(table.collect(table.rows).iter_rows(named=True))
    return Document(path, "table", cells=rows, columns=tuple(table.schema))


def _listed(names: Any) -> str:
    shown = [f"`{name[:40]}`" for name in list(names)[:12]]
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return (", ".join(shown) or "none") + more
