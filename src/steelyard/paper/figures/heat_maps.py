"""Heat maps of numbers by metric and system (figure 5)."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure

from steelyard.numbers import number
from steelyard.paper.correlations import MetricCorrelation
from steelyard.paper.names import metric_name, system_name
from steelyard.plots.style import BLUE, INK, ORANGE, WIDTH, styled

__all__ = ["correlation_maps", "distance_map"]

# Numbers by metric and system.
Cells = Mapping[tuple[str, str], float]

_DIVERGING = LinearSegmentedColormap.from_list("signed", [ORANGE, "#ffffff", BLUE])
_RISING = LinearSegmentedColormap.from_list("rising", ["#ffffff", ORANGE])
_ROW = 0.27


def correlation_maps(correlations: Sequence[MetricCorrelation]) -> Figure:
    """Draw correlations under one prompt: as the authors compute them, and unbiased."""
    reproduced = {(one.metric, one.system): one.reproduced for one in correlations}
    unbiased = {(one.metric, one.system): one.unbiased.value for one in correlations}
    metrics = len({metric for metric, _ in reproduced})
    with styled():
        figure = Figure(figsize=(WIDTH, 1.35 + _ROW * metrics), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        _draw(left, reproduced, _DIVERGING, low=-0.6)
        left.set_title("as the authors compute it", loc="left")
        _draw(right, unbiased, _DIVERGING, low=-0.6)
        right.set_title("unbiased", loc="left")
    return figure


def distance_map(distances: Cells) -> Figure:
    """Draw how far off the authors' metric means would have to be, in standard deviations."""
    metrics = len({metric for metric, _ in distances})
    with styled():
        figure = Figure(figsize=(0.75 * WIDTH, 1.1 + _ROW * metrics), layout="constrained")
        _draw(figure.add_subplot(), distances, _RISING, low=0.0)
    return figure


def _draw(axes: Axes, cells: Cells, shades: Colormap, *, low: float, high: float = 0.6) -> None:
    metrics = list(dict.fromkeys(metric for metric, _ in cells))
    systems = list(dict.fromkeys(system for _, system in cells))
    table = np.array([[cells[metric, system] for system in systems] for metric in metrics])
    # A mesh of shapes: an image would be a bitmap inside the page.
    axes.pcolormesh(table, cmap=shades, vmin=low, vmax=high, edgecolors="white", linewidth=1)
    for (row, column), value in np.ndenumerate(table):
        axes.text(
            *(column + 0.5, row + 0.5, number(float(value))),
            ha="center",
            va="center",
            fontsize=8,
            color="white" if abs(value) > 0.65 * high else INK,
        )
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
