"""Interval length against the number of judgments (figure 6)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steelyard.arrays import Floats
from steelyard.paper.figures.palette import GREEN
from steelyard.paper.limits import EfficiencyLimits
from steelyard.paper.names import metric_name, system_name
from steelyard.paper.trajectories import Followed
from steelyard.plots.style import BLUE, GRID, INK, ORANGE, WIDTH, styled
from steelyard.single.trajectory import Trajectory

__all__ = ["LengthPanel", "length_plot", "overview_plot"]


# Every fifth judgment is drawn: the curve looks the same and the file is a fifth.
_STEP = 5


@dataclass(frozen=True)
class LengthPanel:
    """A panel of the figure: a trajectory, its true limits, and a title."""

    title: str
    trajectory: Trajectory
    limits: EfficiencyLimits


def length_plot(panels: Sequence[LengthPanel]) -> Figure:
    """Draw trajectories as the paper does, and the two limits as they are without stand-ins.

    Parameters
    ----------
    panels : sequence of LengthPanel
        In order, two a row.

    Returns
    -------
    matplotlib.figure.Figure
    """
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    with styled():
        figure = Figure(figsize=(WIDTH, 1.0 + 2.15 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False)
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        for axes, panel in zip(grid.flat, panels, strict=False):
            _draw_panel(axes, panel)
        _label(figure)
        handles, labels = grid.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2, handlelength=2.6)
    return figure


def overview_plot(followed: Sequence[Followed]) -> Figure:
    """Draw all metrics of each system under one prompt, one panel a system.

    Parameters
    ----------
    followed : sequence of Followed
        All systems and metrics under one prompt.

    Returns
    -------
    matplotlib.figure.Figure
    """
    systems = list(dict.fromkeys(one.system for one in followed))
    rows = -(-len(systems) // 2)
    with styled():
        figure = Figure(figsize=(WIDTH, 0.8 + 1.7 * rows), layout="constrained")
        grid = figure.subplots(rows, 2, squeeze=False, sharex=True)
        for axes in grid.flat[len(systems) :]:
            axes.remove()
        for axes, system in zip(grid.flat, systems, strict=False):
            mine = [one for one in followed if one.system == system]
            _draw_overview(axes, mine)
            best = max(mine, key=lambda one: one.trajectory.data_efficiency)
            axes.set_title(
                f"{system_name(system)}: {metric_name(best.metric)} "
                f"{best.trajectory.data_efficiency:.2f}",
                loc="left",
            )
        _label(figure)
        handles, labels = grid.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2, handlelength=2.6)
    return figure


def _label(figure: Figure) -> None:
    figure.supylabel("length of the 80% interval", fontsize=9)
    figure.supxlabel("judgments", fontsize=9)


def _draw_panel(axes: Axes, panel: LengthPanel) -> None:
    found, limits = panel.trajectory, panel.limits
    plain = found.plain.length
    curves = (
        (plain, "plain mean", ORANGE, (0, (5, 1.5)), 1.5),
        (found.corrected.length, "with the metric", BLUE, "solid", 1.5),
        (found.noiseless_raters.length, "noiseless raters, stand-in", GREEN, (0, (1, 1)), 1.4),
        (found.perfect_metric.length, "perfect metric, stand-in", INK, (0, (1, 1)), 1.4),
        (_shrunk(plain, limits.noiseless_raters.value), "noiseless raters", GREEN, "solid", 0.9),
        (_shrunk(plain, limits.perfect_metric.value), "perfect metric", INK, "solid", 0.9),
    )
    for length, label, colour, dash, width in curves:
        _draw_curve(axes, length, label, colour=colour, dash=dash, width=width)
    axes.set_title(panel.title, loc="left", linespacing=1.3)
    _frame(axes, len(plain), top=float(plain[len(plain) // 10]))


def _draw_overview(axes: Axes, followed: Sequence[Followed]) -> None:
    first = followed[0].trajectory
    for place, one in enumerate(followed):
        label = "with each metric" if place == 0 else None
        _draw_curve(
            axes, one.trajectory.corrected.length, label, colour=BLUE, dash="solid", width=0.7
        )
    _draw_curve(
        axes, first.plain.length, "plain mean", colour=ORANGE, dash=(0, (5, 1.5)), width=1.4
    )
    _draw_curve(
        axes,
        first.perfect_metric.length,
        "perfect metric, stand-in",
        colour=INK,
        dash=(0, (1, 1)),
        width=1.2,
    )
    _frame(axes, len(first.judgments), top=float(first.plain.length[len(first.judgments) // 10]))


def _shrunk(plain: Floats, efficiency: float) -> Floats:
    return np.asarray(plain / np.sqrt(efficiency))


def _draw_curve(
    axes: Axes,
    length: Floats,
    label: str | None,
    *,
    colour: str,
    dash: str | tuple[int, tuple[float, ...]],
    width: float,
) -> None:
    n = len(length)
    shown = slice(max(n // 20, 1), None, _STEP if n > 100 else 1)
    axes.plot(
        np.arange(1, n + 1)[shown],
        length[shown],
        color=colour,
        linestyle=dash,
        linewidth=width,
        label=label,
    )


def _frame(axes: Axes, n: int, *, top: float) -> None:
    axes.set_xlim(0, n)
    axes.set_ylim(0, 1.15 * top)
    axes.grid(color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
