"""``steelyard report``."""

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from steelyard.cli.options import level_option, read_study, study_arguments
from steelyard.report import write_report

__all__ = ["report"]

_EXAMPLE = """\b
Example:
  steelyard report outputs.jsonl judgments.jsonl --metric rouge-l -o report.html
"""


@click.command(epilog=_EXAMPLE)
@study_arguments
@click.option("--metric", "metrics", multiple=True, help="Metric to correct with; all by default.")
@click.option("--title", help="Title of the page.")
@level_option
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("report.html"),
    show_default=True,
    help="File to write.",
)
def report(
    outputs: Path,
    judgments: Path,
    *,
    prompts: tuple[str, ...],
    systems: tuple[str, ...],
    columns: tuple[str, ...],
    on_duplicate: Any,
    metrics: tuple[str, ...],
    title: str | None,
    level: float,
    output: Path,
) -> None:
    """Write one self-contained HTML file: estimates, metrics, variances and a verdict."""
    study = read_study(
        outputs,
        judgments,
        columns=columns,
        metrics=list(metrics) or None,
        on_duplicate=on_duplicate,
    )
    path = write_report(
        study,
        output,
        metrics=study.metrics,
        prompts=prompts or None,
        systems=systems or None,
        level=level,
        command=shlex.join(["steelyard", *sys.argv[1:]]),
        title=title,
    )
    click.echo(f"wrote {path}")
