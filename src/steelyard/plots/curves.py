"""Curves: interval length against judgments, and price against precision."""

from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from steelyard.design import Assumptions, Plan
from steelyard.plots.style import BLUE, GREEN, GRID, INK, MUTED, ORANGE
from steelyard.single.quantity import Quantity
from steelyard.single.trajectory import Trajectory

__all__ = ["plan_curves", "trajectory_curves"]

_NONE, _ONE = Quantity(0.0, 0.0, 0.0), Quantity(1.0, 1.0, 1.0)
# Curves differ in dash as well as colour, for paper and for those who see no colour.
_PLAIN = {"color": ORANGE, "linestyle": (0, (5, 1.5))}
_CORRECTED = {"color": BLUE, "linestyle": "solid"}
_NOISELESS = {"color": GREEN, "linestyle": (0, (1, 1))}
_PERFECT = {"color": INK, "linestyle": (0, (5, 1, 1, 1))}
_CURVES = (
    ("plain", "plain mean", _PLAIN),
    ("corrected", "with the metric", _CORRECTED),
    ("noiseless_raters", "with noiseless raters", _NOISELESS),
    ("perfect_metric", "with a perfect metric", _PERFECT),
)


def trajectory_curves(axes: Axes, found: Trajectory) -> None:
    """Draw the length of each interval against the number of judgments."""
    n = len(found.judgments)
    shown = slice(max(n // 20, 1), None)
    for name, label, look in _CURVES:
        curve = getattr(found, name)
        axes.plot(found.judgments[shown], curve.length[shown], linewidth=1.5, label=label, **look)
    axes.set_xlim(0, n)
    axes.set_ylim(0, None)
    axes.grid(color=GRID, linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    corrected = found.corrected
    axes.annotate(
        f"DE {corrected.data_efficiency:.2f} ± {corrected.monte_carlo_error:.2f}",
        (0.97, 0.95),
        xycoords="axes fraction",
        ha="right",
        va="top",
        color=MUTED,
        fontsize=8.5,
    )


def plan_curves(axes: Axes, made: Plan) -> None:
    """Draw the price of each half-width around the planned one."""
    assumed = made.assumptions
    curves = (
        ("plain mean", assumed.without_metric(), 0, _PLAIN),
        ("with the metric", assumed, made.n_metrics, _CORRECTED),
        ("noiseless raters", replace(assumed, rater_variance=_NONE), made.n_metrics, _NOISELESS),
        ("perfect metric", replace(assumed, correlation=_ONE), made.n_metrics, _PERFECT),
    )
    centre = made.expected.half_width
    widths = centre * np.geomspace(0.5, 2, 40)
    for label, case, n_metrics, look in curves:
        cost = _costs(case, widths, made, n_metrics)
        axes.plot(widths, cost, linewidth=1.6, label=label, **look)
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


def _costs(
    assumed: Assumptions, widths: NDArray[np.float64], made: Plan, n_metrics: int
) -> list[float]:
    found = (made.price(assumed, float(width), n_metrics) for width in widths)
    return [float("nan") if one is None else one for one in found]
