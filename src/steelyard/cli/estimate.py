"""``steelyard estimate``."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.options import (
    StudyChoice,
    chosen_metrics,
    interval_options,
    level_option,
    metric_options,
    output_options,
    parse_bands,
    price_option,
    scope_options,
    seed_option,
    study_arguments,
)
from steelyard.cli.paths import InputPath
from steelyard.cli.printing import interval as shown
from steelyard.cli.printing import note_lines, parse_bounds, print_result
from steelyard.data import read_outputs
from steelyard.errors import InvalidArgumentError
from steelyard.estimate import Estimate, Interval, Raters, SlopeKind, Target
from steelyard.study.estimates import Estimates, control_in_words
from steelyard.study.ledger_words import means_ledger

__all__ = ["estimate"]

_Key = tuple[str | None, str | None]

_EXAMPLE = """\b
Examples:
  steelyard estimate outputs.jsonl judgments.jsonl --prompt overall
  steelyard estimate outputs.jsonl judgments.jsonl --by topic
"""


@click.command(epilog=_EXAMPLE)
@study_arguments
@scope_options
@metric_options("The plain mean only.")
@click.option(
    "--slope",
    default="learned",
    show_default=True,
    help="learned from all systems at once; or, for each system apart, "
    f"{', '.join(get_args(SlopeKind))}, or numbers from a pilot (0.5 or 0.5,0.1).",
)
@click.option(
    "--target",
    type=click.Choice(get_args(Target)),
    default="pool",
    show_default=True,
    help="What is estimated: this pool, a census of it, or the population behind it.",
)
@interval_options
@click.option(
    "--interval",
    type=click.Choice(get_args(Interval)),
    help="Kind of interval; by default Student's and, with a learned control, the shape that four "
    "systems or more have in common.",
)
@click.option(
    "--bounds",
    metavar="LOW,HIGH",
    help="Least and greatest possible score; for betting, and when all judgments are equal.",
)
@click.option(
    "--sample",
    type=InputPath(),
    help="What `steelyard sample` wrote, when JUDGMENTS lack its columns.",
)
@click.option(
    "--other-systems",
    is_flag=True,
    help="Correct by other systems' judgments of the same items too, where each system was drawn on "
    "its own; needs texts.",
)
@level_option
@click.option("--resamples", type=int, default=10_000, show_default=True, help="For bootstraps.")
@seed_option("For bootstraps.")
@price_option
@output_options
def estimate(
    choice: StudyChoice,
    *,
    average: dict[str, float] | None,
    by: str | None,
    bands: str | None,
    weights: dict[str, float] | None,
    metrics: tuple[str, ...],
    no_metric: bool,
    slope: str,
    target: Target,
    raters: Raters | None,
    interval: Interval | None,
    bounds: str | None,
    sample: Path | None,
    other_systems: bool,
    cluster_by: str | None,
    rater_variance: float | None,
    level: float,
    resamples: int,
    seed: int,
    judgment_price: float | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """Estimate the mean human score of each system, beside the plain mean.

    OUTPUTS is the pool, with a metric on every output; JUDGMENTS are of a random sample of it.
    Both are JSON Lines, CSV, TSV, JSON, Excel or Parquet files; `steelyard check` looks at them.
    """
    study = choice.read(metrics)
    options: dict[str, Any] = {
        "prompts": choice.prompts,
        "systems": choice.systems,
        "slope": _slope(slope),
        "target": target,
        "raters_as": raters,
        "level": level,
        "interval": interval,
        "bounds": None if bounds is None else parse_bounds(bounds),
        "rater_variance": rater_variance,
        "resamples": resamples,
        "seed": seed,
        "sample": None if sample is None else read_outputs(sample).rows(),
        "cluster_by": cluster_by,
        "other_systems": other_systems,
        "average": average,
        "by": by,
        "bands": parse_bands(bands),
        "weights": weights,
        "ledger": True,
    }
    found = study.estimate(chosen_metrics(metrics, no_metric=no_metric), **options)
    rows = [one.to_dict() | {"random_raters": _random(one)} for one in found]
    print_result(rows, _tables(found, judgment_price), as_json=as_json, output=output)
    for note in found.notes if as_json else ():
        click.echo(f"note: {note}", err=True)


def _tables(found: Estimates, price: float | None) -> list[RenderableType]:
    level = f"{found[0].level:.0%}"
    parts: list[RenderableType] = []
    for prompt in dict.fromkeys(one.prompt for one in found):
        own = [one for one in found if one.prompt == prompt]
        corrected = any(one.baseline is not None for one in own)
        wider = any(one.new_outputs is not None for one in own)
        table = Table(title=f"Mean human score, prompt {prompt}", title_justify="left")
        cut = any(one.slice is not None for one in own)
        if cut:
            table.add_column("slice")
        table.add_column("system")
        table.add_column("estimate", justify="right")
        table.add_column(f"{level} interval")
        if wider:
            table.add_column("for new outputs")
        if corrected:
            table.add_column("plain mean", justify="right")
            table.add_column(f"its {level} interval")
            table.add_column("data efficiency", justify="right")
        table.add_column("judgments", justify="right")
        table.add_column("outputs", justify="right")
        for one in own:
            row = _row(one, wider=wider, corrected=corrected)
            table.add_row(*([str(one.slice)] if cut else []), *row)
        parts.append(table)
        # Slices have pools of different sizes; those of a mix have one.
        several = len({one.slice for one in own}) > 1
        first = replace(own[0], pool_size=None, slice=None) if several else own[0]
        parts.append(f"about {first.about}; {own[0].method}")
        parts.extend(_carried(own))
        spent = means_ledger(own, price=price)
        parts.extend([] if spent is None else [f"ledger: {spent}"])
    parts.extend(note_lines((one.system, _place(one), note) for one in found for note in one.notes))
    parts.extend(f"note: {note}" for note in found.notes)
    return parts


def _place(one: Estimate) -> str:
    return ", ".join(str(name) for name in (one.prompt, one.slice) if name is not None)


def _row(one: Estimate, *, wider: bool, corrected: bool) -> list[str]:
    cells = [str(one.system), f"{one.estimate:.3f}", shown(one.low, one.high)]
    if wider:
        new = one.new_outputs
        cells.append("" if new is None else shown(new.low, new.high))
    if corrected:
        plain, efficiency = one.baseline or one, one.data_efficiency
        cells += [
            f"{plain.estimate:.3f}",
            shown(plain.low, plain.high),
            "" if efficiency is None else f"{efficiency:.2f}",
        ]
    return [*cells, str(one.n_judgments), f"{one.n_outputs} of {one.pool_size}"]


def _carried(own: Sequence[Estimate]) -> list[str]:
    """Say which metrics correct, and how much each carries of a learned control."""
    words = control_in_words(own)
    if words is None and own[0].metrics:
        words = f"metrics {', '.join(own[0].metrics)}"
    return [] if words is None else [words]


def _random(one: Estimate) -> dict[str, float] | None:
    if one.raters == "fixed":
        return None
    return {"standard_error": one.standard_error, "low": one.low, "high": one.high}


def _slope(text: str) -> Any:
    if text == "learned" or text in get_args(SlopeKind):
        return text
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InvalidArgumentError(
            "`--slope` must be numbers or one of learned, "
            f"{', '.join(get_args(SlopeKind))}; got {text!r}"
        ) from error
