"""``steelyard monitor``."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.answers import titled
from steelyard.cli.options import (
    StudyChoice,
    about_option,
    bounds_option,
    earlier_option,
    gate_option,
    level_option,
    output_options,
    pair_options,
    price_option,
    study_arguments,
)
from steelyard.cli.printing import print_result
from steelyard.numbers import decimals_for, interval, number, signed
from steelyard.questions.about import Raters, Target
from steelyard.questions.answer import difference_decimals
from steelyard.questions.goal import Decide
from steelyard.questions.monitored import Monitored
from steelyard.questions.pairs import Gate
from steelyard.questions.weeks import Weeks, read_weeks, weeks

__all__ = ["goal_options", "monitor"]

_EXAMPLE = """\b
Examples:
  steelyard monitor outputs.jsonl judgments.jsonl --half-width 0.05 --planned 400
  steelyard monitor outputs.jsonl judgments.jsonl --goal best
  steelyard monitor outputs.jsonl judgments.jsonl --goal difference --margin 0.1
"""
_EXIT = {"holds": 0, "fails": 3, "undecided": 4}


def goal_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what a collection is to find out."""
    for add in (
        click.option(
            "--planned",
            type=float,
            help="Judgments planned of each system, where intervals are tightest.",
        ),
        click.option(
            "--goal",
            type=click.Choice(get_args(Decide)),
            help="Or which system is best; the order; every difference, to --margin.",
        ),
        click.option("--half-width", type=float, help="Goal: half-width of every mean's interval."),
    ):
        command = add(command)
    return command


@click.command(epilog=_EXAMPLE)
@study_arguments
@earlier_option
@goal_options
@price_option
@pair_options
@gate_option(*get_args(Gate))
@about_option
@bounds_option
@level_option
@output_options
def monitor(
    choice: StudyChoice,
    *,
    half_width: float | None,
    goal: Decide | None,
    margin: float | None,
    planned: float | None,
    judgment_price: float | None,
    gate: Gate | None,
    pair: tuple[str, str] | None,
    baseline: str | None,
    target: Target,
    raters: Raters | None,
    level: float,
    as_json: bool,
    output: Path | None,
) -> None:
    """Say whether the judgments are enough, as often as you like.

    Estimates are those of `steelyard estimate` and `compare`; intervals are wider, so that all of them hold
    however often you look. With --planned they are 1.14 times as long there, without it about 1.55 times.
    OUTPUTS may be a folder of dated pairs of files: the last one is monitored, and the exit code is 3 if
    systems, judge or raters changed from week to week.
    """
    study = choice.read()
    found = study.monitor(
        choice.metrics,
        half_width=half_width,
        goal=goal,
        gate=gate,
        margin=margin,
        pair=pair,
        baseline=baseline,
        planned=planned,
        judgment_price=judgment_price,
        prompts=choice.prompts,
        systems=choice.systems,
        level=level,
        target=target,
        raters=raters,
    )
    tables = [part for one in found for part in _tables(one)]
    changed = None
    if choice.weeks:
        metric = choice.metrics[0] if choice.metrics else None
        prompt = choice.prompts[0] if choice.prompts else None
        changed = weeks(
            read_weeks(choice.weeks, metric=metric, prompt=prompt, columns=choice.columns)
        )
        said = [changed.sentence, *(f"note: {note}" for note in changed.notes)]
        tables = [_weeks(changed), *said, *tables]
        for line in said if as_json else ():
            click.echo(line, err=True)
    print_result(found.to_dict(), tables, as_json=as_json, output=output)
    if gate is not None:
        answers = [pair_.answer(gate, margin, level) for one in found for pair_ in one.pairs]
        worst = next((one for one in ("fails", "undecided") if one in answers), "holds")
        click.echo(f"gate {gate}: {worst}", err=as_json)
        raise SystemExit(_EXIT[worst])
    if changed is not None and changed.changes:
        raise SystemExit(_EXIT["fails"])


def _weeks(found: Weeks) -> Table:
    """Return the table of the weeks: people on each system, and the judge and anchors beside them."""
    streams = dict(found.systems)
    streams |= {} if found.judge is None else {"judge, beside people": found.judge}
    streams |= {} if found.raters is None else {"anchors, beside then": found.raters}
    table = Table(title="Weeks", title_justify="left")
    table.add_column("week")
    for name in streams:
        table.add_column(name, justify="right")
    for place, week in enumerate(found.names):
        cells = [
            ""
            if math.isnan(one.mean[place])
            else f"{number(one.mean[place])} \u00b1 {number(one.error[place])}"
            for one in streams.values()
        ]
        table.add_row(week, *cells)
    return table


def _tables(one: Monitored) -> list[RenderableType]:
    place = one.prompt if one.slice is None else f"{one.prompt}, {one.slice}"
    said = " ".join(filter(None, (one.answer, f"{one.sentence[:1].upper()}{one.sentence[1:]}.")))
    parts: list[RenderableType] = [titled(place, said), _systems(one)]
    if one.pairs:
        parts.append(_pairs(one))
    used = f"; metrics used: {', '.join(one.metrics)}" if one.metrics else ""
    until = "" if one.planned is None else f", with {one.planned:g} planned of each system"
    parts.append(f"about {one.about}{used}")
    parts.append(f"{one.n_judgments:,} judgments so far{until}")
    parts.extend(f"note: {note}" for note in one.notes)
    return parts


def _systems(one: Monitored) -> Table:
    table = Table()
    table.add_column("system")
    for name in ("rank", "estimate"):
        table.add_column(name, justify="right")
    table.add_column(f"{one.level:.0%}, at all looks")
    table.add_column("judgments", justify="right")
    if one.goal != "none":
        table.add_column("")
        table.add_column("more", justify="right")
    places = decimals_for(system.half_width or 0.0 for system in one.systems)
    for system in one.systems:
        ends = system.low, system.high
        rank = ""
        if system.rank_low is not None:
            rank = f"{system.rank_low}"
            if system.rank_low != system.rank_high:
                rank += f" to {system.rank_high}"
        cells = [
            system.system,
            rank,
            "" if system.estimate is None else number(system.estimate, places),
            "" if ends[0] is None or ends[1] is None else interval(ends[0], ends[1], places),
            f"{system.n_judgments}",
        ]
        if one.goal != "none":
            more = "?" if system.more_judgments is None else f"{system.more_judgments:,}"
            cells += ["enough" if system.enough else "go on", "" if system.enough else more]
        table.add_row(*cells)
    return table


def _pairs(one: Monitored) -> Table:
    table = Table(title="Differences", title_justify="left")
    for name in ("a", "b"):
        table.add_column(name)
    table.add_column("a - b", justify="right")
    table.add_column(f"{one.level:.0%}, at all looks")
    if len(one.pairs) > 1:
        table.add_column("all pairs together")
    table.add_column("verdict")
    places = difference_decimals(one.pairs)
    for pair in one.pairs:
        cells = [
            pair.a,
            pair.b,
            signed(pair.difference, places),
            interval(pair.low, pair.high, places),
        ]
        if len(one.pairs) > 1:
            cells.append(interval(pair.simultaneous_low, pair.simultaneous_high, places))
        table.add_row(*cells, pair.words if pair.verdict != "undecided" else "undecided")
    return table
