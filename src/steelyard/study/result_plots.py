"""Results as rows and curves of a plot; loaded when something is drawn."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from matplotlib.axes import Axes

from steelyard.errors import InvalidArgumentError
from steelyard.plots.rows import Block, Row, draw_rows

if TYPE_CHECKING:
    from steelyard.study.diagnosis import Diagnosis

__all__ = [
    "plot_diagnoses",
    "plot_metrics",
]

T = TypeVar("T")

_METRICS = 20
_LIMITS = {"triangle": "with a perfect metric", "diamond": "with noiseless raters"}


def plot_diagnoses(found: "Sequence[Diagnosis]", ax: Axes | None) -> Axes:
    """Draw what the best metric is worth for each system, and the two limits."""
    _check(found)

    def row(one: "Diagnosis") -> Row:
        best = None if one.best is None else one.metrics[one.best].data_efficiency
        noiseless = one.noiseless_raters
        limits = {"triangle": one.perfect_metric.value}
        if noiseless is not None:
            limits["diamond"] = noiseless.value
        return Row(
            label=("all systems" if one.system == "*" else one.system,),
            value=math.nan if best is None else best.value,
            low=math.nan if best is None else best.low,
            high=math.nan if best is None else best.high,
            others=limits,
        )

    return draw_rows(
        _blocks(found, lambda one: one.prompt, row),
        ax,
        x="data efficiency" + _only([one.prompt for one in found]),
        legend={"filled": "the best metric", "interval": f"{found[0].level:.0%} interval"}
        | _LIMITS,
        at=1.0,
        ratio=True,
    )


def plot_metrics(one: "Diagnosis", ax: Axes | None) -> Axes:
    """Draw what each metric is worth, the most useful on top; of very many the first."""
    shown = list(one.metrics.items())[:_METRICS]
    rows = [
        Row(label=(name,), value=found.value, low=found.low, high=found.high)
        for name, found in ((name, useful.data_efficiency) for name, useful in shown)
    ]
    if one.together is not None:
        all_of = one.together.data_efficiency
        rows.append(
            Row(
                label=(f"all {len(one.metrics)} together",),
                value=all_of.value,
                low=all_of.low,
                high=all_of.high,
                mark="open",
            )
        )
    if not rows:
        raise InvalidArgumentError(
            f"nothing to draw: {one.refusal or 'the diagnosis is of no metric'}"
        )
    more = (
        f", first {_METRICS} of {len(one.metrics)} metrics" if len(one.metrics) > _METRICS else ""
    )
    who = "all systems" if one.system == "*" else one.system
    return draw_rows(
        [Block("", rows)],
        ax,
        x=f"data efficiency, {who}, prompt {one.prompt}{more}",
        legend={
            "filled": "one metric",
            "open": "all at once",
            "interval": f"{one.level:.0%} interval",
        },
        at=1.0,
        ratio=True,
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
