"""Trajectories: interval length against the number of judgments."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from steelyard.plots.curves import trajectory_curves
from steelyard.report.panels import panel_plot
from steelyard.study import SystemTrajectory

__all__ = ["trajectory_plot"]


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
        lambda axes, one: trajectory_curves(axes, one.trajectory),
        x="judgments",
        y=f"length of the {found[0].trajectory.level:.0%} interval",
        legend_columns=2,
    )
