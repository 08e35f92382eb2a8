"""``steelyard monitor``."""

import math
from pathlib import Path
from typing import get_args

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.options import (
    StudyChoice,
    about_options,
    bounds_option,
    gate_option,
    level_option,
    output_options,
    pair_options,
    study_arguments,
)
from steelyard.cli.printing import interval as shown
from steelyard.cli.printing import parse_bounds, print_result
from steelyard.questions.about import Raters, Target
from steelyard.questions.goal import Decide
from steelyard.questions.monitored import Monitored
from steelyard.questions.pairs import Gate

__all__ = ["GoalType", "goal_options", "monitor"]

_EXAMPLE = """\b
Examples:
  steelyard monitor outputs.jsonl judgments.jsonl --half-width 0.05 --planned 400
  steelyard monitor outputs.jsonl judgments.jsonl --goal best --margin 0.02
"""
_EXIT = {"holds": 0, "fails": 3, "undecided": 4}


class GoalType(click.ParamType[tuple[Decide, float | None]]):
    """``best``, ``order`` or ``difference=D``, as a goal and a margin."""

    name = "goal"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Decide, float | None]:
        """Return the goal and, with difference, its margin."""
        if isinstance(value, tuple):
            return value
        word, _, number = str(value).partition("=")
        if word == "difference":
            try:
                margin = float(number)
            except ValueError:
                margin = math.nan
            if not 0 < margin < math.inf:
                message = "difference needs a number greater than 0, such as difference=0.05"
                self.fail(f"{message}; got {value}", param, ctx)
            return "difference", margin
        if number or word not in {"best", "order"}:
            self.fail(f"must be best, order or difference=D; got {value}", param, ctx)
        return ("best" if word == "best" else "order"), None


def goal_options(command: click.decorators.FC) -> click.decorators.FC:
    """Add what a collection is to find out."""
    for decorate in reversed(
        (
            click.option(
                "--half-width", type=float, help="Goal: half-width of every mean's interval."
            ),
            click.option(
                "--goal",
                type=GoalType(),
                metavar="best|order|difference=D",
                help="Goal: which system is best; the order of all; of every pair which is better, or "
                "that they differ by at most D.",
            ),
            click.option(
                "--planned",
                type=float,
                help="Judgments planned of each system, where intervals are tightest; choose it before looking.",
            ),
            click.option("--budget", type=float, help="Or money for all judgments of a prompt."),
            click.option(
                "--judgment-price",
                type=click.FloatRange(min=0, min_open=True),
                help="Of one judgment.",
            ),
        )
    ):
        command = decorate(command)
    return command


@click.command(epilog=_EXAMPLE)
@study_arguments
@goal_options
@pair_options
@gate_option(*get_args(Gate))
@about_options
@bounds_option
@level_option
@output_options
def monitor(
    choice: StudyChoice,
    *,
    half_width: float | None,
    goal: tuple[Decide, float | None] | None,
    margin: float | None,
    planned: float | None,
    budget: float | None,
    judgment_price: float | None,
    gate: Gate | None,
    pair: tuple[str, str] | None,
    baseline: str | None,
    target: Target,
    raters: Raters | None,
    bounds: str | None,
    level: float,
    as_json: bool,
    output: Path | None,
) -> None:
    """Say whether the judgments are enough, as often as you like.

    Estimates are those of `steelyard estimate` and `compare`; intervals are wider, so that all of them hold
    however often you look. With --planned they are 1.14 times as long there, without it about 1.55 times.
    What is not back yet counts as not drawn.
    """
    decide, difference = (None, None) if goal is None else goal
    study = choice.read()
    found = study.monitor(
        choice.metrics,
        half_width=half_width,
        goal=decide,
        gate=gate,
        margin=margin if difference is None else difference,
        pair=pair,
        baseline=baseline,
        planned=planned,
        budget=budget,
        judgment_price=judgment_price,
        prompts=choice.prompts,
        systems=choice.systems,
        level=level,
        target=target,
        raters=raters,
        bounds=None if bounds is None else parse_bounds(bounds),
    )
    tables = [part for one in found for part in _tables(one)]
    print_result(found.to_dict(), tables, as_json=as_json, output=output)
    if gate is not None:
        answers = [pair_.answer(gate, margin, level) for one in found for pair_ in one.pairs]
        worst = next((one for one in ("fails", "undecided") if one in answers), "holds")
        click.echo(f"gate {gate}: {worst}", err=as_json)
        raise SystemExit(_EXIT[worst])


def _tables(one: Monitored) -> list[RenderableType]:
    parts: list[RenderableType] = [_systems(one)]
    if one.pairs:
        parts.append(_pairs(one))
    if one.answer:
        parts.append(one.answer)
    used = f"; metrics used: {', '.join(one.metrics)}" if one.metrics else ""
    until = "" if one.planned is None else f", with {one.planned:g} planned of each system"
    parts.append(f"about {one.about}{used}")
    parts.append(f"{one.n_judgments:,} judgments so far{until}; {one.sentence}")
    parts.extend(f"note: {note}" for note in one.notes)
    return parts


def _systems(one: Monitored) -> Table:
    place = one.prompt if one.slice is None else f"{one.prompt}, {one.slice}"
    table = Table(title=f"Judgments so far, prompt {place}", title_justify="left")
    table.add_column("system")
    for name in ("rank", "estimate"):
        table.add_column(name, justify="right")
    table.add_column(f"{one.level:.0%}, at all looks")
    table.add_column("judgments", justify="right")
    if one.goal != "none":
        table.add_column("")
        table.add_column("more", justify="right")
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
            "" if system.estimate is None else f"{system.estimate:.3f}",
            "" if ends[0] is None or ends[1] is None else shown(ends[0], ends[1]),
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
    for pair in one.pairs:
        cells = [pair.a, pair.b, f"{pair.difference:+.3f}", shown(pair.low, pair.high)]
        if len(one.pairs) > 1:
            cells.append(shown(pair.simultaneous_low, pair.simultaneous_high))
        table.add_row(*cells, pair.words if pair.verdict != "undecided" else "undecided")
    return table
