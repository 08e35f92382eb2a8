"""``steelyard score``."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import click
from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from steelyard.cli.options import column_mapping
from steelyard.cli.paths import InputPath, OutputFile
from steelyard.cli.printing import plain_console, print_json
from steelyard.scoring import ScoreSummary, ScoringProgress, score_file
from steelyard.scoring.run import OnError

__all__ = ["score"]

# Exit code: the file is there, but some values are not.
_SOME_MISSING = 3
_EXAMPLE = """\b
Example:
  steelyard score outputs.jsonl --metric rouge-l --metric bleu -o scored.jsonl
"""


@click.command(epilog=_EXAMPLE)
@click.argument("outputs", type=InputPath())
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    required=True,
    help="Metric to add, with its options if any: rouge-l, rouge-l:stem, bleu, chrf, vecsim, …; "
    "may be given several times.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=OutputFile(),
    help="File to write, in the format of its extension.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="OURS=YOURS",
    help="Your name of one of our columns, for example reference=gold.",
)
@click.option("--replace", is_flag=True, help="Replace columns that are named like a metric.")
@click.option(
    "--on-error",
    type=click.Choice(get_args(OnError)),
    default="stop",
    show_default=True,
    help="What to do if rows cannot be scored: count them all and stop, or keep them without values.",
)
@click.option(
    "--workers", type=int, help="Processes to use; by default, as many as processor cores."
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Dask scheduler to use, such as tcp://host:8786, or local to start one here.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.pass_context
def score(
    context: click.Context,
    outputs: Path,
    *,
    metrics: tuple[str, ...],
    output: Path,
    columns: tuple[str, ...],
    replace: bool,
    on_error: OnError,
    workers: int | None,
    cluster: str | None,
    as_json: bool,
) -> None:
    """Add metrics to a file of outputs.

    Compares the column output of OUTPUTS with the column reference and writes all rows, in their
    order, with a column more for each metric. A run that was interrupted goes on from where it
    was when the same command is given again.
    """
    console = plain_console(stderr=True)
    with _bar(console) as show:
        summary = score_file(
            outputs,
            output,
            metrics=tuple(dict.fromkeys(metrics)),
            columns=column_mapping(columns),
            replace=replace,
            on_error=on_error,
            workers=workers,
            cluster=cluster,
            progress=show,
            notice=lambda sentence: console.print(f"steelyard: {sentence}", soft_wrap=True),
        )
    if as_json:
        print_json(summary.to_dict())
    else:
        click.echo(_sentence(summary))
    if summary.not_scored:
        first = f"; the first: {summary.problem}" if summary.problem else ""
        click.echo(
            f"steelyard: {summary.not_scored:,} of {summary.rows:,} rows have no value{first}",
            err=True,
        )
        context.exit(_SOME_MISSING)


@contextmanager
def _bar(console: Console) -> Iterator[Any]:
    """Show progress on a terminal, and nothing elsewhere."""
    bar = Bar(
        TextColumn("scoring"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rows]:,} rows, {task.fields[rate]:,.0f}/s"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task("", total=None, rows=0, rate=0.0)

        def show(state: ScoringProgress) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = state.rows / elapsed if elapsed > 0 else 0.0
            bar.update(task, total=state.total, completed=state.done, rows=state.rows, rate=rate)

        yield show


def _sentence(summary: ScoreSummary) -> str:
    resumed = f", {summary.resumed_from:,} of them before" if summary.resumed_from else ""
    return (
        f"{summary.output}: {summary.rows:,} rows{resumed}; "
        f"added {', '.join(summary.metrics)} in {summary.seconds:.1f} s "
        f"({summary.rows_per_second:,.0f} rows/s)"
    )
