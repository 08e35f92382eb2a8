"""``steelyard replay``."""

from pathlib import Path

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.monitor import goal_options
from steelyard.cli.options import (
    StudyChoice,
    output_options,
    seed_option,
    study_arguments,
)
from steelyard.cli.printing import print_result, progress_bar
from steelyard.errors import InvalidArgumentError
from steelyard.numbers import signed
from steelyard.questions.goal import Decide
from steelyard.questions.replay import Replay

__all__ = ["replay"]

_EXAMPLE = """\b
Examples:
  steelyard replay outputs.jsonl judgments.jsonl -n 50 -n 100
  steelyard replay outputs.jsonl judgments.jsonl -n 200 --goal best --planned 200
"""


@click.command(epilog=_EXAMPLE)
@study_arguments
@click.option(
    "-n",
    "numbers",
    multiple=True,
    type=int,
    help="Outputs of each system to judge; with a goal, at most.",
)
@goal_options
@click.option("--margin", type=float, help="Differences that do not matter.")
@click.option("--runs", type=int, default=200, show_default=True, help="Number of replays.")
@seed_option("Seed of the replays.")
@output_options
def replay(
    choice: StudyChoice,
    *,
    numbers: tuple[int, ...],
    half_width: float | None,
    goal: Decide | None,
    margin: float | None,
    planned: float | None,
    runs: int,
    seed: int,
    as_json: bool,
    output: Path | None,
) -> None:
    """Replay a finished campaign: what fewer judgments, or a stopping rule, would have shown.

    Smaller campaigns are drawn from the judged items, which stand for the pool, and asked the questions of
    `steelyard estimate`, `compare` and `monitor`.
    """
    if not numbers:
        raise InvalidArgumentError("`-n` is needed: outputs of each system to judge, such as -n 50")
    study = choice.read()
    with progress_bar("replaying") as show:
        found = study.replay(
            numbers,
            choice.metrics,
            half_width=half_width,
            goal=goal,
            margin=margin,
            planned=planned,
            runs=runs,
            seed=seed,
            prompts=choice.prompts,
            progress=show,
        )
    tables = [part for one in found for part in _tables(one)]
    print_result(found.to_dict(), tables, as_json=as_json, output=output)


def _tables(one: Replay) -> list[RenderableType]:
    aim = "" if one.goal == "none" else f", goal {one.goal}"
    title = f"{one.prompt}: {one.n_outputs} outputs of each system{aim}"
    table = Table(title=title, title_justify="left")
    table.add_column("system")
    names = ("judgments", "error", "of plain means", "half-width", "holds", "only best")
    for name in names if len(one.systems) > 1 else names[:-1]:
        table.add_column(name, justify="right")
    for system in one.systems:
        cells = [
            system.system,
            f"{system.judgments:,.0f}",
            f"{system.error:.3f}",
            f"{system.plain_error:.3f}",
            f"{system.half_width:.3f}",
            f"{system.coverage:.0%}",
        ]
        table.add_row(*cells, *([f"{system.best:.0%}"] if len(one.systems) > 1 else []))
    parts: list[RenderableType] = [table]
    if one.pairs:
        parts.append(_pairs(one))
    said = (
        f"{one.judgments:,.0f} judgments on average, {one.most_judgments:,.0f} in the longest tenth"
    )
    if one.reached is not None:
        said += f"; the goal is reached in {one.reached:.0%}"
    if one.pairs:
        said += f"; a wrong verdict in {one.wrong:.1%}"
    parts.append(f"{said} of {one.runs} replays")
    if one.metrics:
        parts.append(f"metrics used: {', '.join(one.metrics)}")
    parts.extend(f"note: {note}" for note in one.notes)
    return parts


def _pairs(one: Replay) -> Table:
    table = Table(title="Differences", title_justify="left")
    for name in ("a", "b"):
        table.add_column(name)
    names = ("a - b", "error", "half-width", "holds", "a better", "b better", "undecided")
    for name in names:
        table.add_column(name, justify="right")
    for pair in one.pairs:
        table.add_row(
            pair.a,
            pair.b,
            signed(pair.truth, 3),
            f"{pair.error:.3f}",
            f"{pair.half_width:.3f}",
            f"{pair.coverage:.0%}",
            f"{pair.better_a:.0%}",
            f"{pair.better_b:.0%}",
            f"{pair.undecided:.0%}",
        )
    return table
