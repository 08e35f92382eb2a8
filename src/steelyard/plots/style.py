"""The look that all figures share, without touching matplotlib's global settings."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes

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
    "rows_of_systems",
    "shown_names",
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
    text.set_gid(TOOLTIP + _printable(name))


def rows_of_systems(axes: Axes, systems: Sequence[str]) -> None:
    """Give each system a row, the first on top, and leave of the frame only the bottom line."""
    rows_of_labels(axes, shown_names(systems))
    for label, system in zip(axes.get_yticklabels(), systems, strict=True):
        named(label, system)


def rows_of_labels(axes: Axes, labels: Sequence[str]) -> None:
    """Give each label a row, the first on top, and leave of the frame only the bottom line."""
    # Names are text, not formulas: a dollar sign stays one.
    axes.set_yticks(range(len(labels)), labels, parse_math=False)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)


def shown_names(names: Sequence[str], width: int = 22) -> list[str]:
    """Return names short enough for a figure, all still different.

    What all that are too long begin or end with is left out first.

    Parameters
    ----------
    names : sequence of str
        Names, all different.
    width : int
        Greatest number of characters.

    Returns
    -------
    list of str
        The names; of one that is still long, its two ends, since versions differ at either.

    Examples
    --------
    >>> shown_names(["short", "a-rather-long-name-v1", "a-rather-long-name-v2"], width=12)
    ['short', '…v1', '…v2']
    >>> shown_names(["maker/model-one-instruct", "maker/model-two-instruct"], width=12)
    ['…one…', '…two…']
    >>> shown_names(["short", "a-rather-long-name-v1"], width=12)
    ['short', 'a-rathe…e-v1']
    """
    shown: list[str] = []
    texts = [_printable(name) for name in names]
    long = [text for text in texts if len(text) > width]
    cut = dict(zip(long, _without_shared_ends(long), strict=True))
    texts = [cut.get(text, text) for text in texts]
    tail = (width - 1) // 3 + 1
    for whole in texts:
        is_long = len(whole) > width
        text = f"{whole[: width - 1 - tail]}…{whole[-tail:]}" if is_long else whole
        number = 2
        unique = text
        while unique in shown:
            unique = f"{text[: width - 4]} ({number})"
            number += 1
        shown.append(unique)
    return shown


def _without_shared_ends(texts: Sequence[str]) -> list[str]:
    """Return the texts without the words that all of them begin and end with."""
    start = _shared(texts)
    end = _shared([text[start:][::-1] for text in texts])
    return [
        f"{'…' if start else ''}{text[start : len(text) - end]}{'…' if end else ''}"
        for text in texts
    ]


def _shared(texts: Sequence[str]) -> int:
    """Return how many characters all texts have in common at the start, up to the end of a word."""
    if len(texts) < 2:
        return 0
    first, last = min(texts), max(texts)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    while same and first[same - 1].isalnum():
        same -= 1
    # A character or two are not worth the sign that they are missing.
    return same if same > 2 else 0


def _printable(name: str) -> str:
    """Return a name without control characters: they have no picture, and XML forbids most."""
    return "".join(c if c.isprintable() else " " for c in name)
