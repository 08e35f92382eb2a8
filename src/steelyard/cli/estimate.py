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
    level_option,
    output_options,
    seed_option,
    study_arguments,
)
from steelyard.cli.paths import InputPath
from steelyard.cli.printing import interval as shown
from steelyard.cli.printing import parse_bounds, print_json, print_tables
from steelyard.data import read_outputs
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate import Estimate, Interval, Raters, SlopeKind, Target
from steelyard.study import Study

__all__ = ["estimate"]

_EXAMPLE = """\b
Example:
  steelyard estimate outputs.jsonl judgments.jsonl --prompt overall --metric rouge-l
"""


@click.command(epilog=_EXAMPLE)
@study_arguments
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Column of OUTPUTS to correct with; may be given several times.",
)
@click.option("--no-metric", is_flag=True, help="The plain mean only.")
@click.option(
    "--slope",
    default="least-squares",
    show_default=True,
    help=f"{', '.join(get_args(SlopeKind))}, or numbers from a pilot (0.5 or 0.5,0.1).",
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
    default="fixed",
    show_default=True,
    help="Raters as fixed, as a sample of raters, or with their leniency taken out.",
)
@click.option(
    "--interval",
    type=click.Choice(get_args(Interval)),
    default="student",
    show_default=True,
    help="Kind of interval.",
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
    raters: Raters,
    interval: Interval,
    bounds: str | None,
    sample: Path | None,
    rater_variance: float | None,
    level: float,
    resamples: int,
    seed: int,
    as_json: bool,
    output: Path | None,
) -> None:
    """Estimate the mean human score of each system, beside the plain mean.

    OUTPUTS is the pool, with a metric on every output; JUDGMENTS are of a random sample of it.
    Both are JSON Lines, CSV or Parquet files.
    """
    study = choice.read(metrics)
    options: dict[str, Any] = {
        "prompts": choice.prompts,
        "systems": choice.systems,
        "slope": _slope(slope),
        "target": target,
        "level": level,
        "interval": interval,
        "bounds": None if bounds is None else parse_bounds(bounds),
        "rater_variance": rater_variance,
        "resamples": resamples,
        "seed": seed,
        "sample": None if sample is None else read_outputs(sample).rows(),
    }
    chosen = _chosen_metrics(study, metrics, no_metric=no_metric)
    found = study.estimate(chosen, raters_as=raters, **options)
    random, reason = (
        _with_random_raters(study, chosen, options) if raters == "fixed" else (None, None)
    )
    about_raters = [(reason,)] * len(found) if reason else [one.notes for one in random or found]
    found = [_noted(one, others) for one, others in zip(found, about_raters, strict=True)]
    if as_json:
        rows = []
        for number, one in enumerate(found):
            other = random[number] if random else None
            rows.append(one.to_dict() | {"random_raters": other and _ends(other)})
        print_json(rows, output)
    else:
        print_tables(_tables(found, random), output)


def _chosen_metrics(study: Study, metrics: Sequence[str], *, no_metric: bool) -> tuple[str, ...]:
    if no_metric:
        if metrics:
            raise InvalidArgumentError("`--metric` and `--no-metric` exclude each other")
        return ()
    if metrics:
        return tuple(dict.fromkeys(metrics))
    if len(study.metrics) == 1:
        return study.metrics
    there = ", ".join(study.metrics) or "none (steelyard needs a numeric column)"
    raise InvalidArgumentError(
        f"`--metric` must be chosen; {study.outputs.name} has: {there}; "
        "--no-metric gives the plain mean"
    )


def _with_random_raters(
    study: Study, metrics: tuple[str, ...], options: dict[str, Any]
) -> tuple[list[Estimate] | None, str | None]:
    """Return the same estimates with raters seen as a sample, or why that cannot be told."""
    if options["target"] == "census" or options["interval"] == "betting":
        return None, None
    try:
        return study.estimate(metrics, raters_as="random", **options), None
    except (NotEstimableError, InvalidArgumentError) as error:
        # Only this view is refused: the same options gave the estimates.
        return None, str(error)


def _noted(one: Estimate, about_raters: Sequence[str]) -> Estimate:
    """Add what is to be said of raters as a sample only."""
    more = [f"raters as a sample: {note}" for note in about_raters if note not in one.notes]
    return replace(one, notes=(*one.notes, *more))


def _tables(found: list[Estimate], random: list[Estimate] | None) -> list[RenderableType]:
    level = f"{found[0].level:.0%}"
    parts: list[RenderableType] = []
    for prompt in dict.fromkeys(one.prompt for one in found):
        table = Table(title=f"Mean human score, prompt {prompt}", title_justify="left")
        table.add_column("system")
        table.add_column("estimate", justify="right")
        table.add_column(f"{level} interval")
        if random:
            table.add_column("raters random")
        if found[0].metrics:
            table.add_column("plain mean", justify="right")
            table.add_column(f"its {level} interval")
            table.add_column("data efficiency", justify="right")
        table.add_column("judgments", justify="right")
        table.add_column("outputs", justify="right")
        for number, one in enumerate(found):
            if one.prompt == prompt:
                table.add_row(*_row(one, random[number] if random else None))
        parts.append(table)
    first = found[0]
    using = f"metrics {', '.join(first.metrics)}; " if first.metrics else ""
    parts.append(f"{using}{first.method}; target {first.target}; raters {first.raters}")
    notes = dict.fromkeys(
        f"note: {one.system}, {one.prompt}: {note}" for one in found for note in one.notes
    )
    parts.extend(notes)
    return parts


def _row(one: Estimate, random: Estimate | None) -> list[str]:
    cells = [str(one.system), f"{one.estimate:.3f}", shown(one.low, one.high)]
    if random is not None:
        cells.append(shown(random.low, random.high))
    if one.baseline is not None:
        efficiency = one.data_efficiency
        cells += [
            f"{one.baseline.estimate:.3f}",
            shown(one.baseline.low, one.baseline.high),
            "" if efficiency is None else f"{efficiency:.2f}",
        ]
    return [*cells, str(one.n_judgments), f"{one.n_outputs} of {one.pool_size}"]


def _ends(one: Estimate) -> dict[str, float]:
    return {"standard_error": one.standard_error, "low": one.low, "high": one.high}


def _slope(text: str) -> Any:
    if text in get_args(SlopeKind):
        return text
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InvalidArgumentError(
            f"`--slope` must be numbers or one of {', '.join(get_args(SlopeKind))}; got {text!r}"
        ) from error
