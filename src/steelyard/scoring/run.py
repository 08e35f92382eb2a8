"""Score a file of outputs: a file in, the same rows with metrics out."""

import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from steelyard.arrays import Floats
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.metrics.registry import metric
from steelyard.scoring.batches import Texts, scored
from steelyard.scoring.beside import write_beside
from steelyard.scoring.cluster import over_cluster
from steelyard.scoring.parts import Parts, fingerprint, libraries, open_parts
from steelyard.scoring.processes import over_processes
from steelyard.tables.formats import format_of
from steelyard.version import __version__

__all__ = ["OnError", "ScoreSummary", "ScoringProgress", "score_file"]

OnError = Literal["stop", "keep"]

# Rows in a batch: enough for arrays to pay off, and little to do again after a crash.
_BATCH_ROWS = 5000


@dataclass(frozen=True, slots=True)
class ScoringProgress:
    """How far the work has come.

    Attributes
    ----------
    rows : int
        Rows scored by this run.
    done, total : int
        Rows that are done, and all rows.
    """

    rows: int
    done: int
    total: int


@dataclass(frozen=True, kw_only=True)
class ScoreSummary:
    """What was done.

    Attributes
    ----------
    output : str
        The file that was written.
    rows : int
        Rows in it.
    metrics : tuple of str
        The columns that were added.
    seconds : float
        Time taken.
    rows_per_second : float
        Rows that this run scored, in a second.
    resumed_from : int
        Rows that an interrupted run had scored already.
    not_scored : int
        Rows that have no value.
    problem : str or None
        Why the first of them has none.
    """

    output: str
    rows: int
    metrics: tuple[str, ...]
    seconds: float
    rows_per_second: float
    resumed_from: int
    not_scored: int = 0
    problem: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON knows them."""
        return asdict(self) | {"metrics": list(self.metrics)}


def score_file(
    outputs: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    metrics: Sequence[str],
    columns: Mapping[str, str] | None = None,
    replace: bool = False,
    on_error: OnError = "stop",
    workers: int | None = None,
    cluster: str | None = None,
    batch_rows: int = _BATCH_ROWS,
    progress: Callable[[ScoringProgress], object] | None = None,
    notice: Callable[[str], object] | None = None,
) -> ScoreSummary:
    """Add a column for each metric to a file of outputs.

    Rows are scored in batches, whose values are kept in a hidden folder beside `target` until all
    are done: a run that was interrupted, however rudely, is continued by calling the function again.
    The result does not depend on the number of workers or on interruptions.

    Parameters
    ----------
    outputs : path
        A file in any format that `read_outputs` reads.
    target : path
        The file to write, in the format of its extension: JSON Lines, CSV, either also ``.gz`` or
        ``.zst``, or Parquet. Other columns and the order of rows are kept.
    metrics : sequence of str
        Names of metrics, each with its options if any; `steelyard.metrics.available` lists them.
    columns : mapping, optional
        The names that the columns ``output`` and ``reference`` have in the file.
    replace : bool
        Whether to replace columns that have the name of a metric.
    on_error : {"stop", "keep"}
        What to do if rows cannot be scored, because they have no reference, say: count them all and
        raise, or keep them without values.
    workers : int, optional
        Number of processes; by default, of processor cores.
    cluster : str, optional
        Address of a Dask scheduler, or ``local`` to start one here.
    batch_rows : int
        Most rows in a batch.
    progress : callable, optional
        Told after each batch.
    notice : callable, optional
        Told in a sentence that an interrupted run is continued, or why not.

    Returns
    -------
    ScoreSummary

    Raises
    ------
    InvalidArgumentError
        If a metric, an option or the cluster is not known.
    InvalidDataError
        If the outputs cannot be read, or rows cannot be scored and `on_error` is ``stop``.
        Nothing is written then.
    MissingDependencyError
        If a cluster is asked for and Dask is not installed.
    ChildProcessError
        If a worker is killed. What was finished is kept.

    Notes
    -----
    Processes are spawned: in a script, call this below ``if __name__ == "__main__":``.
    """
    start = time.perf_counter()
    names = _known(metrics)
    count = _checked("workers", os.cpu_count() or 1 if workers is None else workers)
    if on_error not in get_args(OnError):
        raise InvalidArgumentError(f"`on_error` must be stop or keep; got {on_error!r}")
    target = _checked_target(Path(target))
    texts = Texts(Path(outputs), columns or {}, names)
    if not replace:
        _check_new(texts, names)
    bad, problem = texts.bad_rows()
    if bad and on_error == "stop":
        raise _unscored(bad, problem)
    manifest = _manifest(texts, names, batch_rows=_checked("batch_rows", batch_rows))
    with open_parts(target, manifest) as parts:
        resumed = sum(parts.done.values())
        _tell(parts, target, resumed, notice or _ignore)
        pending = [] if resumed == texts.rows else texts.batches(batch_rows)
        waiting = (batch for batch in pending if batch.index not in parts.done)
        work = partial(scored, names, __version__)
        try:
            if cluster is None:
                results = over_processes(work, waiting, workers=count)
            else:
                results = over_cluster(work, waiting, address=cluster, workers=count)
            _gather(results, parts, progress or _ignore, total=texts.rows)
        finally:
            # a wrong address, say, leaves nothing, and costs nothing that an interrupted run has done
            parts.remove_if_empty()
        if fingerprint(Path(texts.table.name)) != manifest["input"]:
            parts.remove()
            raise InvalidDataError(f"{texts.table.name}: changed while it was scored: start again")
        values = parts.values()
        bad, problem = _without_value(texts, values, bad, problem)
        if bad and on_error == "stop":
            raise _unscored(bad, problem)
        write_beside(texts.table, target, values.fill_nan(None))
        parts.remove()
    seconds = time.perf_counter() - start
    return ScoreSummary(
        output=str(target),
        rows=values.height,
        metrics=names,
        seconds=seconds,
        rows_per_second=(values.height - resumed) / seconds,
        resumed_from=resumed,
        not_scored=bad,
        problem=problem,
    )


def _gather(
    results: Generator[tuple[int, dict[str, Floats]], None, None],
    parts: Parts,
    progress: Callable[[ScoringProgress], object],
    *,
    total: int,
) -> None:
    """Keep the values of all batches, as they come."""
    done = resumed = sum(parts.done.values())
    with closing(results):
        for index, columns in results:
            parts.keep(index, columns)
            done += len(next(iter(columns.values())))
            progress(ScoringProgress(done - resumed, done, total))


def _without_value(
    texts: Texts, values: pl.DataFrame, bad: int, problem: str | None
) -> tuple[int, str | None]:
    """Return how many rows have no value, and why the first has none: no texts, or a metric failed."""
    is_missing = values.select(pl.any_horizontal(pl.all().is_nan())).to_series()
    missing = int(is_missing.sum())
    if missing > bad and problem is None:
        row = is_missing.arg_true()[0]
        name = next(name for name in values.columns if values[name].is_nan()[row])
        problem = f"{texts.place(row)}: {name} has no finite value on this output"
    return missing, problem


def _unscored(bad: int, problem: str | None) -> InvalidDataError:
    all_of_them = f" ({bad:,} rows cannot be scored)" if bad > 1 else ""
    return InvalidDataError(
        f"{problem}{all_of_them}: mend the outputs, or keep such rows without a value with "
        "--on-error keep"
    )


def _check_new(texts: Texts, metrics: Sequence[str]) -> None:
    for name in metrics:
        if name in texts.table.schema:
            raise InvalidDataError(
                f"{texts.table.name}: a column `{name}` is there already: overwrite it with --replace, "
                "or leave out the metric"
            )


def _manifest(texts: Texts, metrics: Sequence[str], *, batch_rows: int) -> dict[str, Any]:
    """Return all that the parts depend on."""
    return {
        "input": fingerprint(Path(texts.table.name)),
        "metrics": list(metrics),
        "columns": [texts.table.column("output"), texts.table.column("reference")],
        "batch_rows": batch_rows,
        "versions": libraries(metrics),
    }


def _known(metrics: Sequence[str]) -> tuple[str, ...]:
    names = tuple(metrics)
    if not names or isinstance(metrics, str):
        raise InvalidArgumentError(f"`metrics` must name at least one metric; got {metrics!r}")
    for position, name in enumerate(names):
        metric(name)
        if name in names[:position]:
            raise InvalidArgumentError(f"`metrics` must name each metric once; got {name!r} twice")
    return names


def _checked(option: str, value: int) -> int:
    if value < 1:
        raise InvalidArgumentError(f"`{option}` must be 1 or more; got {value}")
    return value


def _checked_target(target: Path) -> Path:
    if not target.parent.is_dir():
        raise InvalidArgumentError(
            f"`--output` must lie in an existing folder; there is no {target.parent}"
        )
    format_of(target)
    return target


def _tell(parts: Parts, target: Path, resumed: int, notice: Callable[[str], object]) -> None:
    if parts.anew is not None:
        notice(f"an interrupted run for {target} is not continued but started anew: {parts.anew}")
    elif resumed:
        notice(f"going on from an interrupted run that has scored {resumed:,} rows")


def _ignore(_: object) -> None:
    """Do nothing with what is told."""
