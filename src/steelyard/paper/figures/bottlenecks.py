"""Which bottleneck is the larger: as the paper's stand-ins show it, and corrected."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from steelyard.paper.figures.palette import colours, markers
from steelyard.paper.limits import EfficiencyLimits
from steelyard.paper.names import prompt_name
from steelyard.plots.style import GRID, MUTED, WIDTH, styled

__all__ = ["bottleneck_plot"]

_TICKS = (1, 1.5, 2, 3, 4, 6, 9)


def bottleneck_plot(found: Sequence[EfficiencyLimits]) -> Figure:
    """Draw data efficiency with noiseless raters against that with a perfect metric.

    Parameters
    ----------
    found : sequence of EfficiencyLimits
        One for each system and prompt: that of its best metric.

    Returns
    -------
    matplotlib.figure.Figure
    """
    prompts = list(dict.fromkeys(one.prompt for one in found))
    colour, marker = colours(prompts), markers(prompts)
    with styled():
        figure = Figure(figsize=(WIDTH, 3.9), layout="constrained")
        axes = figure.add_subplot()
        axes.set(xscale="log", yscale="log")
        ends = (1, 11)
        axes.plot(ends, ends, color=MUTED, linewidth=0.9, linestyle="--", zorder=1)
        for one in found:
            printed = one.perfect_stand_in, one.noiseless_stand_in
            corrected = one.perfect_metric.value, one.noiseless_raters.value
            axes.plot(
                *zip(printed, corrected, strict=True),
                color=MUTED,
                linewidth=0.5,
                alpha=0.6,
                zorder=2,
            )
            for place, filled in ((printed, False), (corrected, True)):
                axes.plot(
                    *place,
                    marker[one.prompt],
                    markersize=6.5,
                    color=colour[one.prompt],
                    markerfacecolor=colour[one.prompt] if filled else "white",
                    markeredgecolor="white" if filled else colour[one.prompt],
                    markeredgewidth=0.5 if filled else 1.0,
                    zorder=4 if filled else 3,
                )
        axes.set(xlim=ends, ylim=ends)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
            axis.set_ticks([], minor=True)
        axes.set_xlabel("data efficiency with a perfect metric")
        axes.set_ylabel("data efficiency with noiseless raters")
        axes.grid(color=GRID, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        for text, place, side in (
            ("raters are the\nlarger bottleneck", (0.03, 0.97), ("left", "top")),
            ("the metric is the\nlarger bottleneck", (0.97, 0.3), ("right", "bottom")),
        ):
            axes.text(
                *place,
                text,
                transform=axes.transAxes,
                ha=side[0],
                va=side[1],
                color=MUTED,
                fontsize=8.5,
            )
        figure.legend(
            handles=_legend(prompts, colour, marker), loc="outside right center", handlelength=1.2
        )
    return figure


def _legend(prompts: Sequence[str], colour: dict[str, str], marker: dict[str, str]) -> list[Line2D]:
    handles = [
        Line2D(
            [], [], linestyle="", marker=marker[name], color=colour[name], label=prompt_name(name)
        )
        for name in prompts
    ]
    for face, label in (("white", "by stand-ins"), (MUTED, "corrected")):
        handles.append(
            Line2D(
                [],
                [],
                linestyle="",
                marker="o",
                markeredgecolor=MUTED,
                markerfacecolor=face,
                label=label,
            )
        )
    return handles
