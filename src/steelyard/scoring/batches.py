"""Batches: the parts of a file that are scored, and kept, one at a time.

A file is always cut in the same places, so that a batch that was finished once need not be
scored again.
"""

import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.tables.formats import Format, FormatKind

__all__ = [
    "Batch",
    "TableBatch",
    "TextBatch",
    "open_lines",
    "record_lines",
    "records",
    "table_batches",
    "text_batches",
]

# A batch of long texts ends here even if it has few rows, so that it stays in memory.
_MOST_BYTES = 16_000_000
# No field of a CSV file is that long: a quotation mark was not closed.
_LONGEST_RECORD = 64_000_000


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Lines of a text file.

    Attributes
    ----------
    index : int
        Its place among the batches, from 0.
    line : int
        Number of its first line, from 1.
    data : bytes
        The lines, with their ends.
    position : int or None
        Where the batch ends in the file, in bytes; None if that is not known.
    """

    index: int
    line: int
    data: bytes = field(repr=False)
    position: int | None


@dataclass(frozen=True, slots=True)
class TableBatch:
    """Rows of a Parquet file; whoever scores them reads them.

    Attributes
    ----------
    index : int
        Its place among the batches, from 0.
    path : Path
        The file.
    offset, rows : int
        The rows before it in the file, and its own.
    position : int
        Rows up to its end, over all files.
    """

    index: int
    path: Path
    offset: int
    rows: int
    position: int


Batch = TextBatch | TableBatch


def table_batches(files: Sequence[tuple[Path, int]], *, batch_rows: int) -> Iterator[TableBatch]:
    """Cut Parquet files into batches.

    Parameters
    ----------
    files : sequence of (path, number of rows)
        The files, in order.
    batch_rows : int
        Most rows in a batch.

    Examples
    --------
    >>> [(batch.index, batch.offset, batch.rows, batch.position)
    ...  for batch in table_batches([(Path("a"), 3), (Path("b"), 2)], batch_rows=2)]
    [(0, 0, 2, 2), (1, 2, 1, 3), (2, 0, 2, 5)]
    """
    index = position = 0
    for path, height in files:
        for offset in range(0, height, batch_rows):
            rows = min(batch_rows, height - offset)
            position += rows
            yield TableBatch(index, path, offset, rows, position)
            index += 1


def text_batches(
    path: Path, file_format: Format, *, batch_rows: int, skipped: int = 0
) -> Iterator[TextBatch]:
    """Cut a JSON Lines or CSV file into batches, reading no more than one at a time.

    Parameters
    ----------
    path : Path
        The file.
    file_format : Format
        Its format.
    batch_rows : int
        Most records in a batch.
    skipped : int
        Lines at the beginning that are no records: the header of a CSV file.

    Raises
    ------
    InvalidDataError
        If the file cannot be read.
    """
    with open_lines(path, file_format) as (lines, position):
        for _ in range(skipped):
            next(lines, b"")
        first = line = skipped + 1
        index = size = rows = 0
        pieces: list[bytes] = []
        for record, count in records(lines, file_format.kind, path=path, line=line):
            pieces.append(record)
            line += count
            size += len(record)
            rows += 1
            if rows == batch_rows or size >= _MOST_BYTES:
                yield TextBatch(index, first, b"".join(pieces), position())
                index, first, size, rows, pieces = index + 1, line, 0, 0, []
        if pieces:
            yield TextBatch(index, first, b"".join(pieces), position())


def record_lines(data: bytes, kind: FormatKind) -> list[int]:
    r"""Return the line, from 0, on which each record of a batch starts.

    Examples
    --------
    >>> record_lines(b'1,"one\ntwo"\n2,three\n', "csv")
    [0, 2]
    """
    starts, line = [], 0
    for _, count in records(io.BytesIO(data), kind, path=Path(), line=0):
        starts.append(line)
        line += count
    return starts


def records(
    lines: Iterable[bytes], kind: FormatKind, *, path: Path, line: int
) -> Iterator[tuple[bytes, int]]:
    """Yield records with the number of their lines: in CSV, none ends inside quotes.

    Parameters
    ----------
    lines : iterable of bytes
        Lines with their ends.
    kind : {"jsonl", "csv"}
        Their format.
    path, line : Path and int
        The file and its line that comes first, for messages.

    Raises
    ------
    InvalidDataError
        If a quotation mark is never closed.
    """
    if kind == "jsonl":
        for one in lines:
            yield one, 1
        return
    parts: list[bytes] = []
    size = 0
    is_open = False
    for one in lines:
        parts.append(one)
        size += len(one)
        is_open ^= one.count(b'"') % 2 == 1
        if is_open and size > _LONGEST_RECORD:
            break
        if not is_open:
            yield b"".join(parts), len(parts)
            line += len(parts)
            parts, size = [], 0
    if parts:
        raise InvalidDataError(
            f"{path}, line {line}: a quotation mark opens here and never closes: "
            "put the field in quotation marks and double those inside it"
        )


@contextmanager
def open_lines(
    path: Path, file_format: Format
) -> Iterator[tuple[Iterator[bytes], Callable[[], int | None]]]:
    """Open a text file: its lines, and a function that tells how many of its bytes are read.

    Raises
    ------
    InvalidDataError
        If the file cannot be read.
    """
    try:
        if file_format.compression == "zstd":
            yield _unpacked_lines(path), lambda: None
            return
        with path.open("rb") as raw:
            packed = file_format.compression == "gzip"
            yield iter(gzip.GzipFile(fileobj=raw) if packed else raw), raw.tell
    except (OSError, EOFError, zlib.error, pl.exceptions.PolarsError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InvalidDataError(f"{path}: cannot be read: {reason}") from error


def _unpacked_lines(path: Path) -> Iterator[bytes]:
    # Python cannot read Zstandard before 3.14; polars can.
    for batch in pl.scan_lines(path, glob=False).collect_batches(maintain_order=True):
        for line in batch["line"]:
            yield line.encode() + b"\n"
