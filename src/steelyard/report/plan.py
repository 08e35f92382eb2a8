"""Price against precision, with the metric, without, and at the two limits."""

from matplotlib.figure import Figure

from steelyard.design import Plan
from steelyard.plots.curves import plan_curves
from steelyard.plots.style import WIDTH, styled

__all__ = ["plan_plot"]


def plan_plot(made: Plan) -> Figure:
    """Draw the price of each half-width around the planned one.

    Parameters
    ----------
    made : Plan
        The plan, marked in the figure.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with styled():
        figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
        plan_curves(figure.add_subplot(), made)
        figure.legend(loc="outside upper left", ncols=2, handlelength=2.8)
    return figure
