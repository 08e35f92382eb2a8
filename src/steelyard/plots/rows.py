"""Intervals in rows, one below the other: estimates, differences, ranks, data efficiencies."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from steelyard.names import shown_names
from steelyard.plots.canvas import axes_for, legend_above
from steelyard.plots.style import BAND, BLUE, GREEN, INK, MUTED, ORANGE, named, rows_of_labels

__all__ = ["Block", "Row", "draw_rows"]

_THICK, _THIN = 2.6, 0.9
_NAME = 28
# Marks differ in shape and fill, for paper and for those who see no colour.
_MARKS = {
    "filled": ("o", INK, INK),
    "open": ("o", "white", INK),
    "square": ("s", MUTED, INK),
    "diamond": ("D", "white", ORANGE),
    "triangle": ("^", GREEN, GREEN),
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One interval.

    Attributes
    ----------
    label : tuple of str
        Name of the row; of two systems the row is about their difference.
    value, low, high : float
        The estimate and its interval; what is not finite is not drawn, an end without a bound is an arrow.
    outer : (float, float) or None
        A wider interval, drawn thin.
    mark : str
        Key of the mark.
    others : mapping of str to float
        Further values, by the key of their mark.
    """

    label: tuple[str, ...]
    value: float
    low: float
    high: float
    outer: tuple[float, float] | None = None
    mark: str = "filled"
    others: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Block:
    """Rows under one heading."""

    heading: str
    rows: Sequence[Row]


def draw_rows(
    blocks: Sequence[Block],
    ax: Axes | None,
    *,
    x: str,
    legend: Mapping[str, str],
    at: float | None = None,
    margin: float | None = None,
) -> Axes:
    """Draw blocks of intervals below each other.

    Parameters
    ----------
    blocks : sequence of Block
        The rows; a heading is shown where there are several blocks.
    ax : matplotlib.axes.Axes or None
        Where to draw; a new figure by default.
    x : str
        Label of the axis.
    legend : mapping of str to str
        What each mark means, and the keys ``interval`` and ``outer``.
    at : float or None
        A value to mark by a line.
    margin : float or None
        Distance from it that does not matter.

    Returns
    -------
    matplotlib.axes.Axes
    """
    headed = len(blocks) > 1
    lines: list[Row | str] = []
    for block in blocks:
        lines += [block.heading] if headed else []
        lines += block.rows
    axes = axes_for(ax, rows=len(lines))
    _name_rows(axes, lines)
    _mark_value(axes, at, margin)
    edges = _edges(lines)
    for height, line in enumerate(lines):
        if height % 2 and not headed:
            axes.axhspan(height - 0.5, height + 0.5, color=BAND, zorder=0)
        if isinstance(line, Row):
            _draw(axes, height, line, edges)
    axes.margins(x=0.04)
    axes.set_xlabel(x, parse_math=False)
    legend_above(axes, _handles([line for line in lines if isinstance(line, Row)], legend))
    return axes


def _name_rows(axes: Axes, lines: Sequence[Row | str]) -> None:
    rows_of_labels(axes, _labels(lines))
    for label, line in zip(axes.get_yticklabels(), lines, strict=True):
        if isinstance(line, str):
            label.set_fontweight("bold")
        elif len(line.label) == 1:
            named(label, line.label[0])


def _mark_value(axes: Axes, at: float | None, margin: float | None) -> None:
    if at is None:
        return
    axes.axvline(at, color=INK, linewidth=0.8, zorder=1)
    for end in () if margin is None else (at - margin, at + margin):
        axes.axvline(end, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)


def _labels(lines: Sequence[Row | str]) -> list[str]:
    """Return what stands beside each row: names that are short enough, all still different."""
    pairs = any(isinstance(line, Row) and len(line.label) > 1 for line in lines)
    labels = [line.label for line in lines if isinstance(line, Row)]
    names = list(dict.fromkeys(name for label in labels for name in label))
    shown = dict(zip(names, shown_names(names, _NAME // 2 if pairs else _NAME), strict=True))
    return [
        line if isinstance(line, str) else " − ".join(shown[name] for name in line.label)  # noqa: RUF001
        for line in lines
    ]


def _edges(lines: Sequence[Row | str]) -> tuple[float, float]:
    """Return the least and greatest finite number, where intervals without a bound end."""
    rows = [line for line in lines if isinstance(line, Row)]
    numbers = [
        number
        for row in rows
        for number in (row.value, row.low, row.high, *(row.outer or ()), *row.others.values())
        if math.isfinite(number)
    ]
    return (min(numbers), max(numbers)) if numbers else (1.0, 1.0)


def _draw(axes: Axes, height: int, row: Row, edges: tuple[float, float]) -> None:
    if row.outer is not None:
        _line(axes, height, row.outer, edges, width=_THIN, cap="|")
    _line(axes, height, (row.low, row.high), edges, width=_THICK, cap="")
    values = {row.mark: row.value} | dict(row.others)
    if not any(np.isfinite(list(values.values()))):
        axes.text(edges[0], height, "not known", va="center", color=MUTED, fontsize="small")
    for mark, value in values.items():
        if math.isfinite(value):
            axes.plot([value], [height], **_mark(mark), zorder=4)


def _line(
    axes: Axes,
    height: int,
    ends: tuple[float, float],
    edges: tuple[float, float],
    *,
    width: float,
    cap: str,
) -> None:
    if any(math.isnan(end) for end in ends):
        return
    low, high = max(ends[0], edges[0]), min(ends[1], edges[1])
    axes.plot([low, high], [height, height], color=BLUE, linewidth=width, marker=cap, zorder=3)
    for end, place, arrow in ((ends[0], low, "<"), (ends[1], high, ">")):
        if end != place:
            axes.plot([place], [height], marker=arrow, color=BLUE, linestyle="", zorder=3)


def _mark(name: str) -> dict[str, Any]:
    marker, face, edge = _MARKS[name]
    return {
        "marker": marker,
        "markerfacecolor": face,
        "markeredgecolor": edge,
        "markersize": 5.5,
        "linestyle": "",
    }


def _handles(rows: Sequence[Row], legend: Mapping[str, str]) -> list[Line2D]:
    """Return what the legend shows: only what is drawn."""
    drawn = {row.mark for row in rows} | {name for row in rows for name in row.others}
    handles = [
        Line2D([], [], **_mark(name), label=label)
        for name, label in legend.items()
        if name in drawn
    ]
    if "interval" in legend:
        label = legend["interval"]
        handles.append(Line2D([], [], color=BLUE, linewidth=_THICK, label=label))
    if "outer" in legend and any(row.outer is not None for row in rows):
        label = legend["outer"]
        handles.append(Line2D([], [], color=BLUE, linewidth=_THIN, marker="|", label=label))
    return handles
