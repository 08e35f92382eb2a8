"""Trajectories: interval length against the number of judgments."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steelyard.estimate import Trajectory
from steelyard.report.style import BLUE, GREEN, GRID, INK, MUTED, ORANGE, WIDTH, shown_names, styled
from steelyard.study import SystemTrajectory

__all__ = ["trajectory_plot"]

# Curves differ in dash as well as colour, for those who see no colour.
_CURVES = (
    ("plain", "plain mean", ORANGE, (0, (5, 1.5))),
    ("corrected", "with the metric", BLUE, "solid"),
    ("noiseless_raters", "with noiseless raters", GREEN, (0, (1, 1))),
    ("perfect_metric", "with a perfect metric", INK, (0, (5, 1, 1, 1))),
)


def trajectory_plot(found: Sequence[SystemTrajectory]) -> Figure:
    """Draw each system's curves in a panel of its own, two panels a row.

    Parameters
    ----------
    found : sequence of SystemTrajectory
        Trajectories, in the order of the panels.

    Returns
    -------
    matplotlib.figure.Figure
    """
    columns = min(2, len(found))
    rows = -(-len(found) // columns)
    with styled():
        figure = Figure(figsize=(WIDTH * columns * 0.72, 0.7 + 2.3 * rows), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False)
        for axes in panels.flat[len(found) :]:
            axes.remove()
        for axes, one in zip(panels.flat, found, strict=False):
            _panel(axes, one.trajectory)
            system, prompt = shown_names([one.system, one.prompt + " "], width=18)
            axes.set_title(f"{system}, {prompt.strip()}", loc="left")
        level = found[0].trajectory.level
        figure.supylabel(f"length of the {level:.0%} interval", fontsize=9)
        figure.supxlabel("judgments", fontsize=9)
        handles, labels = panels.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2, handlelength=2.8)
    return figure


def _panel(axes: Axes, curves: Trajectory) -> None:
    n = len(curves.judgments)
    shown = slice(max(n // 20, 1), None)
    for name, label, colour, dash in _CURVES:
        curve = getattr(curves, name)
        axes.plot(
            curves.judgments[shown],
            curve.length[shown],
            color=colour,
            linestyle=dash,
            linewidth=1.5,
            label=label,
        )
    axes.set_xlim(0, n)
    axes.set_ylim(0, None)
    axes.grid(color=GRID, linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    corrected = curves.corrected
    axes.annotate(
        f"DE {corrected.data_efficiency:.2f} ± {corrected.monte_carlo_error:.2f}",
        (0.97, 0.95),
        xycoords="axes fraction",
        ha="right",
        va="top",
        color=MUTED,
        fontsize=8.5,
    )
