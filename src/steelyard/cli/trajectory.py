"""``steelyard trajectory``."""

from pathlib import Path

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.options import StudyChoice, output_options, seed_option, study_arguments
from steelyard.cli.paths import OutputFile
from steelyard.cli.printing import print_result
from steelyard.single.trajectory import Curve
from steelyard.study import SystemTrajectory

__all__ = ["trajectory"]

_EXAMPLE = """\b
Example:
  steelyard trajectory outputs.jsonl judgments.jsonl --prompt overall --metric rouge-l
"""


@click.command(epilog=_EXAMPLE)
@study_arguments
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    required=True,
    help="Column of OUTPUTS to correct with; may be given several times.",
)
@click.option("--draws", type=int, default=1000, show_default=True, help="Bootstrap draws.")
@click.option("--level", type=float, default=0.80, show_default=True, help="Level of intervals.")
@seed_option("Seed of the bootstrap.")
@click.option(
    "--figure",
    type=OutputFile(),
    help="Also draw the curves to this file (.svg, .pdf or .png).",
)
@output_options
def trajectory(
    choice: StudyChoice,
    *,
    metrics: tuple[str, ...],
    draws: int,
    level: float,
    seed: int,
    figure: Path | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """Follow the interval of a finished campaign as its judgments come in.

    Draws campaigns from the judgments at hand and tells the length of the interval after 1, 2, …
    judgments: for the plain mean, with the metric, and if raters were noiseless or the metric were
    perfect. Data efficiency is the mean ratio of squared lengths between 20% and 90% of the way.
    """
    study = choice.read(metrics)
    found = study.trajectories(
        tuple(dict.fromkeys(metrics)),
        prompts=choice.prompts,
        systems=choice.systems,
        draws=draws,
        level=level,
        seed=seed,
    )
    if figure is not None:
        # matplotlib is slow to load
        from steelyard.report.files import save_figure  # noqa: PLC0415
        from steelyard.report.trajectories import trajectory_plot  # noqa: PLC0415

        save_figure(trajectory_plot(found), figure)
    print_result(found.to_dict(), _tables(found), as_json=as_json, output=output)


def _tables(found: list[SystemTrajectory]) -> list[RenderableType]:
    table = Table(title="Data efficiency along the trajectory", title_justify="left")
    for name in ("prompt", "system"):
        table.add_column(name)
    for name in ("this metric", "noiseless raters", "perfect metric", "outputs"):
        table.add_column(name, justify="right")
    for one in found:
        curves = one.trajectory
        table.add_row(
            one.prompt,
            one.system,
            _shown(curves.corrected),
            _shown(curves.noiseless_raters),
            _shown(curves.perfect_metric),
            str(len(curves.judgments)),
        )
    first = found[0]
    how = (
        f"metrics {', '.join(first.metrics)}; {first.trajectory.draws} draws, "
        f"{first.trajectory.level:.0%} intervals; ± is the Monte Carlo error"
    )
    stand_ins = (
        "note: as in the paper, mean judgments stand in for human scores in the two limits, which "
        "flatters a perfect metric and slights noiseless raters; steelyard diagnose has the limits "
        "themselves"
    )
    return [table, how, stand_ins]


def _shown(curve: Curve) -> str:
    return f"{curve.data_efficiency:.3f} ± {curve.monte_carlo_error:.3f}"
