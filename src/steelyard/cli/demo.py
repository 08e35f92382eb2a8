"""``steelyard demo``."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import polars as pl
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from steelyard.cli.printing import interval, print_json, print_tables
from steelyard.demo import Campaign, campaign
from steelyard.questions.estimates import Estimate
from steelyard.report import write_report
from steelyard.study import Study
from steelyard.tables import write_table

__all__ = ["demo"]

_METRICS = ("rouge-l", "chrf", "vecsim")
# With fewer, all judged outputs of a system may have the same mean judgment, and no interval.
_FEWEST_ITEMS = 40
_EXAMPLE = """\b
Example:
  steelyard demo --output steelyard-demo
"""


@click.command(epilog=_EXAMPLE)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("steelyard-demo"),
    show_default=True,
    help="Folder to write to; made if it is not there.",
)
@click.option(
    "--items",
    type=click.IntRange(min=_FEWEST_ITEMS),
    default=300,
    show_default=True,
    help="Items in the campaign.",
)
@click.option("--seed", type=int, default=2018, show_default=True, help="Seed of the simulation.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON with stable keys.")
def demo(*, output: Path, items: int, seed: int, as_json: bool) -> None:
    """Run the whole job on a built-in campaign of four systems and simulated raters.

    Writes outputs.jsonl, judgments.jsonl and report.html, and says how near the truth, which only
    a simulation knows, the estimates came.
    """
    made = campaign(items=items, seed=seed, metrics=_METRICS)
    output.mkdir(parents=True, exist_ok=True)
    outputs, judgments = output / "outputs.jsonl", output / "judgments.jsonl"
    write_table(pl.DataFrame(made.outputs, infer_schema_length=None), outputs)
    write_table(pl.DataFrame(made.judgments, infer_schema_length=None), judgments)
    study = Study.read(outputs, judgments, metrics=_METRICS)
    found = study.estimate()
    command = ["steelyard", "report", str(outputs), str(judgments), "-o"]
    report = write_report(
        study,
        output / "report.html",
        command=" ".join([*command, str(output / "report.html")]),
        title="Steelyard demo",
        notice=made.notice,
    )
    if as_json:
        rows = [one.to_dict() | {"truth": made.truth[_key(one)]} for one in found]
        shown = {"notice": made.notice, "report": str(report), "estimates": rows}
        print_json(shown, None)
        return
    held = sum(one.low <= made.truth[_key(one)] <= one.high for one in found)
    prompts = dict.fromkeys(one.prompt for one in found)
    print_tables(
        [
            Text(f"{made.notice}\n", style="italic"),
            *(_table(made, [one for one in found if one.prompt == prompt]) for prompt in prompts),
            f"Intervals are about {found[0].about}: {held} of {len(found)} hold the truth.\n",
            f"Report:    {report}",
            f"Outputs:   {outputs}\nJudgments: {judgments}",
            f"Next:      {_program()} diagnose {outputs} {judgments}",
        ],
        None,
    )


def _table(made: Campaign, found: Sequence[Estimate]) -> RenderableType:
    table = Table(title=f"Mean human score, prompt {found[0].prompt}", title_justify="left")
    table.add_column("system")
    for name in ("truth", "estimate"):
        table.add_column(name, justify="right")
    for name in ("95% interval", "plain mean's interval"):
        table.add_column(name)
    table.add_column("data efficiency", justify="right")
    for one in found:
        table.add_row(
            str(one.system),
            f"{made.truth[_key(one)]:.3f}",
            f"{one.estimate:.3f}",
            interval(one.low, one.high),
            interval(one.baseline.low, one.baseline.high),
            f"{one.data_efficiency:.2f}",
        )
    return table


def _program() -> str:
    """Return how this program is called: by its name, or where it is if that is not found."""
    return (
        "steelyard" if shutil.which("steelyard") else str(Path(sys.executable).parent / "steelyard")
    )


def _key(one: Estimate) -> tuple[str, str]:
    return str(one.system), str(one.prompt)
