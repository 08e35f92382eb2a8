"""System level: mean metric against mean human score, and systems with replaced outputs (figure 1a)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steelyard.paper.bias_study import BiasRow
from steelyard.paper.figures.parts import colours, key, open_frame
from steelyard.paper.names import system_name
from steelyard.plots.style import MUTED, WIDTH, styled

__all__ = ["system_plot"]

# How outputs were replaced, and the mark of it: the paper's triangles.
_SHOWN = {"lr": (">", "better in people's eyes"), "ur": ("^", "better in the metric's")}


def system_plot(rows: Sequence[BiasRow], *, score: str, metric: str) -> Figure:
    """Draw each system of a bias study, and where it goes when low outputs are replaced in two ways."""
    own = {row.system: row for row in rows if not row.condition}
    colour = colours(list(own))
    with styled():
        figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
        axes = figure.add_subplot()
        _draw_line(axes, list(own.values()))
        for row in rows:
            if row.condition in _SHOWN:
                _draw_way(axes, own[row.system], row, colour[row.system])
        for system, row in own.items():
            _draw_mark(axes, row, "o", colour[system], width=1.4, size=8)
        axes.set_xlabel(score)
        axes.set_ylabel(metric)
        open_frame(axes)
        axes.margins(0.06)
        handles = [key("o", system_name(name), color=colour[name]) for name in own]
        handles += [key(mark, label, color=MUTED) for mark, label in _SHOWN.values()]
        figure.legend(handles=handles, loc="outside upper left", ncols=3, handlelength=1.4)
    return figure


def _draw_mark(
    axes: Axes, row: BiasRow, marker: str, colour: str, *, width: float, size: float
) -> None:
    x, y = row.human, row.metric
    for ends in (([x.low, x.high], [y.value] * 2), ([x.value] * 2, [y.low, y.high])):
        axes.plot(*ends, color=colour, linewidth=width, alpha=0.55, zorder=3)
    over = 5 if marker == "o" else 4
    axes.plot(
        *(x.value, y.value, marker),
        color=colour,
        markersize=size,
        markeredgecolor="white",
        zorder=over,
    )


def _draw_way(axes: Axes, start: BiasRow, end: BiasRow, colour: str) -> None:
    axes.plot(
        [start.human.value, end.human.value],
        [start.metric.value, end.metric.value],
        color=colour,
        linewidth=1.2,
        linestyle=(0, (1, 1.5)),
        zorder=2,
    )
    _draw_mark(axes, end, _SHOWN[end.condition][0], colour, width=0.8, size=6.5)


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
