"""Paths of confidence sequences: how the interval closes as judgments come in."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steelyard.plots.style import BLUE, GRID, MUTED, ORANGE
from steelyard.report.panels import panel_plot
from steelyard.study.monitoring import Monitored

__all__ = ["path_plot"]

# Enough for a smooth line; each point of a betting sequence is a search of its own.
_POINTS = 150


def path_plot(found: Sequence[Monitored]) -> Figure:
    """Draw each system's interval against the number of judgments, two panels a row.

    Parameters
    ----------
    found : sequence of Monitored
        What `monitor` returned, in the order of the panels.

    Returns
    -------
    matplotlib.figure.Figure
    """
    return panel_plot(found, _panel, x="judged outputs", y="mean human score", legend_columns=3)


def _panel(axes: Axes, one: Monitored) -> None:
    times = np.unique(np.linspace(1, max(one.n, 1), _POINTS).round().astype(np.int64))
    path = one.sequence.path(times[: one.n])
    axes.fill_between(
        path.judgments,
        path.low,
        path.high,
        color=BLUE,
        alpha=0.22,
        linewidth=0,
        label=f"{one.level:.0%} at all times",
    )
    axes.plot(path.judgments, path.estimate, color=BLUE, linewidth=1.5, label="estimate")
    middle = (one.low + one.high) / 2
    for number, end in enumerate((middle - one.goal, middle + one.goal)):
        axes.axhline(
            end,
            color=ORANGE,
            linewidth=1.0,
            linestyle=(0, (5, 1.5)),
            label="half-width to reach" if number == 0 else None,
        )
    axes.set_xlim(0, max(one.n, 1))
    # The first judgments tell nothing; the view is that of the later ones.
    later = slice(len(path.low) // 20, None)
    axes.set_ylim(
        min(*path.low[later], middle - 1.2 * one.goal, *one.sequence.options.bounds[1:]),
        max(*path.high[later], middle + 1.2 * one.goal, *one.sequence.options.bounds[:1]),
    )
    axes.grid(color=GRID, linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.annotate(
        "all judged: known exactly"
        if one.exact
        else f"{'stop' if one.stop else 'go on'}: ± {one.half_width:.3f}",
        (0.97, 0.95),
        xycoords="axes fraction",
        ha="right",
        va="top",
        color=MUTED,
        fontsize=8.5,
    )
