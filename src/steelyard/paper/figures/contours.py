"""Inverse data efficiency by noise ratio and correlation, with this data's settings (figure 3)."""

from collections.abc import Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from steelyard.paper.figures.efficiency_map import efficiency_map, noise_share
from steelyard.paper.names import metric_name, prompt_name
from steelyard.paper.standings import SystemStanding
from steelyard.plots.style import INK, styled

__all__ = ["contour_plot"]

_LAST = "overall"


def contour_plot(standings: Sequence[SystemStanding]) -> Figure:
    """Draw the contours, each prompt at its best metric, and every system with every metric.

    Parameters
    ----------
    standings : sequence of SystemStanding
        For each prompt one of each system and, with system ``*``, one of all.

    Returns
    -------
    matplotlib.figure.Figure
    """
    # The map shows the way to the two limits from the last.
    together = sorted(
        (one for one in standings if one.system == "*"), key=lambda one: one.prompt == _LAST
    )
    named = [
        replace(
            one,
            system=prompt_name(one.prompt),
            metrics={metric_name(name): found for name, found in one.metrics.items()},
        )
        for one in together
    ]
    figure = efficiency_map(named)
    with styled():
        axes = figure.axes[0]
        for one in standings:
            if one.system != "*":
                axes.plot(
                    [noise_share(next(iter(one.metrics.values())).noise_ratio.value)]
                    * len(one.metrics),
                    [min(abs(found.correlation.value), 1.0) for found in one.metrics.values()],
                    "o",
                    color=INK,
                    markersize=2.4,
                    alpha=0.35,
                    markeredgewidth=0,
                    zorder=3,
                )
    return figure
