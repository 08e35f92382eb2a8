"""The look that all figures share, without touching matplotlib's global settings."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes

__all__ = [
    "ALL_SYSTEMS",
    "BLUE",
    "GREEN",
    "GRID",
    "INK",
    "MUTED",
    "ORANGE",
    "WIDTH",
    "rows_of_systems",
    "shown_names",
    "styled",
]

# Okabe and Ito's blue and vermilion differ in every common colour blindness, and in lightness.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
INK, MUTED, GRID = "#1b2430", "#5b6675", "#e3e7ec"
# Inches. Narrow, so that nine-point text can still be read when a phone scales the figure down.
WIDTH = 5.2
ALL_SYSTEMS = "all systems"

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


def rows_of_systems(axes: Axes, names: Sequence[str]) -> None:
    """Give each system a row, the first on top, and leave of the frame only the bottom line."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)


def shown_names(names: Sequence[str], width: int = 22) -> list[str]:
    """Return names short enough for a figure, all still different.

    Parameters
    ----------
    names : sequence of str
        Names, all different.
    width : int
        Greatest number of characters.

    Returns
    -------
    list of str
        The names; of a long one, its two ends, since versions differ at either.

    Examples
    --------
    >>> shown_names(["short", "a-rather-long-name-v1", "a-rather-long-name-v2"], width=12)
    ['short', 'a-rathe…e-v1', 'a-rathe…e-v2']
    """
    shown: list[str] = []
    for name in names:
        # Control characters have no picture, and XML forbids most of them.
        text = "".join(c if c.isprintable() else " " for c in name)
        if len(text) > width:
            tail = (width - 1) // 3 + 1
            text = f"{text[: width - 1 - tail]}…{text[-tail:]}"
        number = 2
        unique = text
        while unique in shown:
            unique = f"{text[: width - 4]} ({number})"
            number += 1
        shown.append(unique)
    return shown
