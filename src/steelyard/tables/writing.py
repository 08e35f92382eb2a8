"""Write a table to a file, whole or not at all."""

import os
from pathlib import Path

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.tables.formats import FileFormat, format_of
from steelyard.tables.formulas import kept_apostrophes
from steelyard.tables.frames import ArrowStream, as_lazy
from steelyard.tables.replacing import replacing
from steelyard.tables.rules import json_text
from steelyard.tables.tables import ROW

__all__ = ["write_table"]


def write_table(
    frame: pl.DataFrame | pl.LazyFrame | ArrowStream, path: str | os.PathLike[str]
) -> None:
    """Write rows as JSON Lines, CSV or Parquet, by the extension of `path`.

    Rows go to a new file in the same folder, which then takes the place of `path`: whoever reads
    `path` finds the old rows or all of the new ones. A lazy frame is written in a stream, and may
    be a scan of `path` itself.

    Parameters
    ----------
    frame : polars frame, or any frame with the Arrow PyCapsule interface
        The rows.
    path : path
        ``.jsonl``, ``.ndjson``, ``.csv``, ``.tsv``, each also with ``.gz`` or ``.zst``, or ``.parquet``.

    Raises
    ------
    InvalidDataError
        If the extension is unknown, the file cannot be written, or JSON has no word for a value.

    Notes
    -----
    CSV has no lists: they are written as JSON, which `read_outputs` reads back for references.
    """
    file_format = format_of(Path(path))
    rows = as_lazy(frame, argument="frame")
    with replacing(path) as temporary:
        if file_format.kind == "jsonl":
            _check_finite(rows, path)
        _sink(rows, temporary, file_format)


def _sink(rows: pl.LazyFrame, path: Path, file_format: FileFormat) -> None:
    if file_format.kind == "parquet":
        rows.sink_parquet(path, sync_on_close="data")
    elif file_format.kind == "jsonl":
        rows.sink_ndjson(
            path,
            compression=file_format.compression,
            check_extension=False,
            sync_on_close="data",
        )
    else:
        nested = [name for name, kind in rows.collect_schema().items() if kind.is_nested()]
        kept_apostrophes(rows.with_columns(json_text(name) for name in nested)).sink_csv(
            path,
            separator=file_format.separator,
            compression=file_format.compression,
            check_extension=False,
            sync_on_close="data",
        )


def _check_finite(rows: pl.LazyFrame, path: str | os.PathLike[str]) -> None:
    """JSON knows no NaN and no infinity, and polars would write null for them."""
    columns = [name for name, kind in rows.collect_schema().items() if kind.is_float()]
    if not columns:
        return
    is_broken = {name: ~pl.col(name).is_finite() for name in columns}
    first = (
        rows.select(*columns)
        .with_row_index(ROW)
        .filter(pl.any_horizontal(is_broken.values()))
        .head(1)
        .collect(engine="streaming")
    )
    for name in columns if not first.is_empty() else []:
        if first.select(is_broken[name]).item():
            raise InvalidDataError(
                f"{path}: JSON has no {first[name][0]}, as in row {first[ROW][0] + 1}, column "
                f"{name}: write CSV or Parquet, or leave the cell empty"
            )
