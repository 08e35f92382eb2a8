"""``steelyard estimate``."""

from collections.abc import Mapping, Sequence
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
from steelyard.study.estimates import Estimates

__all__ = ["estimate"]

_Key = tuple[str | None, str | None]

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
    raters: Raters,
    interval: Interval,
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
        "cluster_by": cluster_by,
    }
    chosen = _chosen_metrics(study, metrics, no_metric=no_metric)
    found = study.estimate(chosen, raters_as=raters, **options)
    random, reason = (
        _with_random_raters(study, chosen, options) if raters == "fixed" else ({}, None)
    )
    found = Estimates(
        (_noted(one, (reason,) if reason else random.get(_key(one), one).notes) for one in found),
        found.left_out,
    )
    if as_json:
        rows = []
        for one in found:
            other = random.get(_key(one))
            rows.append(one.to_dict() | {"random_raters": other and _ends(other)})
        for note in found.notes:
            click.echo(f"note: {note}", err=True)
        print_json(rows, output)
    else:
        print_tables([*_tables(found, random), *(f"note: {note}" for note in found.notes)], output)


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
) -> tuple[dict[_Key, Estimate], str | None]:
    """Return the same estimates with raters seen as a sample, or why that cannot be told."""
    if options["target"] == "census" or options["interval"] == "betting":
        return {}, None
    try:
        found = study.estimate(metrics, raters_as="random", **options)
    except (NotEstimableError, InvalidArgumentError) as error:
        # Only this view is refused: the same options gave the estimates.
        return {}, str(error)
    return {_key(one): one for one in found}, None


def _key(one: Estimate) -> _Key:
    return one.prompt, one.system


def _noted(one: Estimate, about_raters: Sequence[str]) -> Estimate:
    """Add what is to be said of raters as a sample only."""
    more = [f"raters as a sample: {note}" for note in about_raters if note not in one.notes]
    return replace(one, notes=(*one.notes, *more))


def _tables(found: Sequence[Estimate], random: Mapping[_Key, Estimate]) -> list[RenderableType]:
    level = f"{found[0].level:.0%}"
    with_plain = any(one.metrics for one in found)
    parts: list[RenderableType] = []
    for prompt in dict.fromkeys(one.prompt for one in found):
        table = Table(title=f"Mean human score, prompt {prompt}", title_justify="left")
        table.add_column("system")
        table.add_column("estimate", justify="right")
        table.add_column(f"{level} interval")
        if random:
            table.add_column("raters random")
        if with_plain:
            table.add_column("plain mean", justify="right")
            table.add_column(f"its {level} interval")
            table.add_column("data efficiency", justify="right")
        table.add_column("judgments", justify="right")
        table.add_column("outputs", justify="right")
        for one in found:
            if one.prompt == prompt:
                table.add_row(
                    *_row(one, random.get(_key(one)), both=bool(random), with_plain=with_plain)
                )
        parts.append(table)
    first = next((one for one in found if one.metrics), found[0])
    using = f"metrics {', '.join(first.metrics)}; " if first.metrics else ""
    parts.append(f"{using}{first.method}; target {first.target}; raters {first.raters}")
    notes = dict.fromkeys(
        f"note: {one.system}, {one.prompt}: {note}" for one in found for note in one.notes
    )
    parts.extend(notes)
    return parts


def _row(one: Estimate, random: Estimate | None, *, both: bool, with_plain: bool) -> list[str]:
    cells = [str(one.system), f"{one.estimate:.3f}", shown(one.low, one.high)]
    if both:
        cells.append("" if random is None else shown(random.low, random.high))
    if with_plain:
        plain, efficiency = one.baseline or one, one.data_efficiency
        cells += [
            f"{plain.estimate:.3f}",
            shown(plain.low, plain.high),
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
