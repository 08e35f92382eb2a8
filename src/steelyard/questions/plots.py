"""Estimates and comparisons as rows of a plot; loaded when something is drawn."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from matplotlib.axes import Axes

from steelyard.errors import InvalidArgumentError
from steelyard.plots.rows import Block, Row, draw_rows
from steelyard.questions.comparison import Comparison
from steelyard.questions.pairs import PairDifference

if TYPE_CHECKING:
    from steelyard.questions.estimates import Estimate

__all__ = ["plot_comparisons", "plot_estimates", "plot_strengths"]

T = TypeVar("T")

# More pairs than this are not read one by one.
_PAIRS = 20


def plot_estimates(found: "Sequence[Estimate]", ax: Axes | None) -> Axes:
    """Draw each system's interval, and its plain mean where that is another number."""
    _check(found)

    def row(one: "Estimate") -> Row:
        name = str(one.system) if one.slice is None else f"{one.system}, {one.slice}"
        outer = None if one.new_outputs is None else (one.new_outputs.low, one.new_outputs.high)
        return Row(
            label=(name,),
            value=one.estimate,
            low=one.low,
            high=one.high,
            outer=outer,
            mark="filled",
            others={"diamond": one.baseline.estimate},
        )

    return draw_rows(
        _blocks(found, lambda one: str(one.prompt), row),
        ax,
        x="mean human score" + _only([str(one.prompt) for one in found]),
        legend={
            "filled": "estimate",
            "diamond": "plain mean",
            "interval": f"{found[0].level:.0%} interval",
            "outer": "the same for new outputs",
        },
    )


def plot_comparisons(found: Sequence[Comparison], ax: Axes | None) -> Axes:
    """Draw differences; of many systems the ranks, or the strengths."""
    _check(found)
    places = [one.place for one in found]
    level = f"{found[0].level:.0%}"
    if max(len(one.pairs) for one in found) > _PAIRS:
        if all(one.ranks for one in found):
            return draw_rows(
                [Block(one.place, _ranks(one)) for one in found],
                ax,
                x=f"rank, 1 is the best{_only(places, '')}",
                legend={"filled": "by the estimate", "interval": f"possible at {level}"},
            )
        if all(getattr(one, "strengths", ()) for one in found):
            return plot_strengths(found, ax)
    return draw_rows(
        [Block(one.place, [_difference(pair) for pair in one.pairs]) for one in found],
        ax,
        x=f"difference, first minus second{_only(places, '')}",
        legend={
            "filled": "one is better",
            "open": "undecided",
            "square": "equivalent",
            "interval": f"{level} interval",
            "outer": "all pairs together",
        },
        at=0.0,
        margin=found[0].margin,
    )


def plot_strengths(found: Sequence[Comparison], ax: Axes | None) -> Axes:
    """Draw the strengths of systems where people were asked for preferences."""
    return draw_rows(
        [Block(one.place, _strengths(one)) for one in found],
        ax,
        x=f"strength, wins minus losses{_only([one.place for one in found], '')}",
        legend={"filled": "strength", "interval": f"{found[0].level:.0%} intervals, all together"},
        at=0.0,
    )


def _check(found: Sequence[object]) -> None:
    if not found:
        raise InvalidArgumentError("nothing to draw: there are no results")


def _blocks(
    found: Sequence[T], heading: Callable[[T], str], row: Callable[[T], Row]
) -> list[Block]:
    headings = dict.fromkeys(heading(one) for one in found)
    return [
        Block(f"prompt {name}", [row(one) for one in found if heading(one) == name])
        for name in headings
    ]


def _only(names: Sequence[str], what: str = "prompt ") -> str:
    """Return the name that all have in common, for the label of the axis."""
    return f", {what}{names[0]}" if len(set(names)) == 1 else ""


def _difference(pair: PairDifference) -> Row:
    marks = {"undecided": "open", "equivalent": "square"}
    return Row(
        label=(pair.a, pair.b),
        value=pair.difference,
        low=pair.low,
        high=pair.high,
        outer=(pair.simultaneous_low, pair.simultaneous_high),
        mark=marks.get(pair.verdict, "filled"),
    )


def _ranks(one: Comparison) -> list[Row]:
    return [
        Row(label=(rank.system,), value=place, low=rank.low, high=rank.high)
        for place, rank in enumerate(one.ranks, 1)
    ]


def _strengths(one: Comparison) -> list[Row]:
    return [
        Row(label=(found.system,), value=found.strength, low=found.low, high=found.high)
        for found in getattr(one, "strengths", ())
    ]
