"""The look that all figures share, without touching matplotlib's global settings."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from steelyard.names import printable

__all__ = [
    "ALL_SYSTEMS",
    "BAND",
    "BLUE",
    "GREEN",
    "GRID",
    "INK",
    "MANY",
    "MUTED",
    "ORANGE",
    "PAPER",
    "PEACH",
    "SHADE",
    "THEME",
    "TOOLTIP",
    "WIDTH",
    "named",
    "rows_of_labels",
    "styled",
]

# Okabe and Ito's blue and vermilion differ in every common colour blindness, and in lightness.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
INK, MUTED, GRID = "#1b2430", "#5b6675", "#e3e7ec"
PAPER, BAND, PEACH, SHADE = "#ffffff", "#f5f7f9", "#f7d3bb", "#2b8cbe"
# Inside a page each is a variable of this name, which the page's style sheet changes in the dark.
THEME = {
    BLUE.lower(): "blue",
    ORANGE.lower(): "orange",
    GREEN.lower(): "green",
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    PAPER: "paper",
    BAND: "band",
    PEACH: "peach",
    SHADE: "shade",
}
# Inches. Narrow, so that nine-point text can still be read when a phone scales the figure down.
WIDTH = 5.2
ALL_SYSTEMS = "all systems"
# More systems than this are drawn smaller, with names only where they matter, or folded away.
MANY = 8
# Marks a text whose whole wording follows, for whoever points at it.
TOOLTIP = "tooltip:"

_SETTINGS: dict[Any, Any] = {
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.labelsize": 9.0,
    "axes.linewidth": 0.7,
    "axes.titlesize": 9.0,
    "figure.dpi": 100.0,
    "figure.facecolor": "white",
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "hatch.linewidth": 0.6,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "savefig.dpi": 200.0,
    "svg.fonttype": "none",
    "svg.hashsalt": "steelyard",
    "text.color": INK,
    # A dollar sign in the name of a system is a dollar sign.
    "text.parse_math": False,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.labelsize": 8.5,
}


@contextmanager
def styled() -> Iterator[None]:
    """Apply the common look to figures made or drawn inside.

    As with `matplotlib.rc_context`, other threads see it too while it lasts.
    """
    with mpl.rc_context():
        # From matplotlib's defaults, so that nobody's configuration changes the report.
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def named(text: Artist, name: str) -> None:
    """Let whoever points at a text in the page see the whole name that it stands for."""
    text.set_gid(TOOLTIP + printable(name))


def rows_of_labels(axes: Axes, labels: Sequence[str]) -> None:
    """Give each label a row, the first on top, and leave of the frame only the bottom line."""
    # Names are text, not formulas: a dollar sign stays one.
    axes.set_yticks(range(len(labels)), labels, parse_math=False)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)
