"""Variance components: how much outputs differ, and how much raters do."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steelyard.errors import InvalidArgumentError
from steelyard.plots.style import (
    ALL_SYSTEMS,
    BLUE,
    MUTED,
    ORANGE,
    PEACH,
    WIDTH,
    rows_of_systems,
    styled,
)
from steelyard.report.numbers import GAMMA, interval, number
from steelyard.study import Diagnosis

__all__ = ["variance_plot"]


def variance_plot(diagnoses: Sequence[Diagnosis]) -> Figure:
    """Draw item variance and rater variance of each system as one bar, with their ratio.

    Parameters
    ----------
    diagnoses : sequence of Diagnosis
        One for each bar, from top to bottom; system ``*`` is called "all systems".

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidArgumentError
        If there is no diagnosis.

    Examples
    --------
    >>> import polars as pl
    >>> from steelyard.study import Study
    >>> outputs = pl.DataFrame({"item": range(8), "system": "s", "length": range(8)})
    >>> judgments = pl.DataFrame(
    ...     {"item": [0, 0, 2, 2, 4, 4, 5, 5, 7, 7], "system": "s", "rater": ["a", "b"] * 5,
    ...      "prompt": "p", "score": [0, 1, 1, 1, 1, 2, 2, 2, 3, 2]}
    ... )
    >>> figure = variance_plot(Study.read(outputs, judgments).diagnose())
    >>> [len(bars) for bars in figure.axes[0].containers]
    [1, 1]
    """
    if not diagnoses:
        raise InvalidArgumentError("`diagnoses` must hold at least one diagnosis; got none")
    names = [ALL_SYSTEMS if one.system == "*" else one.system for one in diagnoses]
    item = np.array([one.item_variance.value for one in diagnoses])
    rater = np.array([one.rater_variance.value for one in diagnoses])
    rows = np.arange(len(diagnoses))
    with styled():
        figure = Figure(figsize=(WIDTH, 1.15 + 0.34 * len(diagnoses)), layout="constrained")
        axes = figure.add_subplot()
        axes.barh(rows, item, height=0.58, color=BLUE, label="item variance")
        axes.barh(
            rows,
            rater,
            height=0.58,
            left=item,
            color=PEACH,
            edgecolor=ORANGE,
            linewidth=0.0,
            hatch="/////",
            label="rater variance",
        )
        rows_of_systems(axes, names)
        axes.set_xlim(0, 1.02 * float((item + rater).max()))
        axes.set_xlabel("variance of a single judgment")
        _write_ratios(axes, diagnoses)
        figure.legend(loc="outside upper left", ncols=2)
    return figure


def _write_ratios(axes: Axes, diagnoses: Sequence[Diagnosis]) -> None:
    """Write the noise ratios in a column at the right, where no bar can cover them."""
    across = axes.get_yaxis_transform()
    axes.text(
        1.03,
        -0.62,
        f"noise ratio {GAMMA}",
        transform=across,
        color=MUTED,
        va="bottom",
        fontsize=8.5,
    )
    for row, one in enumerate(diagnoses):
        ratio = one.noise_ratio
        text = f"{number(ratio.value)} {interval(ratio.low, ratio.high)}"
        axes.text(1.03, row, text, transform=across, va="center", fontsize=8.5)
