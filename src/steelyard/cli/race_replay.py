"""What ``steelyard simulate --goal`` takes and prints."""

from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from steelyard.cli.printing import parse_bounds
from steelyard.design.race import RaceGoal
from steelyard.errors import InvalidArgumentError
from steelyard.study.replayed_race import RaceReplay

__all__ = ["race_options", "race_replay_tables"]

# Fewer judged items than this do not show by how much systems differ.
_FEW = 50


def race_options(
    goal: tuple[RaceGoal, float | None],
    margin: float | None,
    bounds: str | None,
    rules: Sequence[str],
) -> dict[str, Any]:
    """Return the options of `Study.simulate_race`."""
    word, difference = goal
    if difference is not None and margin is not None:
        raise InvalidArgumentError("`--margin` does not go with --goal difference=D: D is it")
    if len(rules) > 1 or not set(rules) <= {"betting", "asymptotic"}:
        raise InvalidArgumentError(
            f"`--rule` must be betting or asymptotic with --goal; got {', '.join(rules)}"
        )
    return {
        "goal": word,
        "margin": margin if difference is None else difference,
        "method": rules[0] if rules else None,
        "bounds": None if bounds == "none" else parse_bounds(bounds or "0,1"),
    }


def race_replay_tables(found: Sequence[RaceReplay]) -> list[RenderableType]:
    """Return how many judgments a decision took, and what became of each system."""
    race = found[0]
    margin = "" if race.margin is None else f", up to {race.margin:g}"
    using = f"; metrics {', '.join(race.metrics)}" if race.metrics else ""
    title = f"{race.prompt}: the goal is {race.goal}{margin}{using}"
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for name in ("decided", "wrong", "items", "judgments", "longest tenth", "of the fixed design"):
        table.add_column(name, justify="right")
    for one in found:
        table.add_row(
            f"{one.rule}, {one.method if one.rule == 'fixed design' else one.guarantee}",
            f"{one.decided:.1%}",
            "" if one.wrong is None else f"{one.wrong:.1%}",
            f"{one.n_items:.0f}",
            f"{one.judgments:.0f}",
            f"{one.most_judgments:.0f}",
            "" if one.relative_judgments is None else f"{one.relative_judgments:.2f}",
        )
    parts: list[RenderableType] = [table, _systems(race)]
    if race.ledger is not None:
        parts.append(
            f"ledger: all {len(race.systems)} systems on all items would take {race.ledger.plain:,.0f} judgments, and "
            f"{race.ledger.used:,.0f} were used; systems out of the race saved {race.ledger.saved['race']:,.0f}"
        )
    how = (
        f"{race.runs} replays of {race.judged_items} items judged for all systems, which stand for the {race.pool_size} of the pool; wrong: "
        f"anything false was said of them at any look, allowed in {round(100 * (1 - race.level), 6):g}%"
    )
    if race.other_winner is not None:
        how += (
            f"; another system than the whole campaign's best was named in {race.other_winner:.1%}"
        )
    if race.judged_items < _FEW:
        how += f"; {race.judged_items} items show differences of systems badly, and the replay knows no better"
    if len(found) == 1:
        how += "; no fixed number of items decides as often"
    return [*parts, how]


def _systems(race: RaceReplay) -> Table:
    table = Table()
    table.add_column("system")
    names = (
        "mean",
        "judgments",
        "let go before the end",
        *(["won"] if race.goal == "best" else []),
    )
    for name in names:
        table.add_column(name, justify="right")
    for one in race.systems:
        table.add_row(
            one.system,
            f"{one.estimate:.3f}",
            f"{one.judgments:.0f}",
            f"{one.out:.0%}",
            *([] if one.won is None else [f"{one.won:.1%}"]),
        )
    return table
