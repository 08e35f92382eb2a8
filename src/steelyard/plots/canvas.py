"""The axes that a result is drawn on."""

from collections.abc import Sequence

from matplotlib import pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes

__all__ = ["axes_for", "legend_above"]

_WIDTH = 6.4
_ROOM, _ROW, _LOW_ROW = 1.3, 0.36, 0.25
# More rows than this are lower.
_MANY = 12


def axes_for(ax: Axes | None, *, rows: int | None = None) -> Axes:
    """Return the axes that were given, or those of a new figure, high enough for so many rows."""
    if ax is not None:
        return ax
    height = 3.6 if rows is None else _ROOM + rows * (_ROW if rows <= _MANY else _LOW_ROW)
    _, axes = plt.subplots(figsize=(_WIDTH, height), layout="constrained")
    return axes


def legend_above(axes: Axes, handles: Sequence[Artist] | None = None) -> None:
    """Put the legend over the axes, where it hides nothing."""
    handles = axes.get_legend_handles_labels()[0] if handles is None else handles
    axes.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=2,
        frameon=False,
        fontsize="small",
        handlelength=2.6,
        borderaxespad=0.2,
    )
