"""Trajectories: interval length against the number of judgments."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steelyard.report.panels import panel_plot
from steelyard.report.style import BLUE, GREEN, GRID, INK, MUTED, ORANGE
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
    return panel_plot(
        found,
        _panel,
        x="judgments",
        y=f"length of the {found[0].trajectory.level:.0%} interval",
        legend_columns=2,
    )


def _panel(axes: Axes, one: SystemTrajectory) -> None:
    curves = one.trajectory
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
