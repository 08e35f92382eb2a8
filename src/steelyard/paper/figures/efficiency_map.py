r"""How many judgments a metric leaves to do, by noise ratio and correlation (figure 3).

Contours are of the inverse data efficiency,

.. math:: \frac{1 - \rho^2 + \gamma}{1 + \gamma} = 1 - \rho^2 (1 - x), \qquad
          x = \frac{\gamma}{1 + \gamma},

the judgments needed for the precision of a plain mean, as a share of its own. The horizontal axis is linear
in x, so that it ends, and its ticks are values of :math:`\gamma`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steelyard.arrays import Floats
from steelyard.numbers import GAMMA, RHO, number, percent
from steelyard.paper.names import metric_name, prompt_name
from steelyard.paper.standings import SystemStanding
from steelyard.plots.style import BLUE, INK, MUTED, PAPER, SHADE, WIDTH, named, styled
from steelyard.single.efficiency import Efficiency
from steelyard.single.interval import Interval

__all__ = ["efficiency_map", "noise_share"]

_TICKS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0)
_LEVELS = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
# Where the contours are labelled: near the left edge they are far apart and few prompts stand.
_COLUMN = 0.07
# Height of a line of a label, as a share of the map's.
_LINE = 0.05
# The prompt whose way to the two limits is shown.
_SHOWN = "overall"


def noise_share(noise_ratio: float) -> float:
    r"""Return the share of rater noise in the variance of one judgment, :math:`\gamma/(1+\gamma)`.

    Examples
    --------
    >>> noise_share(1.0), noise_share(float("inf"))
    (0.5, 1.0)
    """
    return 1.0 if noise_ratio == np.inf else noise_ratio / (1 + noise_ratio)


def efficiency_map(standings: Sequence[SystemStanding]) -> Figure:
    """Draw the contours, each prompt at its best metric, and every system with every metric.

    A prompt, of all systems together, has its intervals; one without a correlation is left out.
    """
    together = [one for one in standings if one.system == "*"]
    together.sort(key=lambda one: one.prompt == _SHOWN)
    places = [_Place.of(one) for one in together]
    places = [place for place in places if not np.isnan(place.found.correlation.value)]
    with styled():
        figure = Figure(figsize=(WIDTH, 4.1), layout="constrained")
        axes = figure.add_subplot()
        _draw_contours(axes)
        if places:
            _draw_limits(axes, places[-1])
            for place in places:
                _draw_place(axes, place)
            _draw_labels(axes, places)
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.set_xticks(
            [noise_share(ratio) for ratio in _TICKS], [f"{ratio:g}" for ratio in _TICKS]
        )
        axes.set_xlabel(f"noise ratio {GAMMA}: rater variance / item variance")
        axes.set_ylabel(f"correlation |{RHO}| of metric and human score")
        axes.spines[:].set_visible(False)
        for one in standings:
            if one.system != "*":
                _draw_dots(axes, one)
    return figure


@dataclass(frozen=True)
class _Place:
    """Where a prompt stands on the map with its best metric."""

    name: str
    x: Interval
    y: Interval
    found: Efficiency

    @classmethod
    def of(cls, one: SystemStanding) -> "_Place":
        metric, found = next(iter(one.metrics.items()))
        ratio = found.noise_ratio
        return cls(
            name=f"{prompt_name(one.prompt)}, {metric_name(metric)}",
            x=Interval(*map(noise_share, (ratio.value, ratio.low, ratio.high))),
            y=_size(found.correlation),
            found=found,
        )


def _size(correlation: Interval) -> Interval:
    """Return the absolute value, whose interval starts at 0 where the sign is not known."""
    value, low, high = (
        min(abs(number), 1.0) for number in (correlation.value, correlation.low, correlation.high)
    )
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


def _draw_place(axes: Axes, place: _Place) -> None:
    x, y = place.x, place.y
    look: dict[str, Any] = {"color": BLUE, "linewidth": 2, "alpha": 0.3, "zorder": 3}
    axes.plot([x.low, x.high], [y.value] * 2, **look)
    axes.plot([x.value] * 2, [y.low, y.high], **look)
    [mark] = axes.plot(
        *([x.value], [y.value], "o"),
        markersize=6.5,
        color=BLUE,
        markeredgecolor=PAPER,
        clip_on=False,
        zorder=6,
    )
    named(mark, place.name)


def _draw_dots(axes: Axes, one: SystemStanding) -> None:
    each = list(one.metrics.values())
    axes.plot(
        [noise_share(each[0].noise_ratio.value)] * len(each),
        [min(abs(found.correlation.value), 1.0) for found in each],
        "o",
        color=INK,
        markersize=2.4,
        alpha=0.35,
        markeredgewidth=0,
        zorder=3,
    )


def _draw_labels(axes: Axes, places: Sequence[_Place]) -> None:
    """Write names in a column at the right, each joined to its mark, none over another."""
    places = sorted(places, key=lambda place: place.y.value)
    heights = _spread(np.array([place.y.value for place in places]), apart=2 * _LINE)
    for place, height in zip(places, heights, strict=True):
        axes.plot(
            [place.x.value, 1.0, 1.025],
            [place.y.value, height, height],
            color=MUTED,
            linewidth=0.6,
            clip_on=False,
            zorder=4,
        )
        label = place.name.replace(", ", "\n")
        named(axes.text(1.035, height, label, va="center", fontsize=8.5, color=INK), place.name)


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
