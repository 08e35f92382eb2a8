"""The work on one batch: read it, score it, keep it as a part. The same wherever it is done."""

import json
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
import polars as pl

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.scoring.batches import Batch, TableBatch, TextBatch, record_lines
from steelyard.scoring.examples import Example, example, scored
from steelyard.scoring.members import with_members
from steelyard.tables.formats import FormatKind
from steelyard.tables.lines import malformation
from steelyard.tables.replacing import writing_failure
from steelyard.tables.tables import ROW, shown
from steelyard.version import __version__

__all__ = ["Finished", "Job", "OnError", "existing_column", "finish", "parsed_object", "part_name"]

OnError = Literal["stop", "keep"]


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
    on_error : {"stop", "keep"}
        Whether a batch with rows that cannot be scored is left undone, or its rows are kept without
        values.
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
    on_error: OnError
    folder: Path
    version: str = __version__


@dataclass(frozen=True, slots=True)
class Finished:
    """A batch that is done.

    Attributes
    ----------
    index : int
        Its place.
    rows, pairs : int
        Its rows, and how many different examples they are.
    bad : int
        Rows that cannot be scored.
    problem : str or None
        Why the first of them cannot; not known of a part that was there before.
    """

    index: int
    rows: int
    pairs: int
    bad: int = 0
    problem: str | None = None


@dataclass(frozen=True)
class _Scored:
    """The new columns of a batch, with nothing in rows that cannot be scored, and why they cannot."""

    columns: dict[str, pl.Series]
    rows: int
    pairs: int
    problems: dict[int, str]


def finish(job: Job, batch: Batch) -> Finished:
    """Score a batch and keep it as a part.

    The part appears under its name whole or not at all, and is the same whoever makes it: it may
    safely be made twice.

    A batch with rows that cannot be scored is no part, unless such rows are to be kept.

    Raises
    ------
    InvalidDataError
        If the batch cannot be read.
    InvalidArgumentError
        If this process runs another version of the package than the one that asked.
    """
    if job.version != __version__:
        raise InvalidArgumentError(
            f"`--cluster`: a worker runs steelyard {__version__}, and this is {job.version}: "
            "install the same version everywhere"
        )
    if isinstance(batch, TableBatch):
        data, found = _table(job, batch)
    elif job.kind == "csv":
        data, found = _records(job, batch)
    else:
        data, found = _objects(job, batch)
    problems = [found.problems[position] for position in sorted(found.problems)]
    done = Finished(batch.index, found.rows, found.pairs, len(problems), next(iter(problems), None))
    if problems and job.on_error == "stop":
        return done
    _keep(data, job.folder / part_name(done, job.kind))
    return done


def _keep(data: bytes, part: Path) -> None:
    temporary = part.with_name(f"{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(part)
    except OSError as error:
        # half a part would take the room that another run needs
        temporary.unlink(missing_ok=True)
        raise InvalidArgumentError(
            f"`--output`: {part.parent} cannot be written: {writing_failure(error)}; what is "
            "scored so far is kept"
        ) from error


def part_name(done: Finished, kind: FormatKind) -> str:
    """Name of a part; it says all that is known of the batch.

    Examples
    --------
    >>> part_name(Finished(7, 5000, 4321, 2), "parquet")
    'part-00000007-5000-4321-2.parquet'
    """
    return f"part-{done.index:08d}-{done.rows}-{done.pairs}-{done.bad}.{kind}"


def existing_column(name: str, place: str) -> InvalidDataError:
    """Say that a metric's column is there already."""
    return InvalidDataError(
        f"{place}: a column `{name}` is there already: overwrite it with --replace, "
        "or leave out the metric"
    )


def _objects(job: Job, batch: TextBatch) -> tuple[bytes, _Scored]:
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
    found = _scored(job, outputs, references, place=place)
    names = [json.dumps(name, ensure_ascii=False) for name in job.metrics]
    values = [found.columns[name].to_list() for name in job.metrics]
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
            added = ", ".join(
                f"{name}: {'null' if value is None else repr(value)}"
                for name, value in zip(names, row, strict=True)
            )
            out.append(f"{line[:-1].rstrip()}, {added}}}")
    return "".join(f"{line}\n" for line in out).encode(), found


def _records(job: Job, batch: TextBatch) -> tuple[bytes, _Scored]:
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
    found = _scored(job, outputs, rows[job.reference].to_list(), place=place)
    rows = rows.drop(ROW).with_columns(found.columns.values())
    return rows.write_csv(include_header=False).encode(), found


def _table(job: Job, batch: TableBatch) -> tuple[bytes, _Scored]:
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
    found = _scored(job, outputs, references, place=place)
    part = BytesIO()
    rows.with_columns(found.columns.values()).write_parquet(part)
    return part.getvalue(), found


def _scored(job: Job, outputs: Sequence[Any], references: Sequence[Any], *, place: Any) -> _Scored:
    examples: dict[int, Example] = {}
    problems: dict[int, str] = {}
    for position, (output, reference) in enumerate(zip(outputs, references, strict=True)):
        try:
            examples[position] = example(
                output,
                reference,
                columns=(job.output, job.reference),
                place=partial(place, position),
                is_text=job.kind != "parquet",
            )
        except InvalidDataError as error:
            problems[position] = str(error)
    # a batch that will be no part need not be scored
    good = [] if problems and job.on_error == "stop" else list(examples)
    values, pairs, broken = scored(
        [examples[position] for position in good],
        metrics=job.metrics,
        place=lambda nth: place(good[nth]),
    )
    problems |= {good[nth]: problem for nth, problem in broken.items()}
    columns = {}
    for name, found in values.items():
        column = np.full(len(outputs), np.nan)
        column[good] = found
        column[list(problems)] = np.nan
        columns[name] = pl.Series(name, column).fill_nan(None)
    return _Scored(columns, len(outputs), pairs, problems)


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
