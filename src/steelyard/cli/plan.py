"""``steelyard plan``."""

from pathlib import Path
from typing import get_args

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.options import (
    by_file,
    column_mapping,
    file_options,
    level_option,
    output_options,
    two_systems,
    with_notes_told,
)
from steelyard.cli.paths import InputPath, OutputFile
from steelyard.cli.printing import headed, print_result
from steelyard.design import Assumptions, Case, Judged, Pair, Plan, Prices
from steelyard.design import plan as make_plan
from steelyard.errors import InvalidArgumentError
from steelyard.single.quantity import Quantity
from steelyard.study import Study
from steelyard.study.planning import PlannedDraw
from steelyard.study.verdict import assumed_verdict

__all__ = ["plan"]

_EXAMPLE = """\b
Examples:
  steelyard plan outputs.jsonl pilot.jsonl --prompt overall --metric rouge-l --half-width 0.05
  steelyard plan --item-variance 0.15 --rater-variance 0.3 --correlation 0.5,0.3,0.6 --budget 200
  steelyard plan outputs.jsonl pilot.jsonl --prompt overall --compare A B --difference 0.1
"""


@click.command(epilog=_EXAMPLE)
@click.argument("pilot", nargs=-1, type=InputPath(), metavar="[OUTPUTS JUDGMENTS]")
@click.option("--prompt", help="Prompt of the pilot; needed when it has several.")
@click.option(
    "--system", "systems", multiple=True, help="System whose mean is planned; all by default."
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Metric that will be corrected with; all by default.",
)
@click.option("--no-metric", is_flag=True, help="Judgments only.")
@click.option(
    "--compare",
    nargs=2,
    callback=two_systems,
    metavar="A B",
    help="Plan the difference of two systems as `compare --pair` will show it: pairs of outputs of "
    "the items on which they differ.",
)
@click.option(
    "--identical",
    type=float,
    help="With --compare or --difference and typed variances: share of items with identical outputs, "
    "which need no judgment.",
)
@file_options
@click.option("--item-variance", metavar="X[,LOW,HIGH]", help="Instead of a pilot.")
@click.option("--rater-variance", metavar="X[,LOW,HIGH]", help="Instead of a pilot.")
@click.option("--correlation", metavar="X[,LOW,HIGH]", help="Instead of a pilot; 0 by default.")
@click.option("--half-width", type=float, help="Half the length of the interval to reach.")
@click.option("--budget", type=float, help="What may be spent, instead of a half-width.")
@click.option(
    "--difference",
    type=float,
    help="Difference of two systems to be seen, instead of a half-width; typed variances are then "
    "those of differences.",
)
@click.option("--power", type=float, default=0.8, show_default=True, help="For --difference.")
@click.option(
    "--assurance",
    type=float,
    default=0.8,
    show_default=True,
    help="Probability of reaching the goal, over what is not known of the variances and over campaigns.",
)
@click.option("--pool-size", type=int, help="Outputs of one system; from the pilot by default.")
@click.option("--output-price", type=float, default=0.0, show_default=True, help="Of an output.")
@click.option("--judgment-price", type=float, default=1.0, show_default=True, help="Of a judgment.")
@click.option(
    "--judgments-per-output",
    type=int,
    help="Of every output; by default the cheapest number, or one and a second one of some.",
)
@click.option(
    "--n-raters",
    type=int,
    help="Raters who will judge, where they are a sample; as many as in the pilot by default.",
)
@click.option(
    "--pass-rater-variance",
    is_flag=True,
    help="Plan for an estimate that is told the rater variance; the value to pass is printed.",
)
@click.option(
    "--design",
    type=click.Choice(get_args(PlannedDraw)),
    default="simple",
    show_default=True,
    help="How outputs will be drawn: simply, or spread over metrics as `sample --design spread` does.",
)
@level_option
@click.option(
    "--figure",
    type=OutputFile(),
    help="Also draw price against half-width to this file (.svg, .pdf or .png).",
)
@output_options
def plan(
    pilot: tuple[Path, ...],
    *,
    prompt: str | None,
    systems: tuple[str, ...],
    metrics: tuple[str, ...],
    no_metric: bool,
    compare: tuple[str, str] | None,
    identical: float | None,
    columns: tuple[str, ...],
    separators: tuple[str, ...],
    decimals: tuple[str, ...],
    item_variance: str | None,
    rater_variance: str | None,
    correlation: str | None,
    half_width: float | None,
    budget: float | None,
    difference: float | None,
    power: float,
    assurance: float,
    pool_size: int | None,
    output_price: float,
    judgment_price: float,
    judgments_per_output: int | None,
    n_raters: int | None,
    pass_rater_variance: bool,
    design: PlannedDraw,
    level: float,
    figure: Path | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """Tell how many outputs to judge, how often, and what it costs, before spending.

    Starts from a pilot (OUTPUTS and JUDGMENTS, some outputs judged twice) or from typed variances.
    Plans as expected, which reaches the goal in about half of all campaigns, and with a stated assurance,
    with the metrics and without. The half-width is the one that `steelyard estimate` will show for the
    planned judgments of each system, or `steelyard compare --pair A B` for two systems. What is then counted are pairs: an item on which the two differ, with the outputs of
    both, which are both judged and paid for.
    """
    if no_metric and metrics:
        raise InvalidArgumentError("`--metric` and `--no-metric` exclude each other")
    if identical is not None and (pilot or not (compare or difference)):
        raise InvalidArgumentError(
            "`--identical` goes with typed variances of a difference; a pilot's outputs show it"
        )
    if n_raters is not None and not pilot:
        raise InvalidArgumentError("`--n-raters` goes with a pilot, which shows how raters differ")
    if design == "spread" and (compare or difference is not None):
        raise InvalidArgumentError(
            "`--design spread` goes with means: pairs are drawn simply (`steelyard sample --pair`)"
        )
    typed = (item_variance, rater_variance, correlation)
    if pilot and any(value is not None for value in typed):
        raise InvalidArgumentError("a pilot and typed variances exclude each other")
    if pilot:
        made: Plan = _read(pilot, metrics, columns, separators, decimals).plan(
            metrics if metrics or no_metric else None,
            prompt=prompt,
            systems=systems or None,
            compare=compare,
            half_width=half_width,
            budget=budget,
            difference=difference,
            power=power,
            assurance=assurance,
            pool_size=pool_size,
            output_price=output_price,
            judgment_price=judgment_price,
            judgments_per_output=judgments_per_output,
            n_raters=n_raters,
            pass_rater_variance=pass_rater_variance,
            design=design,
            level=level,
        )
    else:
        made = make_plan(
            _typed(*typed),
            half_width=half_width,
            budget=budget,
            difference=difference,
            power=power,
            assurance=assurance,
            pool_size=pool_size,
            prices=Prices(output=output_price, judgment=judgment_price),
            judgments_per_output=judgments_per_output,
            n_metrics=int(correlation is not None),
            level=level,
            paired=Pair(identical=identical or 0.0) if compare or difference is not None else None,
            rater_variance_given=pass_rater_variance,
            judged=Judged(spread=design == "spread"),
        )
    if figure is not None:
        # matplotlib is slow to load
        from steelyard.report.files import save_figure  # noqa: PLC0415
        from steelyard.report.plan import plan_plot  # noqa: PLC0415

        save_figure(plan_plot(made), figure)
    words = _forecast(made, ", ".join(metrics) or ("the control"))
    print_result(
        made.to_dict() | {"forecast": words}, _tables(made, words), as_json=as_json, output=output
    )


def _read(
    pilot: tuple[Path, ...],
    metrics: tuple[str, ...],
    columns: tuple[str, ...],
    separators: tuple[str, ...],
    decimals: tuple[str, ...],
) -> Study:
    if len(pilot) != 2:
        raise InvalidArgumentError(f"a pilot is OUTPUTS and JUDGMENTS; got {len(pilot)} file(s)")
    return with_notes_told(
        Study.read(
            *pilot,
            columns=column_mapping(columns),
            metrics=list(metrics) or None,
            separator=by_file("--separator", separators),
            decimal=by_file("--decimal", decimals),
        )
    )


def _typed(item: str | None, rater: str | None, correlation: str | None) -> Assumptions:
    if item is None or rater is None:
        raise InvalidArgumentError(
            "a plan needs a pilot (OUTPUTS JUDGMENTS), or `--item-variance` and `--rater-variance`"
        )
    return Assumptions(
        item_variance=_quantity("--item-variance", item),
        rater_variance=_quantity("--rater-variance", rater),
        correlation=_quantity("--correlation", correlation or "0"),
    )


def _quantity(name: str, text: str) -> Quantity:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) == 1:
        numbers *= 3
    if len(numbers) != 3:
        raise InvalidArgumentError(
            f"`{name}` must be a number, or a number with the ends of its interval such as "
            f"0.5,0.3,0.6; got {text!r}"
        )
    return Quantity(*numbers)


def _forecast(made: Plan, metric: str) -> str:
    assumed = made.assumptions
    item, rater = assumed.item_variance.value, assumed.rater_variance.value
    return assumed_verdict(
        rater / item if item > 0 else float("inf"),
        metric=metric if made.n_metrics else None,
        correlation=assumed.correlation.value,
        efficiency=made.data_efficiency if made.n_metrics else None,
    )


def _tables(made: Plan, words: str) -> list[RenderableType]:
    sure = f"{made.assurance:.0%} assurance"
    rows: dict[str, Case | None] = {"expected": made.expected, sure: made.assured}
    if made.n_metrics:
        rows |= {
            "plain mean, expected": made.expected_without,
            f"plain mean, {sure}": made.assured_without,
        }
    paired = made.expected.pairs is not None
    repeats = any(case is not None and case.second_judgments for case in rows.values())
    table = Table(title="Plan", title_justify="left")
    table.add_column("")
    for name in _shown(
        *("pairs", "outputs", "judgments each", "second judgments", "judgments", "price"),
        "half-width",
        paired=paired,
        repeats=repeats,
    ):
        table.add_column(name, justify="right")
    for name, case in rows.items():
        cells = ["not reached"] if case is None else _cells(case)
        table.add_row(name, *(_shown(*cells, paired=paired, repeats=repeats) if case else cells))
    parts: list[RenderableType] = [table]
    if made.n_metrics:
        efficiency = made.data_efficiency
        parts.append(
            f"data efficiency to expect: {efficiency.value:.2f} "
            f"({efficiency.low:.2f} to {efficiency.high:.2f})"
        )
    parts.append(headed("Forecast:", words))
    parts.extend(f"note: {note}" for note in made.notes)
    return parts


def _shown(*cells: str, paired: bool, repeats: bool) -> list[str]:
    """Leave out the columns of pairs and of second judgments where there are none."""
    pairs, outputs, each, second, *rest = cells
    return [*([pairs] if paired else []), outputs, each, *([second] if repeats else []), *rest]


def _cells(case: Case) -> list[str]:
    return [
        str(case.pairs),
        str(case.outputs),
        str(case.judgments_per_output),
        str(case.second_judgments),
        str(case.judgments),
        f"{case.cost:,.2f}",
        f"{case.half_width:.4f}",
    ]
