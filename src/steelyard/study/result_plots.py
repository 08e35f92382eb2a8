"""Results as rows and curves of a plot; loaded when something is drawn."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from matplotlib.axes import Axes

from steelyard.errors import InvalidArgumentError
from steelyard.plots.canvas import axes_for, legend_above
from steelyard.plots.curves import plan_curves, trajectory_curves
from steelyard.plots.rows import Block, Row, draw_rows

if TYPE_CHECKING:
    from steelyard.design import Plan
    from steelyard.study.trajectories import SystemTrajectory

__all__ = [
    "plot_plan",
    "plot_trajectories",
    "plot_trajectory",
]

T = TypeVar("T")

_LIMITS = {"triangle": "with a perfect metric", "diamond": "with noiseless raters"}


def plot_trajectory(one: "SystemTrajectory", ax: Axes | None) -> Axes:
    """Draw interval length against judgments."""
    axes = axes_for(ax)
    trajectory_curves(axes, one.trajectory)
    axes.set_xlabel(f"judgments of {one.system}, prompt {one.prompt}", parse_math=False)
    axes.set_ylabel(f"length of the {one.trajectory.level:.0%} interval")
    legend_above(axes)
    return axes


def plot_trajectories(found: "Sequence[SystemTrajectory]", ax: Axes | None) -> Axes:
    """Draw the curves of one system; of several, their data efficiency and the two limits."""
    _check(found)
    if len(found) == 1:
        return plot_trajectory(found[0], ax)

    def row(one: "SystemTrajectory") -> Row:
        curves = one.trajectory
        value, error = curves.corrected.data_efficiency, curves.corrected.monte_carlo_error
        return Row(
            label=(one.system,),
            value=value,
            low=value - error,
            high=value + error,
            others={
                "triangle": curves.perfect_metric.data_efficiency,
                "diamond": curves.noiseless_raters.data_efficiency,
            },
        )

    return draw_rows(
        _blocks(found, lambda one: one.prompt, row),
        ax,
        x="data efficiency" + _only([one.prompt for one in found]),
        legend={"filled": "with the metric", "interval": "Monte Carlo error"} | _LIMITS,
        at=1.0,
        ratio=True,
    )


def plot_plan(made: "Plan", ax: Axes | None) -> Axes:
    """Draw the price of each half-width around the planned one."""
    axes = axes_for(ax)
    plan_curves(axes, made)
    legend_above(axes)
    return axes


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
