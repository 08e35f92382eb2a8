"""Interval length against the number of judgments (figure 6)."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steelyard.arrays import Floats
from steelyard.numbers import number
from steelyard.paper.figures.parts import open_frame
from steelyard.paper.limits import EfficiencyLimits
from steelyard.paper.names import metric_name, prompt_name, system_name
from steelyard.paper.trajectories import Followed
from steelyard.plots.style import BLUE, GREEN, INK, ORANGE, WIDTH, styled

__all__ = ["length_plot", "overview_plot"]

Shown = TypeVar("Shown")

# Every fifth judgment is drawn: the curve looks the same and the file is a fifth.
_STEP = 5
_PLAIN = {"label": "plain mean", "color": ORANGE, "linestyle": (0, (5, 1.5))}
_DOTS = (0, (1, 1))


def length_plot(quoted: Sequence[tuple[Followed, EfficiencyLimits, float]]) -> Figure:
    """Draw trajectories as the paper does, and the two limits as they are without stand-ins."""
    columns = min(2, len(quoted))
    rows = -(-len(quoted) // columns)
    return _panels(quoted, _draw_setting, (rows, columns), 1.0 + 2.15 * rows)


def overview_plot(followed: Sequence[Followed]) -> Figure:
    """Draw all metrics of each system under one prompt, one panel for each system."""
    systems = dict.fromkeys(one.system for one in followed)
    mine = [[one for one in followed if one.system == system] for system in systems]
    rows = -(-len(mine) // 2)
    return _panels(mine, _draw_system, (rows, 2), 0.8 + 1.7 * rows, sharex=True)


def _panels(
    shown: Sequence[Shown],
    draw: Callable[[Axes, Shown], None],
    shape: tuple[int, int],
    height: float,
    *,
    sharex: bool = False,
) -> Figure:
    with styled():
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        grid = figure.subplots(*shape, squeeze=False, sharex=sharex)
        for axes in grid.flat[len(shown) :]:
            axes.remove()
        for axes, one in zip(grid.flat, shown, strict=False):
            draw(axes, one)
        figure.supylabel("length of the 80% interval", fontsize=9)
        figure.supxlabel("judgments", fontsize=9)
        handles, labels = grid.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2, handlelength=2.6)
    return figure


def _draw_setting(axes: Axes, shown: tuple[Followed, EfficiencyLimits, float]) -> None:
    one, limits, printed = shown
    curves = one.trajectory
    plain = curves.plain.length
    _draw_curve(axes, plain, **_PLAIN, linewidth=1.5)
    _draw_curve(axes, curves.corrected.length, label="with the metric", color=BLUE, linewidth=1.5)
    for name, colour in (("noiseless raters", GREEN), ("perfect metric", INK)):
        length = getattr(curves, name.replace(" ", "_")).length
        look = {"color": colour, "linestyle": _DOTS, "linewidth": 1.4}
        _draw_curve(axes, length, label=f"{name}, stand-in", **look)
    for name, colour in (("noiseless raters", GREEN), ("perfect metric", INK)):
        efficiency = getattr(limits, name.replace(" ", "_")).value
        _draw_curve(axes, plain / np.sqrt(efficiency), label=name, color=colour, linewidth=0.9)
    title = (
        f"{system_name(one.system)}, {prompt_name(one.prompt)}\n{metric_name(one.metric)}: "
        f"DE {number(curves.data_efficiency)}, printed {number(printed)}"
    )
    axes.set_title(title, loc="left", linespacing=1.3)
    _frame(axes, plain)


def _draw_system(axes: Axes, followed: Sequence[Followed]) -> None:
    first = followed[0].trajectory
    label: str | None = "with each metric"
    for one in followed:
        length = one.trajectory.corrected.length
        _draw_curve(axes, length, label=label, color=BLUE, linewidth=0.7)
        label = None
    _draw_curve(axes, first.plain.length, **_PLAIN, linewidth=1.4)
    look = {"color": INK, "linestyle": _DOTS, "linewidth": 1.2}
    _draw_curve(axes, first.perfect_metric.length, label="perfect metric, stand-in", **look)
    best = max(followed, key=lambda one: one.trajectory.data_efficiency)
    axes.set_title(
        f"{system_name(best.system)}: {metric_name(best.metric)} "
        f"{best.trajectory.data_efficiency:.2f}",
        loc="left",
    )
    _frame(axes, first.plain.length)


def _draw_curve(axes: Axes, length: Floats, **look: Any) -> None:
    n = len(length)
    shown = slice(max(n // 20, 1), None, _STEP if n > 100 else 1)
    axes.plot(np.arange(1, n + 1)[shown], length[shown], **look)


def _frame(axes: Axes, plain: Floats) -> None:
    axes.set_xlim(0, len(plain))
    axes.set_ylim(0, 1.15 * float(plain[len(plain) // 10]))
    open_frame(axes)
