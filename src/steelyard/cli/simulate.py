"""``steelyard simulate``."""

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.options import (
    StudyChoice,
    level_option,
    output_options,
    seed_option,
    study_arguments,
    two_systems,
)
from steelyard.cli.printing import parse_bounds, print_result, progress_bar
from steelyard.errors import InvalidArgumentError
from steelyard.study.ledger_words import ledger_in_words
from steelyard.study.pair_replay import PairReplay
from steelyard.study.simulation import Replay, Rule

__all__ = ["simulate"]

_EXAMPLE = """\b
Examples:
  steelyard simulate outputs.jsonl judgments.jsonl --prompt overall --metric rouge-l \\
      --half-width 0.1 --bounds -1,1
  steelyard simulate outputs.jsonl judgments.jsonl --prompt overall --pair new old -n 50 -n 100
"""


@click.command(epilog=_EXAMPLE)
@study_arguments
@click.option(
    "--metric", "metrics", multiple=True, help="Metric to correct with; with --pair all by default."
)
@click.option("--half-width", type=float, help="The precision to reach; needed without --pair.")
@click.option(
    "--bounds", metavar="LOW,HIGH", help="Least and greatest score; needed without --pair."
)
@click.option(
    "--pair",
    nargs=2,
    callback=two_systems,
    metavar="A B",
    help="Replay the comparison of two systems instead.",
)
@click.option(
    "-n",
    "numbers",
    multiple=True,
    type=int,
    help="With --pair: items to judge of each system; 20, 50, 100 and 200 by default.",
)
@click.option("--margin", type=float, help="With --pair: differences that count as equivalent.")
@click.option(
    "--rule",
    "rules",
    multiple=True,
    type=click.Choice(get_args(Rule)),
    help="Rule to replay; all by default.",
)
@click.option("--strata", type=int, default=1, show_default=True, help="For the plan's sample.")
@click.option(
    "--size",
    help="Column of OUTPUTS that the plan's sample is drawn in proportion to, such as the metric's "
    "expected error.",
)
@click.option("--look", type=int, default=10, show_default=True, help="Judgments between looks.")
@click.option("--runs", type=int, default=200, show_default=True, help="Replays of each rule.")
@level_option
@seed_option("Seed of the replays.")
@output_options
def simulate(
    choice: StudyChoice,
    *,
    metrics: tuple[str, ...],
    half_width: float | None,
    bounds: str | None,
    pair: tuple[str, str] | None,
    numbers: tuple[int, ...],
    margin: float | None,
    rules: tuple[Rule, ...],
    strata: int,
    size: str | None,
    look: int,
    runs: int,
    level: float,
    seed: int,
    as_json: bool,
    output: Path | None,
) -> None:
    """Replay a finished campaign, to see what each way of stopping would have cost and been worth.

    Outputs come in a random order with one of their judgments. A plan judges a number fixed in
    advance and passes the rater variance on to the estimate; a confidence sequence stops when it is
    narrow enough. Each with the metric and without.

    With --pair, the comparison of two systems is replayed with fewer judgments: how far off the
    difference is, how often its interval holds the truth, and how often there is a verdict, by
    `steelyard compare` on the same items and by plain means of independent items.
    """
    study = choice.read([*metrics, *([] if size is None else [size])])
    prompts = choice.prompts or (None,)
    if len(prompts) != 1:
        raise InvalidArgumentError(
            f"`--prompt` must be one of {', '.join(study.prompts)}: bounds and goal belong to it"
        )
    if pair is not None:
        _check_pair_options(half_width=half_width, bounds=bounds, rules=rules, size=size)
        with progress_bar("replaying") as show:
            compared = study.simulate_pair(
                pair,
                numbers or None,
                metrics=tuple(dict.fromkeys(metrics)) or None,
                prompt=prompts[0],
                margin=margin,
                runs=runs,
                level=level,
                seed=seed,
                progress=show,
            )
        print_result(
            compared.to_dict(), _pair_tables(compared, level), as_json=as_json, output=output
        )
        return
    if half_width is None or bounds is None or not metrics:
        raise InvalidArgumentError(
            "a replay needs `--metric`, `--half-width` and `--bounds`, or `--pair A B`"
        )
    if numbers or margin is not None:
        raise InvalidArgumentError("`-n` and `--margin` go with `--pair A B`")
    ends = parse_bounds(bounds)
    with progress_bar("replaying") as show:
        found = study.simulate(
            tuple(dict.fromkeys(metrics)),
            prompt=prompts[0],
            half_width=half_width,
            bounds=ends,
            rules=rules or get_args(Rule),
            systems=choice.systems,
            strata=strata,
            size=size,
            look=look,
            runs=runs,
            level=level,
            seed=seed,
            progress=show,
        )
    print_result(found.to_dict(), _tables(found, half_width, level), as_json=as_json, output=output)


def _check_pair_options(**others: object) -> None:
    for name, value in others.items():
        if value:
            option = "rule" if name == "rules" else name.replace("_", "-")
            raise InvalidArgumentError(
                f"`--{option}` does not go with `--pair`, which replays numbers of items (-n)"
            )


def _pair_tables(found: Sequence[PairReplay], level: float) -> list[RenderableType]:
    first = found[0]
    table = Table(title=f"{first.a} minus {first.b}, prompt {first.prompt}", title_justify="left")
    table.add_column("judgments", justify="right")
    table.add_column("")
    for name in (
        *("error", "judgments for equal error", "half-width", "coverage"),
        *(f"{first.a} better", f"{first.b} better", "equivalent", "undecided"),
    ):
        table.add_column(name, justify="right")
    for number, one in enumerate(found):
        if number and one.n_items != found[number - 1].n_items:
            table.add_section()
        table.add_row(
            str(one.judgments),
            one.rule,
            f"{one.error:.4f}",
            "" if one.relative_judgments is None else f"{one.relative_judgments:.2f}",
            f"{one.half_width:.4f}",
            f"{one.coverage:.1%}",
            *(f"{part:.0%}" for part in (one.better_a, one.better_b)),
            *(f"{part:.0%}" for part in (one.equivalent, one.undecided)),
        )
    how = (
        f"{first.runs} replays about the difference of the whole campaign, {first.difference:+.4f}, on a pool "
        f"of {first.pool_size} items, {first.identical_items} of them with identical outputs; coverage of "
        f"{level:.0%} intervals; plain means are of independent items, and need 1 judgment for equal error"
    )
    told = [
        f"ledger, {one.judgments} judgments: {ledger_in_words(one.ledger, 'this difference')}"
        for one in found
        if one.ledger is not None
    ]
    return [table, how, *told[-1:]]


def _tables(found: list[Replay], half_width: float, level: float) -> list[RenderableType]:
    table = Table(
        title=f"Judgments until the half-width is {half_width:g}, prompt {found[0].prompt}",
        title_justify="left",
    )
    for name in ("system", "rule", "metric"):
        table.add_column(name)
    for name in ("judgments", "longest tenth", "reached", "half-width", "error", "coverage"):
        table.add_column(name, justify="right")
    for number, one in enumerate(found):
        if number and one.system != found[number - 1].system:
            table.add_section()
        table.add_row(
            one.system,
            one.rule
            + (f", {one.strata} strata" if one.strata > 1 else "")
            + (f", by {one.size}" if one.size else ""),
            ", ".join(one.metrics) or "none",
            f"{one.judgments:.0f} of {one.pool_size}",
            f"{one.most_judgments:.0f}",
            f"{one.reached:.0%}",
            f"{one.half_width:.4f}",
            f"{one.error:.4f}",
            f"{one.coverage:.1%}",
        )
    how = (
        f"{found[0].runs} replays; coverage of {level:.0%} intervals, for sequences at all looks; "
        "error is the root mean square: of a plan about the mean human score, of a sequence about "
        "the judgments drawn"
    )
    return [table, how]
