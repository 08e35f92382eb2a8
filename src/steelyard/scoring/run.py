"""Score a file of outputs: a file in, the same rows with metrics out."""

import os
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, get_args

from steelyard.errors import InvalidArgumentError, InvalidDataError, SteelyardError
from steelyard.metrics.registry import metric
from steelyard.records import Output, optional_columns, required_columns
from steelyard.scoring.assembly import as_table, assemble_folder, join_text, write_parquet
from steelyard.scoring.batches import Batch
from steelyard.scoring.cluster import over_cluster
from steelyard.scoring.parts import Parts, libraries, open_parts, parts_folder
from steelyard.scoring.processes import over_processes
from steelyard.scoring.source import OutputsSource, open_source, scored_format
from steelyard.scoring.summary import ScoreSummary, ScoringProgress
from steelyard.scoring.work import Finished, Job, OnError, finish
from steelyard.tables import write_table

__all__ = ["score_file"]

# Rows in a batch: enough for arrays to pay off, and little to do again after a crash.
_BATCH_ROWS = 5000
# Columns of CSV that are text whatever they look like: the item 7 is no number.
_OWN = (*required_columns(Output), *optional_columns(Output))


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

    Rows are scored in batches, which are kept in a hidden folder beside `target` until all are
    done: memory does not grow with the file, and a run that was interrupted, however rudely, is
    continued by calling the function again. The result does not depend on the number of workers
    or on interruptions.

    Parameters
    ----------
    outputs : path
        JSON Lines, CSV, either also ``.gz`` or ``.zst``, Parquet, or a folder of Parquet files.
    target : path
        The file to write, in the format of its extension; from Parquet also a folder, a name
        without extension. Other columns and the order of rows are kept.
    metrics : sequence of str
        Names of metrics, each with its options if any; `steelyard.metrics.available` lists them.
    columns : mapping, optional
        The names that the columns ``output`` and ``reference`` have in the file.
    replace : bool
        Whether to replace columns that have the name of a metric.
    on_error : {"stop", "keep"}
        What to do if rows cannot be scored, because they have no reference, say: count them all and
        raise, or keep them without values. Batches without such rows are kept for another run.
    workers : int, optional
        Number of processes; by default, of processor cores.
    cluster : str, optional
        Address of a Dask scheduler, or ``local`` to start one here; outputs must be Parquet, and
        all workers must see the same files.
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
    # workers on other machines have another current folder
    source = open_source(Path(outputs).resolve() if cluster else Path(outputs))
    target = Path(target)
    _check_target(target, source, cluster=cluster)
    if on_error not in get_args(OnError):
        raise InvalidArgumentError(f"`on_error` must be stop or keep; got {on_error!r}")
    job = _job(source, target, columns or {}, metrics=names, replace=replace, on_error=on_error)
    manifest = _manifest(source, job, batch_rows=_checked("batch_rows", batch_rows))
    with open_parts(target, job.kind, manifest) as parts:
        run = _Run(source, parts, job, batch_rows, progress or _ignore)
        _tell(parts, target, notice or _ignore)
        with _removed_if_refused(parts):
            work = partial(finish, job)
            if cluster is None:
                run.gather(over_processes(work, run.pending(), workers=count))
            else:
                run.gather(over_cluster(work, run.pending(), address=cluster, workers=count))
            if source.fingerprint() != manifest["input"]:
                raise InvalidDataError(f"{source.path}: changed while it was scored: start again")
        run.check_bad()
        run.write(target, texts=(columns or {}).values(), apart=cluster is None and count > 1)
    return run.summary(target, seconds=time.perf_counter() - start)


class _Run:
    """The batches of one run: those done before, those under way, and those done."""

    def __init__(
        self,
        source: OutputsSource,
        parts: Parts,
        job: Job,
        batch_rows: int,
        progress: Callable[[ScoringProgress], object],
    ) -> None:
        self.source = source
        self.parts = parts
        self.job = job
        self.batch_rows = batch_rows
        self.progress = progress
        self.done: list[Finished] = []
        self.rows = 0
        self.resumed = 0
        self.problem: str | None = None
        self._positions: dict[int, int | None] = {}

    def pending(self) -> Iterator[Batch]:
        """Batches that are still to be done; those that are done are counted."""
        for batch in self.source.batches(batch_rows=self.batch_rows):
            before = self.parts.finished.get(batch.index)
            if before is None or (before.bad and self.job.on_error == "stop"):
                self._positions[batch.index] = batch.position
                yield batch
            else:
                self.done.append(before)
                self.resumed += before.rows

    def gather(self, results: Generator[Finished, None, None]) -> None:
        """Wait for all results."""
        with closing(results):
            for one in results:
                self._count(one)

    def _count(self, one: Finished) -> None:
        self.done.append(one)
        self.rows += one.rows
        self.problem = self.problem or one.problem
        position = self._positions.pop(one.index)
        self.progress(ScoringProgress(self.rows, position, self.source.total))

    @property
    def bad(self) -> int:
        """Number of rows that cannot be scored."""
        return sum(one.bad for one in self.done)

    def check_bad(self) -> None:
        """Raise if rows cannot be scored and are not to be kept; other batches stay for later."""
        if not self.bad or self.job.on_error == "keep":
            return
        if self.parts.is_empty:
            self.parts.remove()
        all_of_them = f" ({self.bad:,} rows cannot be scored)" if self.bad > 1 else ""
        raise InvalidDataError(
            f"{self.problem}{all_of_them}: mend the outputs, or keep such rows without a value with "
            "--on-error keep"
        )

    def summary(self, target: Path, *, seconds: float) -> ScoreSummary:
        """Return what was done."""
        return ScoreSummary(
            output=str(target),
            rows=self.resumed + self.rows,
            distinct_pairs=sum(one.pairs for one in self.done),
            metrics=self.job.metrics,
            seconds=seconds,
            rows_per_second=self.rows / seconds,
            resumed_from=self.resumed,
            not_scored=self.bad,
            problem=self.problem,
        )

    def write(self, target: Path, *, texts: Collection[str], apart: bool) -> None:
        """Make the parts the file or folder that was asked for, perhaps in another process."""
        if _is_folder(target):
            assemble_folder(self.parts, target)
            return
        kind = self.source.format.kind
        target_format = scored_format(target)
        paths = self.parts.paths(self.done)
        known = self.source.columns
        columns = (*known, *(name for name in self.job.metrics if name not in known))
        if kind == target_format.kind != "parquet":
            join_text(
                paths,
                target,
                columns=columns if kind == "csv" else (),
                compression=target_format.compression,
            )
        else:
            texts = {*_OWN, *texts}
            with _removed_if_refused(self.parts):
                rows = as_table(
                    paths,
                    kind=kind,
                    columns=columns,
                    texts=texts,
                    reference=self.job.reference,
                    source=self.source.path,
                )
            if target_format.kind == "parquet":
                write_parquet(rows, target, apart=apart and len(paths) > 1)
            else:
                write_table(rows, target)
        self.parts.remove()


@contextmanager
def _removed_if_refused(parts: Parts) -> Iterator[None]:
    """Remove the parts of outputs that must be mended first: they will not be used again."""
    try:
        yield
    except SteelyardError as error:
        # a wrong address, say, must not cost what an interrupted run has done
        if isinstance(error, InvalidDataError) or parts.is_empty:
            parts.remove()
        raise


def _job(
    source: OutputsSource,
    target: Path,
    columns: Mapping[str, str],
    *,
    metrics: tuple[str, ...],
    replace: bool,
    on_error: OnError,
) -> Job:
    output = source.column("output", columns, reason="the texts to score")
    needed = f"which {' and '.join(metrics)} compare{'s' * (len(metrics) == 1)} with"
    reference = source.column("reference", columns, reason=needed)
    if not replace:
        source.check_new(metrics)
    return Job(
        path=source.path,
        kind=source.format.kind,
        header=source.header,
        output=output,
        reference=reference,
        metrics=metrics,
        replace=replace,
        on_error=on_error,
        folder=parts_folder(target).resolve(),
    )


def _manifest(source: OutputsSource, job: Job, *, batch_rows: int) -> dict[str, Any]:
    """Return all that the parts depend on."""
    return {
        "input": source.fingerprint(),
        "metrics": list(job.metrics),
        "columns": [job.output, job.reference],
        "replace": job.replace,
        "batch_rows": batch_rows,
        "versions": libraries(job.metrics),
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


def _is_folder(target: Path) -> bool:
    return target.suffix == "" or target.is_dir()


def _check_target(target: Path, source: OutputsSource, *, cluster: str | None) -> None:
    if cluster is not None and source.format.kind != "parquet":
        raise InvalidArgumentError(
            f"`--cluster` needs Parquet, of which every worker reads its own rows; got "
            f"{source.path}: leave out the option, or bring the outputs as Parquet"
        )
    if not target.parent.is_dir():
        raise InvalidArgumentError(
            f"`--output` must lie in an existing folder; there is no {target.parent}"
        )
    if not _is_folder(target):
        scored_format(target)
    elif source.format.kind != "parquet":
        raise InvalidArgumentError(
            f"`--output` can be a folder if the outputs are Parquet; got {target}: "
            "give the file an extension, such as .jsonl, .csv or .parquet"
        )
    elif target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidArgumentError(
            f"`--output`: {target} is there already: remove it, or name another folder"
        )


def _tell(parts: Parts, target: Path, notice: Callable[[str], object]) -> None:
    if parts.anew is not None:
        notice(f"an interrupted run for {target} is not continued but started anew: {parts.anew}")
    elif parts.finished:
        rows = sum(one.rows for one in parts.finished.values())
        notice(f"going on from an interrupted run that has scored {rows:,} rows")


def _ignore(_: object) -> None:
    """Do nothing with what is told."""
