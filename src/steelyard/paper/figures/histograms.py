"""How far the released data efficiencies are from ours."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from steelyard.paper.differences import ReleasedDifference
from steelyard.paper.figures.parts import open_frame
from steelyard.paper.names import TASKS
from steelyard.plots.style import BLUE, INK, ORANGE, WIDTH, styled

__all__ = ["difference_plot"]


def difference_plot(differences: Sequence[ReleasedDifference]) -> Figure:
    """Draw histograms of standardised differences, one panel for each task."""
    tasks = list(dict.fromkeys(one.task for one in differences))
    edges = np.arange(-4.5, 4.51, 0.5)
    grid = np.linspace(edges[0], edges[-1], 200)
    with styled():
        figure = Figure(figsize=(WIDTH, 2.5), layout="constrained")
        panels = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
        for axes, task, colour in zip(panels, tasks, (BLUE, ORANGE), strict=False):
            z = np.clip([one.z for one in differences if one.task == task], edges[0], edges[-1])
            share = np.histogram(z, edges)[0] / len(z)
            axes.stairs(share, edges, fill=True, color=colour, alpha=0.55)
            normal = 0.5 * np.exp(-0.5 * grid**2) / np.sqrt(2 * np.pi)
            axes.plot(grid, normal, color=INK, linewidth=1.1, linestyle=(0, (4, 2)))
            axes.set_title(f"{TASKS[task].title}, {len(z)} numbers", loc="left")
            axes.set_xlim(edges[0], edges[-1])
            open_frame(axes, axis="y")
        panels[0].set_ylabel("share of numbers")
        figure.supxlabel(
            "(released \N{MINUS SIGN} ours) / Monte Carlo error of the difference", fontsize=9
        )
    return figure
