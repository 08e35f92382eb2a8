"""System level: mean metric against mean human score, and systems with replaced outputs (figure 1a)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from steelyard.paper.bias_study import BiasRow
from steelyard.paper.figures.palette import colours
from steelyard.paper.names import system_name
from steelyard.plots.style import GRID, MUTED, WIDTH, styled

__all__ = ["system_plot"]

# How outputs were replaced, and the mark of it: the paper's triangles.
_SHOWN = {"lr": (">", "better in people's eyes"), "ur": ("^", "better in the metric's")}


def system_plot(rows: Sequence[BiasRow], *, score: str, metric: str) -> Figure:
    """Draw each system, and where it goes when low outputs are replaced in two ways.

    Parameters
    ----------
    rows : sequence of BiasRow
        The bias study of one task.
    score, metric : str
        Labels of the axes.

    Returns
    -------
    matplotlib.figure.Figure
    """
    systems = list(dict.fromkeys(row.system for row in rows))
    colour = colours(systems)
    with styled():
        figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
        axes = figure.add_subplot()
        own = {row.system: row for row in rows if not row.condition}
        _draw_line(axes, list(own.values()))
        for row in rows:
            if row.condition in _SHOWN:
                _draw_way(axes, own[row.system], row, colour[row.system])
        for system, row in own.items():
            _draw_interval(axes, row, colour[system], width=1.4)
            axes.plot(
                row.human.value,
                row.metric.value,
                "o",
                color=colour[system],
                markersize=8,
                markeredgecolor="white",
                zorder=5,
            )
        axes.set_xlabel(score)
        axes.set_ylabel(metric)
        axes.grid(color=GRID, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.margins(0.06)
        figure.legend(
            handles=_legend(systems, colour), loc="outside upper left", ncols=3, handlelength=1.4
        )
    return figure


def _draw_interval(axes: Axes, row: BiasRow, colour: str, *, width: float) -> None:
    x, y = row.human, row.metric
    for ends in (([x.low, x.high], [y.value] * 2), ([x.value] * 2, [y.low, y.high])):
        axes.plot(*ends, color=colour, linewidth=width, alpha=0.55, zorder=3)


def _draw_way(axes: Axes, start: BiasRow, end: BiasRow, colour: str) -> None:
    axes.plot(
        [start.human.value, end.human.value],
        [start.metric.value, end.metric.value],
        color=colour,
        linewidth=1.2,
        linestyle=(0, (1, 1.5)),
        zorder=2,
    )
    _draw_interval(axes, end, colour, width=0.8)
    axes.plot(
        end.human.value,
        end.metric.value,
        _SHOWN[end.condition][0],
        color=colour,
        markersize=6.5,
        markeredgecolor="white",
        zorder=4,
    )


def _draw_line(axes: Axes, rows: Sequence[BiasRow]) -> None:
    """Draw the line of least squares through the systems."""
    x = np.array([row.human.value for row in rows])
    y = np.array([row.metric.value for row in rows])
    if len(rows) < 2 or np.ptp(x) == 0:
        return
    slope = float((x - x.mean()) @ (y - y.mean())) / float((x - x.mean()) @ (x - x.mean()))
    room = 0.15 * np.ptp(x)
    ends = np.array([x.min() - room, x.max() + room])
    axes.plot(ends, y.mean() + slope * (ends - x.mean()), color=MUTED, linewidth=1, linestyle="--")


def _legend(systems: Sequence[str], colour: dict[str, str]) -> list[Line2D]:
    handles = [
        Line2D([], [], marker="o", linestyle="", color=colour[name], label=system_name(name))
        for name in systems
    ]
    handles += [
        Line2D([], [], marker=mark, linestyle="", color=MUTED, label=label)
        for mark, label in _SHOWN.values()
    ]
    return handles
