"""Small multiples: one panel for each system and prompt, two a row."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steelyard.plots.style import WIDTH, shown_names, styled

__all__ = ["panel_plot"]


class _Named(Protocol):
    @property
    def system(self) -> str: ...

    @property
    def prompt(self) -> str: ...


T = TypeVar("T", bound=_Named)


def panel_plot(
    found: Sequence[T], draw: Callable[[Axes, T], None], *, x: str, y: str, legend_columns: int
) -> Figure:
    """Draw each of `found` in a panel of its own, under one legend.

    Parameters
    ----------
    found : sequence
        What to draw, each with a system and a prompt.
    draw : callable
        Draws one of them.
    x, y : str
        Labels of the axes.
    legend_columns : int
        Columns of the legend.

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
            draw(axes, one)
            system, prompt = shown_names([one.system, one.prompt + " "], width=18)
            axes.set_title(f"{system}, {prompt.strip()}", loc="left")
        figure.supylabel(y, fontsize=9)
        figure.supxlabel(x, fontsize=9)
        handles, labels = panels.flat[0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside upper left", ncols=legend_columns, handlelength=2.8
        )
    return figure
