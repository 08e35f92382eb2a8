"""Metric against human score of many systems: small panels that share one scale."""

from collections.abc import Sequence

import numpy as np
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from steelyard.errors import InvalidArgumentError
from steelyard.names import shown_names
from steelyard.numbers import RHO, number
from steelyard.plots.style import (
    BAND,
    BLUE,
    INK,
    MUTED,
    ORANGE,
    WIDTH,
    named,
    styled,
)
from steelyard.report.scatter import JudgedMetric, Scale, least_squares_ends, marks_of

__all__ = ["small_multiples"]

Floats = NDArray[np.float64]

_COLUMNS = 4
# Width and height from one panel to the next, where a panel is 1 by 1.
_STEP = (1.12, 1.42)


def small_multiples(
    judged: Sequence[JudgedMetric], *, metric: str = "metric", score: str = "mean judgment"
) -> Figure:
    """Draw the mean judgment of every output against its metric, a small panel for each system.

    All panels are drawn into one pair of axes: one pair for each takes matplotlib far longer.

    Parameters
    ----------
    judged : sequence of JudgedMetric
        One for each system.
    metric, score : str
        What goes to the right, and what goes up.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidArgumentError
        If there is no system.

    Examples
    --------
    >>> points = JudgedMetric("s", np.array([0.2, 0.4]), np.array([0.0, 1.0]))
    >>> [text.get_text() for text in small_multiples([points] * 2).axes[0].texts][0]
    's'
    """
    if not judged:
        raise InvalidArgumentError("`judged` must hold at least one system; got none")
    scale = Scale.of(judged)
    columns, rows = min(_COLUMNS, len(judged)), -(-len(judged) // _COLUMNS)
    names = shown_names([one.system for one in judged], 16)
    places = [(k % columns * _STEP[0], -(k // columns) * _STEP[1]) for k in range(len(judged))]
    with styled():
        figure = Figure(figsize=(WIDTH, 0.45 + 1.5 * rows))
        axes = figure.add_axes((0.01, 0.0, 0.98, 1.0))
        axes.add_collection(
            PatchCollection([Rectangle(place, 1, 1) for place in places], color=BAND, zorder=0)
        )
        points, lines = [], []
        for one, name, (left, bottom) in zip(judged, names, places, strict=True):
            x, y, _ = marks_of(one, scale.spread)
            points.append(_placed(x, y, scale, left, bottom))
            ends = least_squares_ends(one)
            if ends is not None:
                lines.append(_placed(*_inside(*ends, scale), scale, left, bottom))
            title = axes.text(left, bottom + 1.17, name, va="bottom", fontsize=8, color=INK)
            named(title, one.system)
            rho = one.correlation
            known = rho is not None and not np.isnan(rho.value)
            value = number(rho.value) if rho is not None and known else "not estimable"
            axes.text(left, bottom + 1.03, f"{RHO} {value}", va="bottom", fontsize=7.5, color=MUTED)
        axes.plot(
            *np.vstack(points).T, "o", color=BLUE, alpha=0.4, markersize=2.4, markeredgewidth=0
        )
        axes.add_collection(LineCollection(lines, colors=ORANGE, linewidths=1.3, zorder=4))
        words = _scale_words(scale, metric, score)
        axes.text(0, places[-1][1] - 0.08, words, va="top", fontsize=8, color=MUTED)
        axes.set_xlim(-0.02, columns * _STEP[0] - 0.1)
        axes.set_ylim(places[-1][1] - 0.45, 1.42)
        axes.set_axis_off()
    return figure


def _inside(x: Floats, y: Floats, scale: Scale) -> tuple[Floats, Floats]:
    """Return the part of a line that lies inside its panel."""
    kept = np.clip(y, *scale.y)
    if y[0] == y[1]:
        return x, kept
    return x[0] + (kept - y[0]) / (y[1] - y[0]) * (x[1] - x[0]), kept


def _placed(x: Floats, y: Floats, scale: Scale, left: float, bottom: float) -> Floats:
    """Return points in the panel whose lower left corner is given, as an (n, 2) array."""
    (low, high), (least, most) = scale.x, scale.y
    return np.column_stack([left + (x - low) / (high - low), bottom + (y - least) / (most - least)])


def _scale_words(scale: Scale, metric: str, score: str) -> str:
    """Say what all panels show, from which value to which."""
    (left, right), (bottom, top) = scale.x, scale.y
    across = f"to the right: {metric}, {number(left)} to {number(right)}"
    return f"{across}\nup: {score}, {number(bottom)} to {number(top)}"
