"""The work on one batch: read it, score it, keep it as a part. The same wherever it is done."""

import json
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.data.formats import FormatKind
from steelyard.data.lines import malformation
from steelyard.data.tables import ROW, shown
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.scoring.batches import Batch, TableBatch, TextBatch, record_lines
from steelyard.scoring.examples import Example, example, scored
from steelyard.scoring.members import with_members
from steelyard.version import __version__

__all__ = ["Finished", "Job", "existing_column", "finish", "parsed_object", "part_name"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is to be done with every batch.

    Attributes
    ----------
    path : Path
        The file or folder of outputs.
    kind : {"jsonl", "csv", "parquet"}
        Its format, which the parts have too.
    header : bytes
        The header of a CSV file; empty for others.
    output, reference : str
        Names of the columns that hold the texts.
    metrics : tuple of str
        Metrics, which give the new columns their names.
    replace : bool
        Whether the new columns may take the place of others.
    folder : Path
        Where parts are kept.
    version : str
        The version of this package that started the job.
    """

    path: Path
    kind: FormatKind
    header: bytes
    output: str
    reference: str
    metrics: tuple[str, ...]
    replace: bool
    folder: Path
    version: str = __version__


@dataclass(frozen=True, slots=True)
class Finished:
    """A batch that is done: its place, its rows, and how many different examples they are."""

    index: int
    rows: int
    pairs: int


def finish(job: Job, batch: Batch) -> Finished:
    """Score a batch and keep it as a part.

    The part appears under its name whole or not at all, and is the same whoever makes it: it may
    safely be made twice.

    Raises
    ------
    InvalidDataError
        If a row cannot be scored; the message names it.
    InvalidArgumentError
        If this process runs another version of the package than the one that asked.
    """
    if job.version != __version__:
        raise InvalidArgumentError(
            f"`--cluster`: a worker runs steelyard {__version__}, and this is {job.version}: "
            "install the same version everywhere"
        )
    if isinstance(batch, TableBatch):
        data, rows, pairs = _table(job, batch)
    elif job.kind == "csv":
        data, rows, pairs = _records(job, batch)
    else:
        data, rows, pairs = _objects(job, batch)
    done = Finished(batch.index, rows, pairs)
    temporary = job.folder / f"{uuid.uuid4().hex}.tmp"
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(job.folder / part_name(done, job.kind))
    return done


def part_name(done: Finished, kind: FormatKind) -> str:
    """Name of a part; it says all that is known of the batch.

    Examples
    --------
    >>> part_name(Finished(7, 5000, 4321), "parquet")
    'part-00000007-5000-4321.parquet'
    """
    return f"part-{done.index:08d}-{done.rows}-{done.pairs}.{kind}"


def existing_column(name: str, place: str) -> InvalidDataError:
    """Say that a metric's column is there already."""
    return InvalidDataError(
        f"{place}: a column `{name}` is there already: overwrite it with --replace, "
        "or leave out the metric"
    )


def _objects(job: Job, batch: TextBatch) -> tuple[bytes, int, int]:
    """Add metrics to the end of each line, which stays as it is otherwise."""
    lines, objects, numbers = [], [], []
    for number, line in enumerate(_decoded(job, batch).split("\n"), start=batch.line):
        stripped = line.strip()
        if stripped:
            lines.append(stripped)
            objects.append(parsed_object(stripped, place=f"{job.path}, line {number}"))
            numbers.append(number)

    def place(position: int) -> str:
        return f"{job.path}, line {numbers[position]}"

    outputs = [one.get(job.output) for one in objects]
    references = [one.get(job.reference) for one in objects]
    examples = _examples(job, outputs, references, place=place)
    columns, pairs = scored(examples, metrics=job.metrics, place=place)
    names = [json.dumps(name, ensure_ascii=False) for name in job.metrics]
    values = [columns[name].tolist() for name in job.metrics]
    out = []
    for position, (line, one, row) in enumerate(
        zip(lines, objects, zip(*values, strict=True), strict=True)
    ):
        there = [name for name in job.metrics if name in one]
        if there and not job.replace:
            raise existing_column(there[0], place(position))
        if there:
            out.append(with_members(line, dict(zip(job.metrics, row, strict=True))))
        else:
            added = ", ".join(f"{name}: {value!r}" for name, value in zip(names, row, strict=True))
            out.append(f"{line[:-1].rstrip()}, {added}}}")
    return "".join(f"{line}\n" for line in out).encode(), len(out), pairs


def _records(job: Job, batch: TextBatch) -> tuple[bytes, int, int]:
    _decoded(job, batch)
    try:
        # Cells stay text, as they were written.
        rows = pl.read_csv(BytesIO(job.header + batch.data), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        reason = malformation(job.path, "csv") or (str(error).splitlines() or [""])[0]
        raise InvalidDataError(f"{job.path}, {reason}") from error
    is_record = ~pl.all_horizontal(pl.exclude(ROW).is_null())
    rows = rows.with_row_index(ROW).filter(is_record)

    def place(position: int) -> str:
        start = record_lines(batch.data, "csv")[rows[ROW][position]]
        return f"{job.path}, line {batch.line + start}"

    # An empty cell is the empty text.
    outputs = rows[job.output].fill_null("").to_list()
    examples = _examples(job, outputs, rows[job.reference].to_list(), place=place)
    columns, pairs = scored(examples, metrics=job.metrics, place=place)
    rows = rows.drop(ROW).with_columns(_series(columns))
    return rows.write_csv(include_header=False).encode(), rows.height, pairs


def _table(job: Job, batch: TableBatch) -> tuple[bytes, int, int]:
    try:
        rows = (
            pl.scan_parquet(batch.path, glob=False, hive_partitioning=False)
            .slice(batch.offset, batch.rows)
            .collect()
        )
    except pl.exceptions.PolarsError as error:
        # a file system that is away for a while is no fault of the file, and stays an OSError
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InvalidDataError(f"{batch.path}: cannot be read: {reason}") from error

    def place(position: int) -> str:
        return f"{batch.path}, row {batch.offset + position + 1}"

    outputs, references = (rows[name].to_list() for name in (job.output, job.reference))
    examples = _examples(job, outputs, references, place=place)
    columns, pairs = scored(examples, metrics=job.metrics, place=place)
    part = BytesIO()
    rows.with_columns(_series(columns)).write_parquet(part)
    return part.getvalue(), rows.height, pairs


def _examples(
    job: Job, outputs: Sequence[Any], references: Sequence[Any], *, place: Any
) -> list[Example]:
    return [
        example(
            output,
            reference,
            columns=(job.output, job.reference),
            place=partial(place, position),
            is_text=job.kind != "parquet",
        )
        for position, (output, reference) in enumerate(zip(outputs, references, strict=True))
    ]


def _series(columns: dict[str, NDArray[np.float64]]) -> list[pl.Series]:
    return [pl.Series(name, values) for name, values in columns.items()]


def _decoded(job: Job, batch: TextBatch) -> str:
    try:
        return batch.data.decode()
    except UnicodeDecodeError as error:
        line = batch.line + batch.data.count(b"\n", 0, error.start)
        raise InvalidDataError(
            f"{job.path}, line {line}: the bytes are not UTF-8: save the file as UTF-8"
        ) from error


class _NotFiniteError(ValueError):
    """JSON with a constant that is no JSON: NaN, Infinity, -Infinity."""


def _refuse(constant: str) -> NoReturn:
    raise _NotFiniteError(constant)


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def parsed_object(line: str, *, place: str) -> dict[str, Any]:
    """Return the object on a line of a JSON Lines file.

    Raises
    ------
    InvalidDataError
        If the line is no JSON object; `place` says where it stands.

    Examples
    --------
    >>> parsed_object('{"item": 7}', place="outputs.jsonl, line 1")
    {'item': 7}
    """
    if line.startswith("\ufeff"):
        raise InvalidDataError(
            f"{place}: the file starts with a byte order mark: save it without one"
        )
    try:
        one = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        raise InvalidDataError(
            f"{place}: expected a JSON object, got malformed JSON "
            f"({error.msg} at character {error.pos + 1})"
        ) from error
    except _NotFiniteError as error:
        raise InvalidDataError(f"{place}: expected finite numbers, got {error}") from error
    if not isinstance(one, dict):
        raise InvalidDataError(f"{place}: expected a JSON object, got {shown(one)}")
    return one
