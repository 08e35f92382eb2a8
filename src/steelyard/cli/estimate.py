"""``steelyard estimate``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

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
from steelyard.cli.paths import InputPath
from steelyard.cli.printing import interval as shown
from steelyard.cli.printing import parse_bounds, print_json, print_tables
from steelyard.data import read_outputs
from steelyard.errors import InvalidArgumentError
from steelyard.estimate import Estimate, Interval, Raters, SlopeKind, Target
from steelyard.study.estimates import Estimates, control_in_words

__all__ = ["estimate"]

_Key = tuple[str | None, str | None]

_EXAMPLE = """\b
Example:
  steelyard estimate outputs.jsonl judgments.jsonl --prompt overall
"""


@click.command(epilog=_EXAMPLE)
@study_arguments
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Column of OUTPUTS to correct with; may be given several times. All by default.",
)
@click.option("--no-metric", is_flag=True, help="The plain mean only.")
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
@click.option(
    "--raters",
    type=click.Choice(get_args(Raters)),
    help="Raters as fixed, as a sample of raters, or as a sample with their leniency taken out. "
    "By default a sample where at least five are known.",
)
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
    "--cluster-by",
    metavar="COLUMN",
    help="Column that names the cluster of an output, whose outputs may be alike; `cluster` if there is one.",
)
@click.option("--rater-variance", type=float, help="Variance of judgments of one output.")
@level_option
@click.option("--resamples", type=int, default=10_000, show_default=True, help="For bootstraps.")
@seed_option("For bootstraps.")
@output_options
def estimate(
    choice: StudyChoice,
    *,
    metrics: tuple[str, ...],
    no_metric: bool,
    slope: str,
    target: Target,
    raters: Raters | None,
    interval: Interval | None,
    bounds: str | None,
    sample: Path | None,
    cluster_by: str | None,
    rater_variance: float | None,
    level: float,
    resamples: int,
    seed: int,
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
    }
    found = study.estimate(_chosen_metrics(metrics, no_metric=no_metric), **options)
    if as_json:
        print_json([one.to_dict() | {"random_raters": _random(one)} for one in found], output)
        for note in found.notes:
            click.echo(f"note: {note}", err=True)
    else:
        print_tables(_tables(found), output)


def _chosen_metrics(metrics: Sequence[str], *, no_metric: bool) -> tuple[str, ...] | None:
    if no_metric and metrics:
        raise InvalidArgumentError("`--metric` and `--no-metric` exclude each other")
    return tuple(dict.fromkeys(metrics)) if metrics or no_metric else None


def _tables(found: Estimates) -> list[RenderableType]:
    level = f"{found[0].level:.0%}"
    parts: list[RenderableType] = []
    for prompt in dict.fromkeys(one.prompt for one in found):
        own = [one for one in found if one.prompt == prompt]
        corrected = any(one.baseline is not None for one in own)
        wider = any(one.new_outputs is not None for one in own)
        table = Table(title=f"Mean human score, prompt {prompt}", title_justify="left")
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
            table.add_row(*_row(one, wider=wider, corrected=corrected))
        parts.append(table)
        parts.append(f"about {own[0].about}; {own[0].method}")
        parts.extend(_carried(own))
    notes = dict.fromkeys(
        f"note: {one.system}, {one.prompt}: {note}" for one in found for note in one.notes
    )
    parts.extend(notes)
    parts.extend(f"note: {note}" for note in found.notes)
    return parts


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
