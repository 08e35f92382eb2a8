"""What ``steelyard monitor --goal`` prints."""

import math

import click
from rich.console import RenderableType
from rich.table import Table

from steelyard.design.race import RaceGoal
from steelyard.study.race_result import Raced, Racer

__all__ = ["RaceGoalType", "race_tables"]


class RaceGoalType(click.ParamType[tuple[RaceGoal, float | None]]):
    """``best``, ``order`` or ``difference=D``, as a goal and a margin."""

    name = "goal"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[RaceGoal, float | None]:
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


def race_tables(found: list[Raced]) -> list[RenderableType]:
    """Return a table for each prompt, with what is known and what is claimed."""
    parts: list[RenderableType] = []
    for one in found:
        parts += [_table(one), one.answer, _left(one), one.claim]
        parts += [f"note: {note}" for note in one.notes]
    return parts


def _table(one: Raced) -> Table:
    margin = "" if one.margin is None else f", up to {one.margin:g}"
    title = f"{one.prompt}: the goal is {one.goal}{margin}; {one.n_items} of {one.pool_size} items"
    if one.metrics:
        title += f"; metrics {', '.join(one.metrics)}"
    table = Table(title=title, title_justify="left")
    for name in ("system", ""):
        table.add_column(name)
    for name in ("mean", "behind", "rank", "judged", "expected more"):
        table.add_column(name, justify="right")
    for system in one.systems:
        table.add_row(
            system.system,
            _state(system, one),
            "" if system.estimate is None else f"{system.estimate:.3f}",
            "" if system.behind is None else f"{system.behind:.3f}",
            f"{system.rank_low}"
            if system.rank_low == system.rank_high
            else f"{system.rank_low} to {system.rank_high}",
            str(system.n_items),
            "" if one.expected_more is None else str(system.expected_more),
        )
    return table


def _state(system: Racer, one: Raced) -> str:
    if system.system == one.winner:
        return "best" if len(one.inside) == 1 or one.margin is None else "best or near"
    if system.state == "in" and one.winner is not None and one.margin is None:
        return f"as {one.winner}"
    if system.state == "in":
        return "in"
    if system.out_by is None:
        return f"placed at item {system.out_at}"
    return f"out at item {system.out_at}, behind {system.out_by}"


def _left(one: Raced) -> str:
    judged = f"{one.judgments:,} judgments so far"
    if one.ledger.saved["race"] > 0:
        judged += f", {one.ledger.saved['race']:,.0f} saved by letting systems go"
    if one.decided:
        return f"{judged}; stop: no more are needed."
    if one.stop:
        return f"{judged}; stop: nothing is left to judge, though the goal is not reached."
    if one.expected_more is None:
        return f"{judged}; how many more cannot be told yet."
    price = "" if one.expected_cost is None else f", for {one.expected_cost:,.2f}"
    return f"{judged}; about {one.expected_more:,} more are expected{price}; go on."
