"""Metric against human score, output by output (figure 1b)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from steelyard.arrays import Floats
from steelyard.numbers import RHO, interval, number
from steelyard.plots.style import BLUE, GRID, MUTED, ORANGE, WIDTH, named, styled
from steelyard.single.interval import Interval

__all__ = ["JudgedMetric", "metric_plot"]


# Share of each axis that the histogram of the other one takes.
_MARGIN = 0.2
_FEW_VALUES = 15
# Diameter of the mark of one output, in points.
_SIZE = 3.4
# Greatest area of a mark, in marks of one output.
_GROWTH = 16.0
_GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True, eq=False)
class JudgedMetric:
    """The judged outputs of one system: their metric and what people said.

    Attributes
    ----------
    system : str
        Whose outputs.
    metric : (n,) array
        Metric of each judged output.
    human : (n,) array
        Mean judgment of each.
    correlation : Interval or None
        Of metric and human score, corrected for rater noise; None when it is not estimable.
    """

    system: str
    metric: Floats
    human: Floats
    correlation: Interval | None = None


def metric_plot(judged: Sequence[JudgedMetric], *, metric: str, score: str) -> Figure:
    """Draw the mean judgment of every judged output against its metric, one panel for each system.

    Outputs at the same place are one mark, which grows with their number. Where judgments take few
    values, marks that share one are spread a little above and below it, evenly, not at random.
    Histograms along the edges show each variable by itself; the line is that of least squares.

    Examples
    --------
    >>> points = JudgedMetric("s", np.array([0.2, 0.4, 0.4]), np.array([0.0, 1.0, 1.0]))
    >>> figure = metric_plot([points], metric="metric", score="score")
    >>> figure.axes[0].collections[0].get_offsets().tolist()  # two outputs at one place
    [[0.4, 1.0]]
    """
    columns = 1 if len(judged) == 1 else 2
    rows = -(-len(judged) // columns)
    height = 3.4 if columns == 1 else 2.25
    scale = _Scale.of(judged)
    with styled():
        figure = Figure(figsize=(WIDTH, 0.4 + height * rows), layout="constrained")
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        panels = list(grid.flat)
        for axes, one in zip(panels, judged, strict=False):
            _draw_panel(axes, one, scale)
        for axes in panels[len(judged) :]:
            axes.set_visible(False)
        for axes in panels[max(len(judged) - columns, 0) : len(judged)]:
            # The lowest panel of each column, also where the last row is not full.
            axes.xaxis.set_tick_params(labelbottom=True)
        figure.supxlabel(metric, fontsize=9.0)
        figure.supylabel(score, fontsize=9.0)
    return figure


@dataclass(frozen=True)
class _Scale:
    """Limits that all panels share, with room for histograms at the top and at the right."""

    x: tuple[float, float]
    y: tuple[float, float]
    # Where marks of one judgment may be spread, half the distance; 0 if judgments are continuous.
    spread: float
    score_edges: Floats

    @classmethod
    def of(cls, judged: Sequence[JudgedMetric]) -> "_Scale":
        """Return the scale on which all of these have room."""
        x = np.concatenate([one.metric for one in judged])
        # Rounded, so that two ways to the same mean are the same value.
        values = np.unique(np.concatenate([one.human for one in judged]).round(9))
        y = _limits(values)
        spread = 0.0
        edges = np.linspace(*y, 25)
        if 1 < len(values) <= _FEW_VALUES:
            spread = min(0.3 * float(np.diff(values).min()), 0.04 * float(np.ptp(values)))
            # A bar around each value, and the gaps between them.
            edges = np.column_stack([values - spread, values + spread]).ravel()
        return cls(_limits(x), y, spread, edges)


def _limits(values: Floats) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    room = 0.09 * (high - low)
    return low - room, high + room


def _draw_panel(axes: Axes, one: JudgedMetric, scale: _Scale) -> None:
    x, y, number_of = _marks(one, scale.spread)
    (left, right), (bottom, top) = scale.x, scale.y
    axes.set_xlim(left, left + (right - left) / (1 - _MARGIN))
    axes.set_ylim(bottom, bottom + (top - bottom) / (1 - _MARGIN))
    alone = number_of == 1
    # Marks of one size are drawn by reference to one shape, which takes far less room.
    look: dict[str, Any] = {"color": BLUE, "alpha": 0.4, "zorder": 3}
    axes.plot(x[alone], y[alone], "o", markersize=_SIZE, markeredgewidth=0, **look)
    axes.scatter(x[~alone], y[~alone], s=_areas(number_of)[~alone], lw=0, **look)
    if np.ptp(one.metric) > 0:
        slope, start = np.polyfit(one.metric, one.human, 1)
        ends = np.array([one.metric.min(), one.metric.max()])
        axes.plot(ends, start + slope * ends, color=ORANGE, linewidth=1.6, zorder=4)
    _draw_margins(axes, one, scale)
    title = axes.set_title(
        f"{one.system}\n{_correlation(one.correlation)}", loc="left", linespacing=1.3
    )
    named(title, one.system)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines["left"].set_bounds(bottom, top)
    axes.spines["bottom"].set_bounds(left, right)
    axes.set_xticks(_ticks(scale.x))
    axes.set_yticks(_ticks(scale.y))
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)


def _marks(one: JudgedMetric, spread: float) -> tuple[Floats, Floats, Floats]:
    """Return places and numbers of outputs; single ones spread evenly around their judgment."""
    places, number_of = np.unique(
        np.column_stack([one.human, one.metric]), axis=0, return_counts=True
    )
    y, x = places.T
    # Multiples of the golden ratio fill an interval evenly, however many there are.
    offset = 2 * ((np.arange(len(y)) * _GOLDEN) % 1.0) - 1
    return x, y + np.where(number_of == 1, spread * offset, 0.0), number_of.astype(np.float64)


def _areas(number_of: Floats) -> Floats:
    """Return areas of marks: in proportion to numbers, unless the greatest would hide others."""
    most = float(number_of.max())
    power = 1.0 if most <= _GROWTH else np.log(_GROWTH) / np.log(most)
    return np.asarray(_SIZE**2 * number_of**power)


def _draw_margins(axes: Axes, one: JudgedMetric, scale: _Scale) -> None:
    """Draw the histogram of the metric along the top and that of the judgments at the right."""
    (left, right), (bottom, top) = scale.x, scale.y
    share = 0.85 * _MARGIN / (1 - _MARGIN)
    edges = np.linspace(left, right, 25)
    base = top + 0.03 * (top - bottom)
    heights = base + share * (top - bottom) * _relative_counts(one.metric, edges)
    axes.stairs(heights, edges, baseline=base, fill=True, color=MUTED, alpha=0.45)
    edges = scale.score_edges
    base = right + 0.03 * (right - left)
    widths = base + share * (right - left) * _relative_counts(one.human, edges)
    axes.stairs(
        widths,
        edges,
        baseline=base,
        orientation="horizontal",
        fill=True,
        color=MUTED,
        alpha=0.45,
    )


def _relative_counts(values: Floats, edges: Floats) -> Floats:
    counts, _ = np.histogram(values, bins=edges)
    return np.asarray(counts / counts.max())


def _ticks(limits: tuple[float, float]) -> list[float]:
    """Return ticks where there are data, none beside the histograms."""
    ticks = MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]).tick_values(*limits)
    return [float(tick) for tick in ticks if limits[0] <= tick <= limits[1]]


def _correlation(rho: Interval | None) -> str:
    if rho is None or np.isnan(rho.value):
        return f"{RHO} not estimable"
    return f"{RHO} {number(rho.value)} {interval(rho.low, rho.high)}"
