"""The outputs to score: a file, or a folder of Parquet files, looked at but not yet read."""

import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.scoring.batches import Batch, open_lines, records, table_batches, text_batches
from steelyard.scoring.work import existing_column, parsed_object
from steelyard.tables.formats import Format, format_of
from steelyard.tables.locations import parquet_files
from steelyard.tables.tables import quoted

__all__ = ["OutputsSource", "open_source", "scored_format"]

# Bytes at either end of a file that are compared to see whether it has changed.
_END = 65_536
# A batch of Parquet takes about so many bytes of its file at most; in memory it takes more.
_MOST_BYTES = 8_000_000


@dataclass(frozen=True)
class OutputsSource:
    """Outputs to score.

    Attributes
    ----------
    path : Path
        The file or folder.
    format : Format
        Its format.
    columns : tuple of str
        Names of its columns; those of the first object in a JSON Lines file.
    header : bytes
        The header of a CSV file; empty for others.
    header_lines : int
        Lines up to the end of the header.
    files : tuple of (Path, int)
        Parquet files with their rows; empty for text files.
    """

    path: Path
    format: Format
    columns: tuple[str, ...]
    header: bytes = b""
    header_lines: int = 0
    files: tuple[tuple[Path, int], ...] = ()

    @property
    def total(self) -> int | None:
        """Position at the end: rows of Parquet, bytes of text; None if it is not told."""
        if self.files:
            return sum(rows for _, rows in self.files)
        return None if self.format.compression == "zstd" else self.path.stat().st_size

    def batches(self, *, batch_rows: int) -> Iterator[Batch]:
        """Cut the outputs into batches, always in the same places."""
        if self.files:
            # long texts make a batch of fewer rows, so that it stays in memory
            size = sum(path.stat().st_size for path, _ in self.files)
            rows = sum(rows for _, rows in self.files)
            fitting = max(1, _MOST_BYTES * rows // size)
            return table_batches(self.files, batch_rows=min(batch_rows, fitting))
        return text_batches(
            self.path, self.format, batch_rows=batch_rows, skipped=self.header_lines
        )

    def fingerprint(self) -> list[dict[str, Any]]:
        """Return what shows that the outputs have changed, a record for each file."""
        return [_fingerprint(path) for path, _ in self.files] or [_fingerprint(self.path)]

    def column(self, name: str, columns: Mapping[str, str], *, reason: str) -> str:
        """Return the user's name of one of our columns.

        Raises
        ------
        InvalidDataError
            If there is no such column; `reason` says what it is needed for.
        """
        theirs = columns.get(name, name)
        if theirs not in self.columns:
            raise InvalidDataError(
                f"{self.path}: no column `{theirs}`, {reason}; the columns are "
                f"{quoted(self.columns)}: say which one it is with --column {name}=YOUR_COLUMN"
            )
        return theirs

    def check_new(self, metrics: Sequence[str]) -> None:
        """Raise if there is a column with the name of a metric."""
        for name in metrics:
            if name in self.columns:
                raise existing_column(name, str(self.path))


def open_source(path: Path) -> OutputsSource:
    """Look at a file, or a folder of Parquet files: its format, columns and size.

    Raises
    ------
    InvalidDataError
        If it is not there, holds no rows, or has columns that cannot be told.
    """
    if path.is_dir():
        return _folder(path)
    if not path.exists():
        raise InvalidDataError(f"{path}: no such file")
    file_format = scored_format(path)
    if file_format.kind == "parquet":
        return _tables(path, [path])
    if file_format.kind == "csv":
        return _csv(path, file_format)
    with open_lines(path, file_format) as (lines, _):
        for number, line in enumerate(lines, start=1):
            text = line.decode(errors="replace").strip()
            if text:
                first = parsed_object(text, place=f"{path}, line {number}")
                return OutputsSource(path, file_format, tuple(first))
    raise InvalidDataError(f"{path}: holds no rows: at least one is needed")


def scored_format(path: Path) -> Format:
    """Return the format of a file to score, or of one to write scores to.

    Raises
    ------
    InvalidDataError
        If its rows cannot be cut into batches where they stand.
    """
    found = format_of(path)
    if found.separator != ",":
        raise InvalidDataError(
            f"{path}: scores are added to .jsonl, .csv and .parquet, not to {path.suffix}: save the "
            "file as .csv"
        )
    return found


def _folder(path: Path) -> OutputsSource:
    return _tables(path, parquet_files(path))


def _tables(path: Path, files: Sequence[Path]) -> OutputsSource:
    found = []
    first: pl.Schema | None = None
    for file in files:
        try:
            rows = pl.scan_parquet(file, glob=False, hive_partitioning=False)
            schema = rows.collect_schema()
            found.append((file, rows.select(pl.len()).collect().item()))
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise InvalidDataError(f"{file}: cannot be read: {reason}") from error
        first = first or schema
        if schema != first:
            raise InvalidDataError(
                f"{file}: expected the columns and types of {files[0]}, got {schema}"
            )
    if not any(rows for _, rows in found):
        raise InvalidDataError(f"{path}: holds no rows: at least one is needed")
    return OutputsSource(path, Format("parquet"), tuple(first or ()), files=tuple(found))


def _csv(path: Path, file_format: Format) -> OutputsSource:
    number = 1
    with open_lines(path, file_format) as (lines, _):
        for record, count in records(lines, "csv", path=path, line=1):
            number += count
            if record.strip():
                names = _names(record, place=f"{path}, line {number - count}")
                header = record if record.endswith(b"\n") else record + b"\n"
                if next(lines, None) is None:
                    break
                return OutputsSource(path, file_format, names, header, number - 1)
    raise InvalidDataError(f"{path}: holds no rows: at least one is needed")


def _names(header: bytes, *, place: str) -> tuple[str, ...]:
    try:
        header.decode()
        cells = pl.read_csv(io.BytesIO(header), has_header=False, infer_schema=False).row(0)
    except (UnicodeDecodeError, pl.exceptions.PolarsError) as error:
        raise InvalidDataError(
            f"{place}: expected the names of columns in UTF-8, separated by commas"
        ) from error
    names = [cell or "" for cell in cells]
    for name in names:
        if names.count(name) > 1:
            raise InvalidDataError(f"{place}: two columns are named `{name}`: rename one")
    return tuple(names)


def _fingerprint(path: Path) -> dict[str, Any]:
    """Path, size, time of the last change, and a digest of both ends."""
    status = path.stat()
    digest = hashlib.sha256()
    with path.open("rb") as file:
        digest.update(file.read(_END))
        file.seek(max(0, status.st_size - _END))
        digest.update(file.read(_END))
    return {
        "path": str(path.resolve()),
        "size": status.st_size,
        "changed": status.st_mtime_ns,
        "ends": digest.hexdigest(),
    }
