"""Forest plot: each system's mean human score beside its plain mean."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from steelyard.numbers import level_name
from steelyard.plots.style import (
    BAND,
    BLUE,
    MANY,
    MUTED,
    ORANGE,
    PAPER,
    WIDTH,
    rows_of_systems,
    styled,
)
from steelyard.questions.estimates import Baseline, Ends, Estimate

__all__ = ["forest_plot"]

# Distance of the two marks of a row from its middle.
_APART = 0.17
_THICK, _THIN = 2.8, 0.9


def forest_plot(estimates: Sequence[Estimate], *, score: str = "mean human score") -> Figure:
    """Draw each system's estimate and interval beside its plain mean, one row a system.

    Parameters
    ----------
    estimates : sequence of Estimate
        One for each system, from top to bottom. A thin outer interval is that for new outputs. With many
        systems rows are lower, and plain means are left to the table.
    score : str
        Label of the axis.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import polars as pl
    >>> from steelyard import Study
    >>> outputs = pl.DataFrame({"item": range(8), "system": "s", "m": range(8)})
    >>> judged = {"item": [0, 2, 5, 7], "system": "s", "rater": "r", "score": [0, 1, 2, 3]}
    >>> figure = forest_plot(Study.read(outputs, pl.DataFrame(judged)).estimate())
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['s']
    """
    many = len(estimates) > MANY
    height = 1.25 + (0.26 if many else 0.44) * len(estimates)
    with styled():
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        axes = figure.add_subplot()
        rows_of_systems(axes, [found.system or "" for found in estimates])
        for row, found in enumerate(estimates):
            if row % 2:
                axes.axhspan(row - 0.5, row + 0.5, color=BAND, zorder=0)
            _draw_row(axes, row, found, with_plain=not many)
        axes.margins(x=0.04)
        axes.set_xlabel(score)
        handles = _legend(estimates, with_plain=not many)
        figure.legend(handles=handles, loc="outside upper left", ncols=2, handlelength=2.6)
    return figure


@dataclass(frozen=True)
class _Kind:
    """A kind of estimate; kinds differ in colour, shape and fill, for those who see no colour."""

    name: str
    marker: str
    size: float
    line: str
    face: str
    edge: str

    def handle(self, label: str) -> Line2D:
        return Line2D(
            [],
            [],
            color=self.line,
            linewidth=_THICK,
            marker=self.marker,
            markersize=self.size,
            markerfacecolor=self.face,
            markeredgecolor=self.edge,
            label=label,
        )


_CORRECTED = _Kind("estimate", "o", 7.0, line=BLUE, face=BLUE, edge=PAPER)
_PLAIN = _Kind("plain mean", "D", 5.5, line=ORANGE, face=PAPER, edge=ORANGE)


def _draw_row(axes: Axes, row: int, found: Estimate, *, with_plain: bool) -> None:
    if not with_plain:
        _draw(axes, row, found, found.new_outputs, _CORRECTED)
    else:
        _draw(axes, row - _APART, found, found.new_outputs, _CORRECTED)
        _draw(axes, row + _APART, found.baseline, None, _PLAIN)


def _draw(
    axes: Axes, height: float, found: Estimate | Baseline, outer: Ends | None, kind: _Kind
) -> None:
    heights = [height, height]
    if outer is not None:
        ends = [outer.low, outer.high]
        axes.plot(ends, heights, color=kind.line, linewidth=_THIN, marker="|", markersize=7)
    axes.plot([found.low, found.high], heights, color=kind.line, linewidth=_THICK, zorder=3)
    axes.plot(
        [found.estimate],
        [height],
        linestyle="",
        marker=kind.marker,
        markersize=kind.size,
        markerfacecolor=kind.face,
        markeredgecolor=kind.edge,
        zorder=4,
    )


def _legend(estimates: Sequence[Estimate], *, with_plain: bool) -> list[Line2D]:
    handles = [
        kind.handle(f"{kind.name}, {level_name(estimates[0].level)} interval")
        for kind in ((_CORRECTED, _PLAIN) if with_plain else (_CORRECTED,))
    ]
    if any(found.new_outputs is not None for found in estimates):
        label = "the same for new outputs"
        handles.append(
            Line2D([], [], color=MUTED, linewidth=_THIN, marker="|", markersize=7, label=label)
        )
    return handles
