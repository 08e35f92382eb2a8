"""``steelyard demo``."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import polars as pl
from rich.console import RenderableType
from rich.text import Text

from steelyard.cli.answers import table_of, titled
from steelyard.cli.printing import print_tables
from steelyard.demo import NEW, Campaign, campaign
from steelyard.numbers import decimals_for, interval, number
from steelyard.questions.estimates import Estimate
from steelyard.questions.worth import worth
from steelyard.report import write_report
from steelyard.study import Study
from steelyard.study.answer import judgments_of, prompt_answers
from steelyard.tables import write_table

__all__ = ["demo"]

_SCORED = ("rouge-l", "chrf", "vecsim")
_METRICS = (*_SCORED, "judge")
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
def demo(*, output: Path) -> None:
    """Run the whole job on a built-in campaign of four systems and simulated raters.

    Writes outputs.jsonl, judgments.jsonl and report.html, and says how near the truth, which only
    a simulation knows, the estimates came.
    """
    made = campaign(metrics=_SCORED)
    output.mkdir(parents=True, exist_ok=True)
    outputs, judgments = output / "outputs.jsonl", output / "judgments.jsonl"
    write_table(pl.DataFrame(made.outputs, infer_schema_length=None), outputs)
    write_table(pl.DataFrame(made.judgments, infer_schema_length=None), judgments)
    study = Study.read(outputs, judgments, metrics=_METRICS)
    found = study.estimate()
    page = output / "report.html"
    report = write_report(
        study,
        page,
        command=f"steelyard report {outputs} {judgments} -o {page}",
        title="Steelyard demo",
        notice=made.notice,
    )
    parts: list[RenderableType] = [Text(f"{made.notice}\n", style="italic")]
    for prompt in dict.fromkeys(one.prompt for one in found):
        own = [one for one in found if one.prompt == prompt]
        parts += _of_prompt(study, made, sorted(own, key=lambda one: -one.estimate))
    held = sum(one.low <= made.truth[_key(one)] <= one.high for one in found)
    print_tables(
        [
            *parts,
            f"{held} of {len(found)} intervals hold the truth, which only a simulation knows.",
            f"{NEW} is a new version, judged on a third of the items.\n",
            f"Report:    {report}",
            f"Outputs:   {outputs}\nJudgments: {judgments}",
            f"Next:      {_program()} compare {outputs} {judgments}",
        ],
        None,
    )


def _of_prompt(study: Study, made: Campaign, found: Sequence[Estimate]) -> list[RenderableType]:
    """Return the answer under a prompt, the estimates beside the truth, and what the judge is worth."""
    prompt = found[0].prompt
    places = decimals_for(one.half_width for one in found)
    table = table_of(
        [
            ("system", False),
            ("mean", True),
            ("95% interval", False),
            ("plain mean's interval", False),
            ("judgments", True),
            ("truth", True),
        ]
    )
    for one in found:
        table.add_row(
            one.system,
            number(one.estimate, places),
            interval(one.low, one.high, places),
            interval(one.baseline.low, one.baseline.high, places),
            str(one.n_judgments),
            number(made.truth[_key(one)], places),
        )
    saved = worth(found, judgments_of(study, prompt, study.systems))
    [diagnosis] = study.diagnose(["judge"], prompts=[prompt])
    return [
        titled(prompt, prompt_answers(study, prompt, found)[None].sentence),
        table,
        *([] if saved is None else [saved.sentence]),
        f"Can the judge be trusted? {diagnosis.judges[0].sentence}\n",
    ]


def _program() -> str:
    """Return how this program is called: by its name, or where it is if that is not found."""
    return (
        "steelyard" if shutil.which("steelyard") else str(Path(sys.executable).parent / "steelyard")
    )


def _key(one: Estimate) -> tuple[str, str]:
    return str(one.system), str(one.prompt)
