"""How much metrics favour each system, and what their values mean, drawn; loaded when something is drawn."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from steelyard.errors import InvalidArgumentError
from steelyard.plots.canvas import axes_for
from steelyard.plots.rows import Block, Row, draw_rows
from steelyard.plots.style import BLUE, INK, MUTED
from steelyard.questions.diagnosis import JudgeDiagnosis

__all__ = ["plot_calibration", "plot_offsets"]

# More metrics than this are not drawn at once.
_METRICS = 3


def plot_offsets(judges: Sequence[JudgeDiagnosis], ax: Axes | None = None) -> Axes:
    """Draw how much each metric favours each system, of many metrics the most useful."""
    chosen = [one for one in judges if any(each.offset for each in one.offsets)][:_METRICS]
    if not chosen:
        raise InvalidArgumentError("nothing to draw: offsets need a metric and two systems")
    blocks = [
        Block(
            one.metric,
            [
                Row(
                    label=(each.system,),
                    value=each.offset.value,
                    low=each.offset.low,
                    high=each.offset.high,
                    mark="filled" if each.is_clear else "open",
                )
                for each in one.offsets
                if each.offset is not None
            ],
        )
        for one in chosen
    ]
    return draw_rows(
        blocks,
        ax,
        x=f"favoured by, human scale{f', {chosen[0].metric}' if len(chosen) == 1 else ''}",
        legend={
            "filled": "clear, all systems considered",
            "open": "not clear",
            "interval": "interval",
        },
        at=0.0,
    )


def plot_calibration(judge: JudgeDiagnosis, ax: Axes | None = None) -> Axes:
    """Draw the mean human score of outputs by the metric."""
    axes = axes_for(ax, rows=6)
    points = judge.calibration
    x = [one.metric for one in points]
    if judge.kappa is not None:
        ends = (min(x), max(x))
        axes.plot(ends, ends, color=MUTED, linestyle=(0, (1, 2)), linewidth=1.0)
    for one in points:
        axes.plot([one.metric] * 2, [one.human.low, one.human.high], color=BLUE, linewidth=2.6)
    axes.plot(x, [one.human.value for one in points], "o-", color=INK, linewidth=0.9, markersize=5)
    axes.set_xlabel(judge.metric)
    axes.set_ylabel("mean human score")
    return axes
