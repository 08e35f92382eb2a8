"""Price against precision, with the metric, without, and at the two limits."""

from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from steelyard.design import Assumptions, Plan, Prices, plan
from steelyard.errors import NotEstimableError
from steelyard.report.style import BLUE, GREEN, GRID, INK, MUTED, ORANGE, WIDTH, styled
from steelyard.variance import Quantity

__all__ = ["plan_plot"]

_NONE, _ONE = Quantity(0.0, 0.0, 0.0), Quantity(1.0, 1.0, 1.0)


def plan_plot(
    made: Plan,
    assumed: Assumptions,
    *,
    prices: Prices | None = None,
    pool_size: int | None = None,
    n_metrics: int = 1,
) -> Figure:
    """Draw the price of each half-width around the planned one.

    Parameters
    ----------
    made : Plan
        The plan, marked in the figure.
    assumed : Assumptions
        What it was made from.
    prices : Prices, optional
        Of an output and of a judgment.
    pool_size : int, optional
        Number of outputs.
    n_metrics : int
        Number of metrics.

    Returns
    -------
    matplotlib.figure.Figure
    """
    curves = (
        ("plain mean", assumed.without_metric(), 0, ORANGE, (0, (5, 1.5))),
        ("with the metric", assumed, n_metrics, BLUE, "solid"),
        ("noiseless raters", replace(assumed, rater_variance=_NONE), n_metrics, GREEN, (0, (1, 1))),
        ("perfect metric", replace(assumed, correlation=_ONE), n_metrics, INK, (0, (5, 1, 1, 1))),
    )
    centre = made.expected.half_width
    widths = centre * np.geomspace(0.5, 2, 40)
    with styled():
        figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
        axes = figure.add_subplot()
        for label, case, p, colour, dash in curves:
            options = {
                "prices": prices,
                "pool_size": pool_size,
                "n_metrics": p,
                "level": made.level,
                "paired": made.pair or False,
                "rater_variance_given": made.rater_variance_given,
            }
            cost = _costs(case, widths, options)
            axes.plot(widths, cost, color=colour, linestyle=dash, linewidth=1.6, label=label)
        axes.plot([centre], [made.expected.cost], "o", color=BLUE, markersize=7)
        axes.annotate(
            f"planned: {made.expected.cost:,.0f}",
            (centre, made.expected.cost),
            xytext=(8, 8),
            textcoords="offset points",
            color=MUTED,
        )
        axes.set_xlabel("half-width of the interval")
        axes.set_ylabel("price")
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda price, _: f"{price:,g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.grid(color=GRID, linewidth=0.7)
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(loc="outside upper left", ncols=2, handlelength=2.8)
    return figure


def _costs(
    assumed: Assumptions, widths: NDArray[np.float64], options: dict[str, Any]
) -> list[float]:
    found = []
    for width in widths:
        try:
            found.append(plan(assumed, half_width=float(width), **options).expected.cost)
        except NotEstimableError:
            found.append(float("nan"))
    return found
