"""``steelyard diagnose``."""

import math
from pathlib import Path

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.options import (
    StudyChoice,
    level_option,
    output_options,
    seed_option,
    study_arguments,
)
from steelyard.cli.printing import headed, note_lines, print_result, progress_bar
from steelyard.single.quantity import Quantity
from steelyard.study import Diagnosis

__all__ = ["diagnose"]

_EXAMPLE = """\b
Example:
  steelyard diagnose outputs.jsonl judgments.jsonl --prompt overall
"""


@click.command(epilog=_EXAMPLE)
@study_arguments
@click.option(
    "--metric", "metrics", multiple=True, help="Metric to look at; all numeric columns by default."
)
@level_option
@click.option("--resamples", type=int, default=1000, show_default=True, help="For intervals.")
@seed_option("For intervals.")
@output_options
def diagnose(
    choice: StudyChoice,
    *,
    metrics: tuple[str, ...],
    level: float,
    resamples: int,
    seed: int,
    as_json: bool,
    output: Path | None,
) -> None:
    """Tell whether the metric, or the question to the raters, holds you back.

    Variance components, correlations corrected for rater noise, data efficiency and its limits,
    for each system and for all (*), within systems. Some outputs must have two judgments.
    """
    study = choice.read(metrics)
    with progress_bar("diagnosing") as show:
        found = study.diagnose(
            prompts=choice.prompts,
            systems=choice.systems,
            level=level,
            resamples=resamples,
            seed=seed,
            progress=show,
        )
    print_result(found.to_dict(), _tables(found), as_json=as_json, output=output)


def _tables(found: list[Diagnosis]) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for prompt in dict.fromkeys(one.prompt for one in found):
        cells = [one for one in found if one.prompt == prompt]
        parts += [_variances(prompt, cells), _metrics(prompt, cells)]
        for one in cells:
            if one.refusal:
                continue
            whose = prompt if len(cells) == 1 else f"{prompt}, {one.system}"
            parts.append(headed(f"Verdict, {whose}:", f"{one.verdict}\n"))
        parts.extend(note_lines((one.system, prompt, note) for one in cells for note in one.notes))
    return parts


def _variances(prompt: str, cells: list[Diagnosis]) -> Table:
    table = Table(title=f"Variance, prompt {prompt}", title_justify="left")
    table.add_column("system")
    for name in ("item variance", "rater variance", "noise ratio", "alpha", "ICC"):
        table.add_column(name, justify="right")
    table.add_column("judgments", justify="right")
    table.add_column("raters", justify="right")
    for one in cells:
        table.add_row(
            one.system,
            _shown(one.item_variance),
            _shown(one.rater_variance),
            _shown(one.noise_ratio),
            _number(one.agreement.alpha_interval),
            _number(one.agreement.icc),
            str(one.n_judgments),
            str(one.n_raters),
        )
    return table


def _metrics(prompt: str, cells: list[Diagnosis]) -> Table:
    table = Table(title=f"Metrics, prompt {prompt}, the best first", title_justify="left")
    for name in ("system", "metric"):
        table.add_column(name)
    for name in ("correlation", "data efficiency", "perfect metric", "noiseless raters"):
        table.add_column(name, justify="right")
    for one in cells:
        named = dict(one.metrics) | ({} if one.together is None else {"together": one.together})
        for name, found in named.items():
            table.add_row(
                one.system,
                name,
                _shown(found.correlation),
                _shown(found.data_efficiency),
                f"{found.perfect_metric.value:.2f}",
                f"{found.noiseless_raters.value:.2f}",
            )
        table.add_section()
    return table


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def _shown(quantity: Quantity) -> str:
    if math.isnan(quantity.low):
        return "-"
    return f"{quantity.value:.2f} [{quantity.low:.2f}, {quantity.high:.2f}]"
