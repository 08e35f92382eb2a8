"""``steelyard convert``."""

from pathlib import Path

import click

from steelyard.cli.paths import InputPath, check_not_inputs
from steelyard.data import write_table
from steelyard.data.conversion import CONVERTERS, converter

__all__ = ["convert"]

_EXAMPLE = """\b
Example:
  steelyard convert --from price-of-debiasing msmarco.jsonl msmarco_texts.jsonl --output converted
"""


@click.command(epilog=_EXAMPLE)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=InputPath())
@click.option(
    "--from",
    "source",
    required=True,
    metavar="FORMAT",
    help=f"Format of FILE: {', '.join(CONVERTERS)}.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write to; made if it is not there.",
)
def convert(files: tuple[Path, ...], *, source: str, output: Path) -> None:
    """Turn other tools' files into files of outputs and judgments.

    Writes NAME-outputs.jsonl and NAME-judgments.jsonl for each campaign found in FILE, and says
    what was merged, renamed or not taken over.
    """
    found = converter(source)(files)
    named = {
        one.name: (output / f"{one.name}-outputs.jsonl", output / f"{one.name}-judgments.jsonl")
        for one in found
    }
    check_not_inputs("--output", (path for pair in named.values() for path in pair), files)
    output.mkdir(parents=True, exist_ok=True)
    for one in found:
        outputs, judgments = named[one.name]
        write_table(one.outputs, outputs)
        write_table(one.judgments, judgments)
        click.echo(f"{outputs}: {one.outputs.height:,} outputs")
        click.echo(f"{judgments}: {one.judgments.height:,} judgments")
        for remark in one.remarks:
            click.echo(f"  {remark}")
