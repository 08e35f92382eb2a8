"""What the paper's figures share: colours of systems and prompts, marks, an open frame, ways and legends."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from steelyard.plots.style import GRID

__all__ = ["colours", "key", "markers", "open_frame"]

# K. Ito and M. Okabe (2008), Color universal design: apart in every common colour blindness. Without the
# yellow, which white paper hides.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#1b2430")
_MARKERS = ("o", "s", "D", "^", "v", "P", "X")


def colours(names: Sequence[str]) -> dict[str, str]:
    """Give each name a colour, in order; they repeat after seven."""
    return {name: _COLOURS[k % len(_COLOURS)] for k, name in enumerate(names)}


def markers(names: Sequence[str]) -> dict[str, str]:
    """Give each name a shape of mark, in order, for those who see no colour."""
    return {name: _MARKERS[k % len(_MARKERS)] for k, name in enumerate(names)}


def open_frame(axes: Axes, **grid: Any) -> None:
    """Draw a grid behind the data, and no lines at the top and the right."""
    axes.grid(color=GRID, linewidth=0.7, **grid)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def key(marker: str, label: str, **look: Any) -> Line2D:
    """Return a mark for a legend."""
    return Line2D([], [], marker=marker, linestyle="", label=label, **look)
