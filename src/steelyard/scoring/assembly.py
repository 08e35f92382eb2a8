"""The parts become one file, or one folder of files."""

import glob
import gzip
import os
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.scoring.examples import reference_texts
from steelyard.scoring.parts import LOCK, MANIFEST, Parts
from steelyard.scoring.processes import in_another_process
from steelyard.tables.formats import Compression, FormatKind
from steelyard.tables.lines import malformation
from steelyard.tables.replacing import replacing
from steelyard.tables.rules import typed

__all__ = ["as_table", "assemble_folder", "join_text", "write_parquet"]

# A row group of a Parquet file takes about so many bytes of memory: several are under way at once.
_GROUP_BYTES = 4_000_000
# Rows from whose size in memory that of all is inferred.
_FIRST_ROWS = 1000


def as_table(
    parts: Sequence[Path],
    *,
    kind: FormatKind,
    columns: Sequence[str],
    texts: Collection[str],
    reference: str,
    source: Path,
) -> pl.LazyFrame:
    """Return the rows of all parts, in order, as a table that stays on disk.

    Parameters
    ----------
    parts : sequence of Path
        The parts.
    kind : {"jsonl", "csv", "parquet"}
        Their format.
    columns : sequence of str
        Names of the columns of CSV parts, which have no header.
    texts : collection of str
        Columns of CSV parts that stay text; others become numbers where all cells are numbers.
    reference : str
        Column of CSV parts whose cells may be lists of texts, written as JSON.
    source : Path
        Where the rows come from, for messages.

    Raises
    ------
    InvalidDataError
        If the rows do not fit into one table.
    """
    if kind == "jsonl":
        return _objects(parts, source)
    if kind == "csv":
        parts = _typed_tables(parts, columns, texts, reference)
    return _scan(parts)


def join_text(
    parts: Sequence[Path], target: Path, *, columns: Sequence[str], compression: Compression
) -> None:
    """Write parts of text one after the other as they are, whole or not at all.

    Parameters
    ----------
    parts : sequence of Path
        JSON Lines or CSV parts.
    target : Path
        The file.
    columns : sequence of str
        The header of a CSV file; empty for JSON Lines.
    compression : {"uncompressed", "gzip", "zstd"}
        How the file is compressed.

    Raises
    ------
    InvalidDataError
        If the file cannot be written.
    """
    with replacing(target) as temporary:
        if compression == "zstd":
            _pack(parts, temporary, columns)
        else:
            header = pl.DataFrame(schema=list(columns)).write_csv().encode() if columns else b""
            with temporary.open("wb") as raw:
                _copy(parts, raw, header=header, compression=compression)
                raw.flush()
                os.fsync(raw.fileno())


def write_parquet(rows: pl.LazyFrame, target: Path, *, apart: bool) -> None:
    """Write a table that is on disk as Parquet, whole or not at all.

    Row groups are held in memory until they are written, and so are made no larger than some
    megabytes there; on disk they are smaller still. What is told of each at the end of the file
    is held too, so that they must not be too small either.

    Parameters
    ----------
    rows : LazyFrame
        The rows.
    target : Path
        The file.
    apart : bool
        Whether to write in a process of its own, with one thread. Each thread takes rows in
        advance, and does not write the faster for it.

    Raises
    ------
    InvalidDataError
        If the file cannot be written.
    ChildProcessError
        If the process of its own is killed.
    """
    with replacing(target) as temporary:
        if apart:
            in_another_process(_sink, rows, temporary)
        else:
            _sink(rows, temporary)


def _sink(rows: pl.LazyFrame, path: Path) -> None:
    first = rows.head(_FIRST_ROWS).collect()
    group = max(int(_GROUP_BYTES * first.height / first.estimated_size()), 1)
    rows.sink_parquet(path, row_group_size=group, sync_on_close="data")


def assemble_folder(parts: Parts, target: Path) -> None:
    """Make the folder of Parquet parts the result."""
    for leftover in parts.folder.glob("*.tmp"):
        leftover.unlink()
    parts.folder.replace(target)
    # Last, so that a run that is stopped before can be continued.
    for name in (MANIFEST, LOCK):
        (target / name).unlink()


def _scan(parts: Sequence[Path]) -> pl.LazyFrame:
    return pl.scan_parquet(list(parts), glob=False, hive_partitioning=False)


def _pack(parts: Sequence[Path], target: Path, columns: Sequence[str]) -> None:
    """Write Zstandard, which polars knows and Python does not before 3.14."""
    paths = list(parts)
    if columns:
        # Cells, not lines: a cell may hold line breaks of any kind.
        schema = dict.fromkeys(columns, pl.String)
        rows = pl.scan_csv(paths, has_header=False, schema=schema, glob=False)
    else:
        rows = pl.scan_lines(paths, glob=False)
    rows.sink_csv(
        target,
        include_header=bool(columns),
        quote_style="necessary" if columns else "never",
        compression="zstd",
        check_extension=False,
        sync_on_close="data",
    )


def _copy(parts: Sequence[Path], raw: BinaryIO, *, header: bytes, compression: Compression) -> None:
    if compression == "gzip":
        # Without name and time in it, the same rows are the same file.
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as out:
            _copy(parts, cast("BinaryIO", out), header=header, compression="uncompressed")
        return
    raw.write(header)
    for path in parts:
        with path.open("rb") as part:
            shutil.copyfileobj(part, raw, 1 << 20)


def _objects(parts: Sequence[Path], source: Path) -> pl.LazyFrame:
    """JSON Lines as a table: the columns of all parts, with types that hold all values."""
    schema = pl.Schema()
    for part in parts:
        try:
            # This reader expands patterns and has no option not to.
            other = pl.scan_ndjson(
                glob.escape(str(part)), infer_schema_length=None
            ).collect_schema()
            both = [pl.DataFrame(schema=schema), pl.DataFrame(schema=other)]
            schema = pl.concat(both, how="diagonal_relaxed").schema
        except pl.exceptions.PolarsError as error:
            reason = malformation(source, "jsonl") or (str(error).splitlines() or [""])[0]
            raise InvalidDataError(f"{source}, {reason}") from error
    return pl.scan_ndjson([glob.escape(str(part)) for part in parts], schema=schema)


def _typed_tables(
    parts: Sequence[Path], columns: Sequence[str], texts: Collection[str], reference: str
) -> list[Path]:
    """Write CSV parts again as Parquet, with numbers as numbers and lists of texts as lists."""
    kinds: dict[str, set[pl.DataType]] = {name: set() for name in columns}
    for part in parts:
        for cells in _cells(part, columns):
            if cells.name == reference and (cells.str.slice(0, 1) == "[").any():
                lists = (reference_texts(cell, is_text=True) != (cell,) for cell in cells)
                kinds[reference].update([pl.List(pl.String)] if any(lists) else [])
            elif not cells.str.strip_chars().replace("", None).is_null().all():
                kinds[cells.name].add(pl.String() if cells.name in texts else typed(cells).dtype)
    chosen = {name: _common(found) for name, found in kinds.items()}
    written = []
    for part in parts:
        rows = _cells(part, columns)
        written.append(part.with_suffix(".table.parquet"))
        rows.with_columns(_typed(cells, chosen[cells.name]) for cells in rows).write_parquet(
            written[-1]
        )
    return written


def _common(kinds: set[pl.DataType]) -> pl.DataType:
    """The type that holds the values of all parts."""
    for kind in (pl.List(pl.String), pl.String(), pl.Float64()):
        if kind in kinds:
            return kind
    return next(iter(kinds), pl.String())


def _typed(cells: pl.Series, kind: pl.DataType) -> pl.Series:
    if isinstance(kind, pl.List):
        lists = [list(reference_texts(cell, is_text=True)) for cell in cells]
        return pl.Series(cells.name, lists, dtype=kind)
    return cells if kind == pl.String else typed(cells).cast(kind, strict=False)


def _cells(part: Path, columns: Sequence[str]) -> pl.DataFrame:
    schema = dict.fromkeys(columns, pl.String)
    return pl.read_csv(part, has_header=False, schema=schema, glob=False)
