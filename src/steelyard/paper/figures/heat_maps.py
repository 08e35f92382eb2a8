"""Heat maps of numbers by metric and system (figure 5)."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure

from steelyard.arrays import Floats
from steelyard.numbers import number
from steelyard.paper.correlations import MetricCorrelation
from steelyard.paper.names import metric_name, system_name
from steelyard.plots.style import BLUE, INK, ORANGE, WIDTH, styled

__all__ = ["correlation_maps", "distance_map"]


_DIVERGING = LinearSegmentedColormap.from_list("signed", [ORANGE, "#ffffff", BLUE])
_RISING = LinearSegmentedColormap.from_list("rising", ["#ffffff", ORANGE])
_ROW = 0.27


def correlation_maps(found: Sequence[MetricCorrelation]) -> Figure:
    """Draw correlations under one prompt: as the authors compute them, and unbiased.

    Parameters
    ----------
    found : sequence of MetricCorrelation
        All metrics and systems of one task under one prompt.

    Returns
    -------
    matplotlib.figure.Figure
    """
    metrics = list(dict.fromkeys(one.metric for one in found))
    systems = list(dict.fromkeys(one.system for one in found))
    reproduced = {(one.metric, one.system): one.reproduced for one in found}
    unbiased = {(one.metric, one.system): one.unbiased.value for one in found}
    with styled():
        figure = Figure(figsize=(WIDTH, 1.35 + _ROW * len(metrics)), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for axes, values, title in zip(
            panels, (reproduced, unbiased), ("as the authors compute it", "unbiased"), strict=True
        ):
            table = np.array([[values[m, s] for s in systems] for m in metrics])
            _draw(axes, table, _DIVERGING, low=-0.6, high=0.6)
            _name(axes, metrics, systems)
            axes.set_title(title, loc="left")
    return figure


def distance_map(distances: Mapping[tuple[str, str], float]) -> Figure:
    """Draw how far off the authors' metric means would have to be, by metric and system.

    Parameters
    ----------
    distances : mapping
        Distance in standard deviations, by metric and system.

    Returns
    -------
    matplotlib.figure.Figure
    """
    metrics = list(dict.fromkeys(metric for metric, _ in distances))
    systems = list(dict.fromkeys(system for _, system in distances))
    with styled():
        figure = Figure(figsize=(0.75 * WIDTH, 1.1 + _ROW * len(metrics)), layout="constrained")
        axes = figure.add_subplot()
        table = np.array([[distances[m, s] for s in systems] for m in metrics])
        _draw(axes, table, _RISING, low=0.0, high=0.6)
        _name(axes, metrics, systems)
    return figure


def _draw(axes: Axes, table: Floats, shades: Colormap, *, low: float, high: float) -> None:
    # A mesh of shapes: an image would be a bitmap inside the page.
    axes.pcolormesh(table, cmap=shades, vmin=low, vmax=high, edgecolors="white", linewidth=1)
    for row, values in enumerate(table):
        for column, value in enumerate(values):
            dark = abs(value) > 0.65 * high
            axes.text(
                column + 0.5,
                row + 0.5,
                number(float(value)),
                ha="center",
                va="center",
                fontsize=8,
                color="white" if dark else INK,
            )


def _name(axes: Axes, metrics: Sequence[str], systems: Sequence[str]) -> None:
    axes.set_yticks(np.arange(len(metrics)) + 0.5, [metric_name(name) for name in metrics])
    axes.set_xticks(
        np.arange(len(systems)) + 0.5,
        [system_name(name) for name in systems],
        rotation=40,
        ha="right",
        rotation_mode="anchor",
    )
    # The first metric on top; limits, because panels may share the axis.
    axes.set_ylim(len(metrics), 0)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
