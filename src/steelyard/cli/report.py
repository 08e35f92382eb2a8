"""``steelyard report``."""

import shlex
import sys
from pathlib import Path

import click

from steelyard.cli.options import StudyChoice, earlier_option, price_option, study_arguments
from steelyard.cli.paths import OutputFile
from steelyard.cli.printing import progress_bar
from steelyard.report import write_report

__all__ = ["report"]

_EXAMPLE = """\b
Example:
  steelyard report outputs.jsonl judgments.jsonl --metric rouge-l -o report.html
"""


@click.command(epilog=_EXAMPLE)
@study_arguments
@earlier_option
@click.option("--title", help="Title of the page.")
@price_option
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    default=Path("report.html"),
    show_default=True,
    help="File to write.",
)
def report(
    choice: StudyChoice,
    *,
    title: str | None,
    judgment_price: float | None,
    output: Path,
) -> None:
    """Write one self-contained HTML file: which system is better, estimates, metrics, variances."""
    study = choice.read()
    with progress_bar("reporting") as show:
        path = write_report(
            study,
            output,
            metrics=choice.metrics,
            prompts=choice.prompts,
            systems=choice.systems,
            command=shlex.join(["steelyard", *sys.argv[1:]]),
            title=title,
            judgment_price=judgment_price,
            progress=show,
        )
    click.echo(f"wrote {path}")
