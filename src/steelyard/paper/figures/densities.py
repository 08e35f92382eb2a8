"""Variance reduction: the distribution of human scores with and without the metric (figure 2)."""

import numpy as np
from matplotlib.figure import Figure

from steelyard.arrays import Floats
from steelyard.numbers import number
from steelyard.plots.style import BLUE, GRID, INK, ORANGE, WIDTH, styled

__all__ = ["density_plot"]

_BINS = 45


def density_plot(human: Floats, metric: Floats, *, score: str) -> Figure:
    r"""Draw the densities of :math:`f(z)` and of :math:`f(z) - \alpha g(z)`, which have one mean.

    Mean judgments of outputs stand in for human scores.
    """
    centred = metric - metric.mean()
    slope = float(centred @ human) / float(centred @ centred)
    corrected = human - slope * centred
    mean = float(human.mean())
    with styled():
        figure = Figure(figsize=(WIDTH, 2.7), layout="constrained")
        axes = figure.add_subplot()
        low, high = np.quantile(np.concatenate([human, corrected]), [0.005, 0.995])
        room = 0.12 * (high - low)
        edges = np.linspace(low - room, high + room, _BINS + 1)
        for values, name, colour in (
            (human, "f(z)", ORANGE),
            (corrected, "f(z) \N{MINUS SIGN} g(z)", BLUE),
        ):
            share, _ = np.histogram(values, edges, density=True)
            label = f"{name}, variance {number(float(values.var(ddof=1)), 3)}"
            axes.stairs(share, edges, fill=True, color=colour, alpha=0.2)
            axes.stairs(share, edges, color=colour, linewidth=1.6, label=label)
        axes.axvline(mean, color=INK, linewidth=1, linestyle=(0, (4, 2)))
        axes.annotate(
            "the same mean",
            (mean, 0.94),
            xycoords=("data", "axes fraction"),
            xytext=(5, 0),
            textcoords="offset points",
            fontsize=8.5,
        )
        axes.set_xlabel(score)
        axes.set_ylim(0, None)
        axes.set_yticks([])
        axes.grid(axis="x", color=GRID, linewidth=0.7)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.legend(loc="upper right")
    return figure
