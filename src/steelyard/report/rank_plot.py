"""Rank plot: the ranks that each system may have."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from steelyard.errors import InvalidArgumentError
from steelyard.plots.style import (
    BAND,
    BLUE,
    MANY,
    MUTED,
    PAPER,
    WIDTH,
    rows_of_systems,
    styled,
)
from steelyard.questions.ranks import Rank

__all__ = ["rank_plot", "rank_words"]

# Bars go a little beyond their ranks, so that a rank that is known has one too.
_BEYOND = 0.15


def rank_words(rank: Rank) -> str:
    """Return the ranks that a system may have, in words.

    Examples
    --------
    >>> rank_words(Rank(system="a", estimate=1.0, low=1, high=3))
    '1 to 3'
    """
    return f"{rank.low}" if rank.low == rank.high else f"{rank.low} to {rank.high}"


def rank_plot(ranks: Sequence[Rank], groups: Sequence[Sequence[str]] = ()) -> Figure:
    """Draw the confidence set of ranks of each system, the best estimate on top.

    Parameters
    ----------
    ranks : sequence of Rank
        One for each system, from top to bottom.
    groups : sequence of sequence of str
        Systems that are not told apart from one group to the next; every second group is shaded.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidArgumentError
        If there is no rank.

    Examples
    --------
    >>> ranks = [Rank(system="a", estimate=2.0, low=1, high=1),
    ...          Rank(system="b", estimate=1.0, low=2, high=2)]
    >>> figure = rank_plot(ranks, [["a"], ["b"]])
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['a', 'b']
    """
    if not ranks:
        raise InvalidArgumentError("`ranks` must hold at least one system; got none")
    many = len(ranks) > MANY
    with styled():
        figure = Figure(
            figsize=(WIDTH, 0.8 + (0.24 if many else 0.36) * len(ranks)), layout="constrained"
        )
        axes = figure.add_subplot()
        rows_of_systems(axes, [rank.system for rank in ranks])
        row = 0
        for number, group in enumerate(groups):
            if number % 2:
                axes.axhspan(row - 0.5, row + len(group) - 0.5, color=BAND, zorder=0)
            row += len(group)
        for row, rank in enumerate(ranks):
            axes.plot(
                [rank.low - _BEYOND, rank.high + _BEYOND],
                [row, row],
                color=BLUE,
                linewidth=5.0 if many else 7.0,
                solid_capstyle="round",
                zorder=3,
            )
            axes.plot([row + 1], [row], "o", color=PAPER, markersize=2.5 if many else 3.5, zorder=4)
            axes.text(
                1.02,
                row,
                rank_words(rank),
                transform=axes.get_yaxis_transform(),
                va="center",
                fontsize=8.5,
                color=MUTED,
            )
        axes.set_xlim(0.5, len(ranks) + 0.5)
        step = 1 if len(ranks) <= 12 else 5
        axes.set_xticks(sorted({1, *range(step, len(ranks) + 1, step)}))
        axes.set_xlabel("rank, 1 is the best")
    return figure
