"""The data-efficiency map: where raters and metrics stand, and which way is worth going."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steelyard.arrays import Floats
from steelyard.errors import InvalidArgumentError
from steelyard.names import shown_names
from steelyard.numbers import GAMMA, RHO, number, percent
from steelyard.paper.standings import SystemStanding
from steelyard.plots.style import (
    ALL_SYSTEMS,
    BLUE,
    INK,
    MANY,
    MUTED,
    ORANGE,
    PAPER,
    SHADE,
    WIDTH,
    named,
    styled,
)
from steelyard.single.efficiency import Efficiency
from steelyard.single.interval import Interval

__all__ = ["efficiency_map", "noise_share"]


_TICKS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0)
_LEVELS = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
# Where the contours are labelled: near the left edge they are far apart and few systems stand.
_COLUMN = 0.07
# Height of a line of a label, as a share of the map's.
_LINE = 0.05


def noise_share(noise_ratio: float) -> float:
    r"""Return the share of rater noise in the variance of one judgment, :math:`\gamma/(1+\gamma)`.

    Examples
    --------
    >>> noise_share(1.0), noise_share(float("inf"))
    (0.5, 1.0)
    """
    return 1.0 if noise_ratio == np.inf else noise_ratio / (1 + noise_ratio)


def efficiency_map(diagnoses: Sequence[SystemStanding]) -> Figure:
    r"""Draw how many judgments a metric leaves to do, by noise ratio and correlation.

    Contours are of the inverse data efficiency,

    .. math:: \frac{1 - \rho^2 + \gamma}{1 + \gamma} = 1 - \rho^2 (1 - x), \qquad
              x = \frac{\gamma}{1 + \gamma},

    the judgments needed for the precision of a plain mean, as a share of its own. The horizontal
    axis is linear in x, so that it ends, and its ticks are values of :math:`\gamma`.

    Parameters
    ----------
    diagnoses : sequence of SystemStanding
        Each is marked at its noise ratio and the correlation of its best metric, with their
        intervals; the last, all systems or the only one, also shows the way to its two limits.
        One without a correlation is left out. Of many, those at the ends are named.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidArgumentError
        If no diagnosis has a correlation.

    References
    ----------
    A. T. Chaganty, S. Mussmann and P. Liang (2018), The price of debiasing automatic metrics in
    natural language evaluation, ACL, figure 3.
    """
    places = _places(diagnoses)
    if not places:
        raise InvalidArgumentError(
            "`diagnoses` must hold one with a correlation; got none: name a metric that varies"
        )
    with styled():
        figure = Figure(figsize=(WIDTH, 4.1), layout="constrained")
        axes = figure.add_subplot()
        _draw_contours(axes)
        _draw_limits(axes, places[-1])
        for place in places:
            _draw_place(axes, place, crowd=len(places))
        _draw_labels(axes, _labelled(places))
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.set_xticks(
            [noise_share(ratio) for ratio in _TICKS], [f"{ratio:g}" for ratio in _TICKS]
        )
        axes.set_xlabel(f"noise ratio {GAMMA}: rater variance / item variance")
        axes.set_ylabel(f"correlation |{RHO}| of metric and human score")
        axes.spines[:].set_visible(False)
    return figure


@dataclass(frozen=True)
class _Place:
    """Where a diagnosis stands on the map."""

    name: str
    label: str
    is_all: bool
    x: Interval
    y: Interval
    found: Efficiency


def _places(diagnoses: Sequence[SystemStanding]) -> list[_Place]:
    placed = [
        (one, name, found)
        for one in diagnoses
        for name, found in list(one.metrics.items())[:1]
        if not np.isnan(found.correlation.value)
    ]
    whole = [ALL_SYSTEMS if one.system == "*" else one.system for one, _, _ in placed]
    names = shown_names(whole, 18)
    same_metric = len({metric for _, metric, _ in placed}) == 1
    return [
        _Place(
            name=full if same_metric else f"{full}, {metric}",
            label=name if same_metric else f"{name}\n{shown_names([metric], 18)[0]}",
            is_all=one.system == "*",
            x=Interval(*(noise_share(ratio) for ratio in _numbers(found.noise_ratio))),
            y=_size(found.correlation),
            found=found,
        )
        for full, name, (one, metric, found) in zip(whole, names, placed, strict=True)
    ]


def _numbers(quantity: Interval) -> tuple[float, float, float]:
    return quantity.value, quantity.low, quantity.high


def _size(correlation: Interval) -> Interval:
    """Return the absolute value, whose interval starts at 0 where the sign is not known."""
    value, low, high = (min(abs(number), 1.0) for number in _numbers(correlation))
    low, high = min(low, high), max(low, high)
    return Interval(value, 0.0 if correlation.low <= 0 <= correlation.high else low, high)


def _draw_contours(axes: Axes) -> None:
    """Shade the map and draw where so many judgments are needed, with their share at the left."""
    for level in _LEVELS:
        # 1 - rho^2 (1 - x) = level; to the right of x = level not even a perfect metric does it.
        x = np.linspace(0, level, 60)
        y = np.sqrt((1 - level) / (1 - x))
        # Each lies over those before it, so that the map gets darker on paper and lighter at night.
        axes.fill_between(x, y, 1.0, color=SHADE, alpha=0.065, linewidth=0)
        axes.plot(x, y, color=MUTED, linewidth=0.6, alpha=0.7, zorder=2)
        axes.text(
            _COLUMN,
            float(np.sqrt((1 - level) / (1 - _COLUMN))),
            percent(level),
            fontsize=7.5,
            ha="center",
            va="center",
            zorder=5,
            bbox={"facecolor": PAPER, "alpha": 0.75, "edgecolor": "none", "pad": 0.8},
        )


def _draw_limits(axes: Axes, place: _Place) -> None:
    """Show the way up, to a perfect metric, and left, to raters who always agree."""
    x, y = place.x.value, place.y.value
    for ends, arrow in ((([x, x], [y, 1]), "^"), (([x, 0], [y, y]), "<")):
        axes.plot(*ends, color=INK, linewidth=1.0, linestyle=(0, (1, 2.5)), zorder=4)
        axes.plot(ends[0][1], ends[1][1], arrow, color=INK, markersize=5, clip_on=False, zorder=6)
    axes.annotate(
        f"perfect metric: DE {number(place.found.perfect_metric.value)}",
        (x, 1),
        xytext=(0, 6),
        textcoords="offset points",
        ha="left" if x < 0.25 else "right" if x > 0.75 else "center",
        fontsize=8,
    )
    axes.annotate(
        f"raters always agree: DE {number(place.found.noiseless_raters.value)}",
        (0.15, y),
        xytext=(0, -5 if y > 0.1 else 5),
        textcoords="offset points",
        va="top" if y > 0.1 else "bottom",
        fontsize=8,
    )


def _draw_place(axes: Axes, place: _Place, *, crowd: int) -> None:
    colour = ORANGE if place.is_all else BLUE
    x, y = place.x, place.y
    faint = 0.3 if crowd <= 8 else 0.15
    axes.plot([x.low, x.high], [y.value] * 2, color=colour, linewidth=2, alpha=faint, zorder=3)
    axes.plot([x.value] * 2, [y.low, y.high], color=colour, linewidth=2, alpha=faint, zorder=3)
    [mark] = axes.plot(
        [x.value],
        [y.value],
        marker="*" if place.is_all else "o",
        markersize=13 if place.is_all else 6.5,
        color=colour,
        markeredgecolor=PAPER,
        linestyle="",
        clip_on=False,
        zorder=6,
    )
    named(mark, place.name)


def _labelled(places: Sequence[_Place]) -> list[_Place]:
    """Return the places to name: of many, all systems and those at the ends."""
    if len(places) <= MANY:
        return list(places)
    own = [place for place in places if not place.is_all]
    ends = [end(own, key=key) for key in (_height, _noise) for end in (min, max)]
    return [place for place in places if place.is_all or place in ends]


def _height(place: _Place) -> float:
    return place.y.value


def _noise(place: _Place) -> float:
    return place.x.value


def _draw_labels(axes: Axes, places: Sequence[_Place]) -> None:
    """Write names in a column at the right, each joined to its mark, none over another."""
    order = np.argsort([place.y.value for place in places], kind="stable")
    lines = 1 + max(place.label.count("\n") for place in places)
    heights = _spread(np.array([places[i].y.value for i in order]), apart=lines * _LINE)
    for i, height in zip(order, heights, strict=True):
        place = places[i]
        axes.plot(
            [place.x.value, 1.0, 1.025],
            [place.y.value, height, height],
            color=MUTED,
            linewidth=0.6,
            clip_on=False,
            zorder=4,
        )
        label = axes.text(1.035, height, place.label, va="center", fontsize=8.5, color=INK)
        named(label, place.name)


def _spread(heights: Floats, *, apart: float) -> Floats:
    """Return sorted heights moved as little as possible, in squares, to be so far apart.

    Least squares under an order: heights that are too near are merged to blocks around their mean.
    """
    apart = min(apart, 1 / max(len(heights) - 1, 1))
    steps = apart * np.arange(len(heights))
    blocks: list[tuple[float, int]] = []
    for target in heights - steps:
        mean, size = float(target), 1
        while blocks and blocks[-1][0] >= mean:
            before, count = blocks.pop()
            mean = (mean * size + before * count) / (size + count)
            size += count
        blocks.append((mean, size))
    merged = np.array([mean for mean, size in blocks for _ in range(size)])
    # The lowest target may not be below the map, the highest not above it.
    lowest = np.clip(merged, 0.0, 1 - steps[-1])
    return np.asarray(lowest + steps)
