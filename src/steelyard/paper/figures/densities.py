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

    Parameters
    ----------
    human : (n,) array
        Mean judgment of each output, in place of the human score.
    metric : (n,) array
        Metric of each output.
    score : str
        Label of the axis.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> g = rng.normal(size=50)
    >>> len(density_plot(g + rng.normal(size=50), g, score="score").axes[0].patches)
    4
    """
    centred = metric - metric.mean()
    slope = float(centred @ human) / float(centred @ centred)
    corrected = human - slope * centred
    with styled():
        figure = Figure(figsize=(WIDTH, 2.7), layout="constrained")
        axes = figure.add_subplot()
        low, high = np.quantile(np.concatenate([human, corrected]), [0.005, 0.995])
        room = 0.12 * (high - low)
        edges = np.linspace(low - room, high + room, _BINS + 1)
        for values, label, colour in (
            (human, "f(z)", ORANGE),
            (corrected, "f(z) \N{MINUS SIGN} g(z)", BLUE),
        ):
            share, _ = np.histogram(values, edges, density=True)
            variance = number(float(values.var(ddof=1)), 3)
            axes.stairs(share, edges, fill=True, color=colour, alpha=0.2)
            axes.stairs(
                share,
                edges,
                color=colour,
                linewidth=1.6,
                label=f"{label}, variance {variance}",
            )
        axes.axvline(float(human.mean()), color=INK, linewidth=1, linestyle=(0, (4, 2)))
        axes.annotate(
            "the same mean",
            (float(human.mean()), 0.94),
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
