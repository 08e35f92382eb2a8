"""Which bottleneck is the larger: as the paper's stand-ins show it, and corrected."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from steelyard.paper.figures.parts import colours, key, markers, open_frame
from steelyard.paper.limits import EfficiencyLimits
from steelyard.paper.names import prompt_name
from steelyard.plots.style import MUTED, WIDTH, styled

__all__ = ["bottleneck_plot"]

_TICKS = (1, 1.5, 2, 3, 4, 6, 9)
_ENDS = (1, 11)


def bottleneck_plot(limits: Sequence[EfficiencyLimits]) -> Figure:
    """Draw data efficiency with noiseless raters against that with a perfect metric."""
    prompts = list(dict.fromkeys(one.prompt for one in limits))
    colour, marker = colours(prompts), markers(prompts)
    with styled():
        figure = Figure(figsize=(WIDTH, 3.9), layout="constrained")
        axes = figure.add_subplot()
        axes.set(xscale="log", yscale="log")
        axes.plot(_ENDS, _ENDS, color=MUTED, linewidth=0.9, linestyle="--", zorder=1)
        for one in limits:
            printed = one.perfect_stand_in, one.noiseless_stand_in
            corrected = one.perfect_metric.value, one.noiseless_raters.value
            ways = zip(printed, corrected, strict=True)
            axes.plot(*ways, color=MUTED, linewidth=0.5, alpha=0.6, zorder=2)
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
        axes.set(xlim=_ENDS, ylim=_ENDS)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
            axis.set_ticks([], minor=True)
        axes.set_xlabel("data efficiency with a perfect metric")
        axes.set_ylabel("data efficiency with noiseless raters")
        open_frame(axes)
        look: dict[str, Any] = {"transform": axes.transAxes, "color": MUTED, "fontsize": 8.5}
        axes.text(0.03, 0.97, "raters are the\nlarger bottleneck", ha="left", va="top", **look)
        axes.text(
            0.97, 0.3, "the metric is the\nlarger bottleneck", ha="right", va="bottom", **look
        )
        handles = [key(marker[name], prompt_name(name), color=colour[name]) for name in prompts]
        for face, label in (("white", "by stand-ins"), (MUTED, "corrected")):
            handles.append(key("o", label, markeredgecolor=MUTED, markerfacecolor=face))
        figure.legend(handles=handles, loc="outside right center", handlelength=1.2)
    return figure
