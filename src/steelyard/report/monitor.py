"""Paths of confidence sequences: how the interval closes as judgments come in."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steelyard.errors import InvalidArgumentError
from steelyard.report.style import BLUE, GRID, MUTED, ORANGE, WIDTH, shown_names, styled
from steelyard.study.monitoring import Monitored

__all__ = ["draw_paths", "path_plot"]

_KINDS = (".svg", ".pdf", ".png")
# Enough for a smooth line; each point of a betting sequence is a search of its own.
_POINTS = 150


def draw_paths(found: Sequence[Monitored], path: Path) -> None:
    """Write the figure to a file, as SVG, PDF or PNG by its extension.

    Raises
    ------
    InvalidArgumentError
        If the extension is another.
    """
    if path.suffix.lower() not in _KINDS:
        raise InvalidArgumentError(f"`figure` must end in {', '.join(_KINDS)}; got {path.name!r}")
    figure = path_plot(found)
    with styled():
        figure.savefig(path, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)


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
    columns = min(2, len(found))
    rows = -(-len(found) // columns)
    with styled():
        figure = Figure(figsize=(WIDTH * columns * 0.72, 0.7 + 2.3 * rows), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False)
        for axes in panels.flat[len(found) :]:
            axes.remove()
        for axes, one in zip(panels.flat, found, strict=False):
            _panel(axes, one)
            system, prompt = shown_names([one.system, one.prompt + " "], width=18)
            axes.set_title(f"{system}, {prompt.strip()}", loc="left")
        figure.supylabel("mean human score", fontsize=9)
        figure.supxlabel("judged outputs", fontsize=9)
        handles, labels = panels.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=3, handlelength=2.8)
    return figure


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
        f"{'stop' if one.stop else 'go on'}: ± {one.half_width:.3f}",
        (0.97, 0.95),
        xycoords="axes fraction",
        ha="right",
        va="top",
        color=MUTED,
        fontsize=8.5,
    )
