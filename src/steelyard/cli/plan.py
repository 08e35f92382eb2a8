"""``steelyard plan``."""

from pathlib import Path
from typing import Any, get_args

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.options import (
    column_mapping,
    column_option,
    level_option,
    named_metrics_of,
    output_options,
    two_systems,
    with_notes_told,
)
from steelyard.cli.paths import InputPath
from steelyard.cli.printing import print_result
from steelyard.errors import InvalidArgumentError
from steelyard.questions.plan import PlanFor
from steelyard.questions.plan import plan as typed_plan
from steelyard.questions.planned import Plan
from steelyard.study import Study

__all__ = ["plan"]

_EXAMPLE = """\b
Examples:
  steelyard plan outputs.jsonl pilot.jsonl --half-width 0.05
  steelyard plan outputs.jsonl pilot.jsonl --pair new old --difference 0.1
  steelyard plan outputs.jsonl pilot.jsonl --what order
  steelyard plan --assume item-variance=0.15 --assume rater-variance=0.3 --budget 200
"""
_ASSUMED = ("item-variance", "rater-variance", "correlation", "leniency", "pool-size")


@click.command(epilog=_EXAMPLE)
@click.argument("pilot", nargs=-1, type=InputPath(), metavar="[OUTPUTS JUDGMENTS]")
@click.option(
    "--earlier",
    multiple=True,
    type=InputPath(),
    metavar="FOLDER",
    help="Outputs and judgments of earlier versions.",
)
@click.option("--prompt", help="Prompt of the pilot; needed when it has several.")
@click.option("--system", "systems", multiple=True, help="System in question; all by default.")
@click.option(
    "--pair", nargs=2, callback=two_systems, metavar="A B", help="The difference of these two."
)
@click.option(
    "--what",
    type=click.Choice(get_args(PlanFor)),
    default="means",
    show_default=True,
    help="Each mean, all differences together, or the order.",
)
@click.option(
    "--judge",
    multiple=True,
    metavar="SYSTEM",
    help="System that gets judgments; those in question by default.",
)
@click.option("--half-width", type=float, help="Goal: how far intervals may reach to either side.")
@click.option("--difference", type=float, help="Goal: a difference to be shown.")
@click.option("--budget", type=float, help="What may be spent, instead of a goal.")
@click.option(
    "--assurance", type=float, default=0.8, show_default=True, help="Probability of the goal."
)
@click.option("--judgment-price", type=float, default=1.0, show_default=True, help="Of a judgment.")
@click.option("--n-raters", type=int, help="Raters to come; those of the pilot by default.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Metric to use; -NAME leaves one out, none all; all by default.",
)
@click.option(
    "--assume",
    "assumed",
    multiple=True,
    metavar="NAME=X",
    help=f"Instead of a pilot: {', '.join(_ASSUMED)}.",
)
@column_option
@level_option
@output_options
def plan(
    pilot: tuple[Path, ...],
    *,
    earlier: tuple[Path, ...],
    prompt: str | None,
    systems: tuple[str, ...],
    pair: tuple[str, str] | None,
    what: PlanFor,
    judge: tuple[str, ...],
    metrics: tuple[str, ...],
    assumed: tuple[str, ...],
    columns: tuple[str, ...],
    as_json: bool,
    output: Path | None,
    **goal: Any,
) -> None:
    """Say how many more judgments a goal needs, of what, and what they cost.

    Starts from a pilot (OUTPUTS and JUDGMENTS, which count too) or from assumed variances. The half-width is
    the one that `steelyard estimate` or `compare` will show. Expected: the goal is reached in half of all campaigns;
    with assurance: with that probability. Judge the planned number, or go on with `steelyard monitor`.
    """
    if pilot:
        if assumed:
            raise InvalidArgumentError("a pilot shows the variances: leave out `--assume`")
        if len(pilot) != 2:
            raise InvalidArgumentError(
                f"a pilot is OUTPUTS and JUDGMENTS; got {len(pilot)} file(s)"
            )
        named, left = named_metrics_of(metrics)
        study = Study.read(
            *pilot,
            columns=column_mapping(columns),
            metrics=named or None,
            exclude_metrics=left,
            earlier=earlier or None,
        )
        made = with_notes_told(study).plan(
            named,
            prompt=prompt,
            systems=systems or None,
            pair=pair,
            what=what,
            judge=judge or None,
            **goal,
        )
    else:
        made = typed_plan(**_numbers(assumed), **goal)
    print_result(made.to_dict(), _tables(made), as_json=as_json, output=output)


def _numbers(assumed: tuple[str, ...]) -> dict[str, Any]:
    """Return what is assumed, by the names of `steelyard.plan`."""
    found: dict[str, Any] = {}
    for text in assumed:
        name, _, value = text.partition("=")
        try:
            found[name.replace("-", "_")] = int(value) if name == "pool-size" else float(value)
        except ValueError:
            found[""] = value
        if name not in _ASSUMED or "" in found:
            raise InvalidArgumentError(
                f"`--assume` must be one of {', '.join(_ASSUMED)} with a number, such as correlation=0.5; got "
                f"{text!r}"
            )
    if not {"item_variance", "rater_variance"} <= set(found):
        raise InvalidArgumentError(
            "a plan needs a pilot (OUTPUTS JUDGMENTS), or `--assume item-variance=X --assume rater-variance=Y`"
        )
    return found


def _tables(made: Plan) -> list[RenderableType]:
    table = Table(title=f"Plan: {made.goal}", title_justify="left")
    table.add_column("")
    names = ("outputs of a system", "judgments each", "raters", "judgments", "price", "half-width")
    for name in names:
        table.add_column(name, justify="right")
    if made.half_width is not None:
        table.add_row("now", "", "", "", f"{made.made:,} made", "", f"{made.half_width:.4g}")
    cases = {"expected": made.expected, f"{made.assurance:.0%} assurance": made.assured}
    for name, one in cases.items():
        if one is None:
            table.add_row(name, "not reached")
            continue
        raters = "" if one.raters is None else str(one.raters)
        table.add_row(
            *(name, f"{one.outputs:,} more", f"{one.judgments_per_output:.3g}", raters),
            *(f"{one.judgments:,} more", f"{one.cost:,.2f}", f"{one.half_width:.4g}"),
        )
    parts: list[RenderableType] = [table]
    if made.spending:
        parts.append("the same judgments spent on one thing would give:")
        parts.extend(
            f"  ±{one.half_width:.4g} by {one.judgments:,} judgments of {one.on}"
            for one in made.spending
        )
    parts.extend(f"note: {note}" for note in made.notes)
    return parts
