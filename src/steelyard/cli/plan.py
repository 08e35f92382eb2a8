"""``steelyard plan``."""

from pathlib import Path
from typing import Any, get_args

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.options import (
    NO_METRIC,
    column_mapping,
    column_option,
    level_option,
    output_options,
    two_systems,
    with_notes_told,
)
from steelyard.cli.paths import InputPath
from steelyard.cli.printing import print_result
from steelyard.errors import InvalidArgumentError
from steelyard.questions.plan import PlanAsked, PlanFor
from steelyard.questions.plan import plan as typed_plan
from steelyard.questions.plans import Plan
from steelyard.study import Study

__all__ = ["plan"]

_EXAMPLE = """\b
Examples:
  steelyard plan outputs.jsonl pilot.jsonl --half-width 0.05
  steelyard plan outputs.jsonl pilot.jsonl --compare new old --difference 0.1
  steelyard plan outputs.jsonl pilot.jsonl --for order
  steelyard plan --item-variance 0.15 --rater-variance 0.3 --correlation 0.5,0.3,0.6 --budget 200
"""


@click.command(epilog=_EXAMPLE)
@click.argument("pilot", nargs=-1, type=InputPath(), metavar="[OUTPUTS JUDGMENTS]")
@click.option(
    "--earlier",
    multiple=True,
    type=InputPath(),
    metavar="FOLDER",
    help="Outputs and judgments of earlier versions: what does this one cost?",
)
@click.option("--prompt", help="Prompt of the pilot; needed when it has several.")
@click.option(
    "--system", "systems", multiple=True, help="System that is asked about; all by default."
)
@click.option(
    "--for",
    "what",
    type=click.Choice(get_args(PlanFor)),
    default="means",
    show_default=True,
    help="What is to be known of them: each mean, all differences, or their order.",
)
@click.option(
    "--compare", nargs=2, callback=two_systems, metavar="A B", help="The difference of two systems."
)
@click.option(
    "--judge",
    multiple=True,
    metavar="SYSTEM",
    help="System that gets judgments; those asked about by default.",
)
@click.option("--half-width", type=float, help="How far intervals may reach to either side.")
@click.option("--difference", type=float, help="Difference to be shown, with --power.")
@click.option("--budget", type=float, help="What may be spent.")
@click.option("--power", type=float, default=0.8, show_default=True, help="For --difference.")
@click.option(
    "--assurance",
    type=float,
    default=0.8,
    show_default=True,
    help="Probability of reaching the goal.",
)
@click.option("--judgment-price", type=float, default=1.0, show_default=True, help="Of a judgment.")
@click.option(
    "--output-price",
    type=float,
    default=0.0,
    show_default=True,
    help="Of an output, beside its judgments.",
)
@click.option(
    "--judgments-per-output", type=float, help="1.2: every fifth twice; the cheapest by default."
)
@click.option("--n-raters", type=int, help="Raters to come; those of the pilot by default.")
@click.option(
    "--same-items/--independent", default=True, show_default=True, help="Items of all systems."
)
@click.option(
    "--metric", "metrics", multiple=True, help="Metric to correct with, or none; all by default."
)
@click.option(
    "--item-variance", metavar="X[,LOW,HIGH]", help="Between outputs, instead of a pilot."
)
@click.option("--rater-variance", metavar="X[,LOW,HIGH]", help="Between judgments of an output.")
@click.option(
    "--correlation", metavar="X[,LOW,HIGH]", help="Of metric and human score; 0 by default."
)
@click.option("--leniency", metavar="X[,LOW,HIGH]", help="Variance between raters; 0 by default.")
@click.option("--pool-size", type=int, help="With typed variances: outputs of a system.")
@column_option
@level_option
@output_options
def plan(
    pilot: tuple[Path, ...],
    *,
    earlier: tuple[Path, ...],
    prompt: str | None,
    systems: tuple[str, ...],
    what: PlanFor,
    compare: tuple[str, str] | None,
    judge: tuple[str, ...],
    half_width: float | None,
    difference: float | None,
    budget: float | None,
    power: float,
    assurance: float,
    judgment_price: float,
    output_price: float,
    judgments_per_output: float | None,
    n_raters: int | None,
    same_items: bool,
    metrics: tuple[str, ...],
    item_variance: str | None,
    rater_variance: str | None,
    correlation: str | None,
    leniency: str | None,
    pool_size: int | None,
    columns: tuple[str, ...],
    level: float,
    as_json: bool,
    output: Path | None,
) -> None:
    """Say how many more judgments a goal needs, of what, and what they cost.

    Starts from a pilot (OUTPUTS and JUDGMENTS, which count too) or from typed variances. The half-width is
    the one that `steelyard estimate` or `compare` will show. Expected: the goal is reached in half of all campaigns;
    with assurance: with that probability. Judge the planned number, or go on with `steelyard monitor`.
    """
    goal: dict[str, Any] = {
        "half_width": half_width,
        "budget": budget,
        "difference": difference,
        "power": power,
        "assurance": assurance,
        "output_price": output_price,
        "judgment_price": judgment_price,
        "judgments_per_output": judgments_per_output,
        "n_raters": n_raters,
        "level": level,
    }
    typed = {
        "item_variance": item_variance,
        "rater_variance": rater_variance,
        "correlation": correlation,
        "leniency": leniency,
    }
    if pilot:
        given = [
            name for name, value in (*typed.items(), ("pool_size", pool_size)) if value is not None
        ]
        if given:
            raise InvalidArgumentError(
                f"a pilot shows the variances: leave out `--{given[0].replace('_', '-')}`"
            )
        chosen = None if metrics == (NO_METRIC,) else metrics
        made = _read(pilot, earlier, chosen or (), columns).plan(
            () if chosen is None else chosen or None,
            prompt=prompt,
            systems=systems or None,
            compare=compare,
            what=what,
            judge=judge or None,
            same_items=same_items,
            **goal,
        )
    else:
        if item_variance is None or rater_variance is None:
            raise InvalidArgumentError(
                "a plan needs a pilot (OUTPUTS JUDGMENTS), or `--item-variance` and `--rater-variance`"
            )
        numbers = {name: _numbers(name, text) for name, text in typed.items() if text is not None}
        made = typed_plan(**numbers, pool_size=pool_size, asked=PlanAsked(**goal))
    print_result(made.to_dict(), _tables(made), as_json=as_json, output=output)


def _read(
    pilot: tuple[Path, ...],
    earlier: tuple[Path, ...],
    metrics: tuple[str, ...],
    columns: tuple[str, ...],
) -> Study:
    if len(pilot) != 2:
        raise InvalidArgumentError(f"a pilot is OUTPUTS and JUDGMENTS; got {len(pilot)} file(s)")
    return with_notes_told(
        Study.read(
            *pilot,
            columns=column_mapping(columns),
            metrics=list(metrics) or None,
            earlier=earlier or None,
        )
    )


def _numbers(name: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidArgumentError(
            f"`--{name.replace('_', '-')}` must be a number, or a number with the ends of its interval "
            f"such as 0.5,0.3,0.6; got {text!r}"
        ) from None


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
