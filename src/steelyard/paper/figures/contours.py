"""Inverse data efficiency by noise ratio and correlation, with this data's settings (figure 3)."""

from collections.abc import Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from steelyard.paper.figures.palette import colours
from steelyard.paper.names import metric_name, prompt_name
from steelyard.report.efficiency_map import efficiency_map, noise_share
from steelyard.report.style import styled
from steelyard.study import Diagnosis

__all__ = ["contour_plot"]


def contour_plot(diagnoses: Sequence[Diagnosis]) -> Figure:
    """Draw the contours, each prompt at its best metric, and every system with every metric.

    Parameters
    ----------
    diagnoses : sequence of Diagnosis
        For each prompt one of each system and, with system ``*``, one of all.

    Returns
    -------
    matplotlib.figure.Figure
    """
    together = [one for one in diagnoses if one.system == "*"]
    named = [
        replace(
            one,
            system=prompt_name(one.prompt),
            metrics={metric_name(name): found for name, found in one.metrics.items()},
        )
        for one in sorted(together, key=lambda one: one.noise_ratio.value)
    ]
    figure = efficiency_map(named)
    colour = colours([one.prompt for one in together])
    with styled():
        axes = figure.axes[0]
        for one in diagnoses:
            if one.system != "*":
                axes.plot(
                    [noise_share(one.noise_ratio.value)] * len(one.metrics),
                    [min(abs(found.correlation.value), 1.0) for found in one.metrics.values()],
                    "o",
                    color=colour[one.prompt],
                    markersize=2.6,
                    alpha=0.55,
                    markeredgewidth=0,
                    zorder=3,
                )
    return figure
