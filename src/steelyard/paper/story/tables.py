"""How the released tables of data efficiencies compare with ours."""

from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.numbers import number, percent
from steelyard.paper.blocks import Block, Drawing, Folded, Numbers, Paragraph
from steelyard.paper.differences import KINDS, ReleasedDifference, curve_error, implied_distance
from steelyard.paper.figures import difference_plot, distance_map
from steelyard.paper.release import PaperTask
from steelyard.paper.reproduction import Reproduction
from steelyard.report.tables import Table

__all__ = ["agreement_blocks"]

_PERFECT = "perfect metric"
_FAR = 0.25


def agreement_blocks(found: Reproduction) -> Iterator[Block]:
    """Hold the authors' tables against ours, as a whole.

    Parameters
    ----------
    found : Reproduction
        What came out.
    """
    if not found.differences:
        return
    yield Paragraph(
        "The authors' tables hold mean ratios of interval lengths, the plain mean's over the "
        "estimate's, that are not squared: their squares are what the text quotes, and what the formula "
        "of section 3 calls data efficiency. Read as squares they would be far from ours; see the last "
        "column. One table is with the judgments at hand (its row gold is the perfect metric), the "
        "other with noiseless raters; both are against the plain mean of noisy judgments."
    )
    yield Drawing(
        "released-differences",
        "Released data efficiencies less ours, in units of Monte Carlo error",
        difference_plot(found.differences),
        "Differences of the released numbers from ours, over the standard error that 1,000 draws on "
        "their side, the two curves of a ratio drawn apart, and ours would give; dashed, what chance "
        "alone would show.",
    )
    yield Numbers(_kinds_table(found))
    yield Paragraph(_scatter(found))
    for task in found.release.tasks:
        yield from _distances(found, task)


def _kinds_table(found: Reproduction) -> Table:
    rows = []
    for task in found.release.tasks:
        for kind in KINDS:
            mine = [o for o in found.differences if (o.task, o.kind) == (task.name, kind)]
            if mine:
                rows.append((f"{task.names.title}, {kind}", *_kind_cells(mine)))
    return Table(
        "Released ratios of lengths against ours",
        (
            "table",
            "numbers",
            "mean difference",
            "scatter",
            "mean z",
            "within two errors",
            "as squares",
        ),
        tuple(rows),
    )


def _kind_cells(mine: Sequence[ReleasedDifference]) -> tuple[str, ...]:
    gaps = np.array([np.log(one.released / one.reproduced) for one in mine])
    squares = np.array([np.log(one.released / one.reproduced**2) for one in mine])
    z = np.array([one.z for one in mine])
    return (
        f"{len(mine)}",
        f"{number(100 * float(gaps.mean()), 1)}%",
        f"{100 * float(gaps.std()):.1f}%",
        number(float(z.mean())),
        percent(float(np.mean(np.abs(z) < 2))),
        f"{number(100 * float(squares.mean()), 1)}%",
    )


def _scatter(found: Reproduction) -> str:
    expected = np.sqrt(2 * found.draws / 1000) * curve_error(found.followed)
    return (
        "Scatter is the standard deviation of the relative difference. Two curves drawn apart, 1,000 "
        f"draws each, would scatter by {100 * float(expected):.1f}% on the authors' side alone; that "
        "they come nearer means that they drew more, or the two curves together."
    )


def _distances(found: Reproduction, task: PaperTask) -> Iterator[Block]:
    """Explain differences by a metric that was centred elsewhere, where they are not chance."""
    mine = [o for o in found.differences if o.task == task.name and o.kind != _PERFECT]
    distances = {
        (metric, system): implied_distance(cell)
        for metric in task.metrics
        for system in task.systems
        if (cell := [o for o in mine if (o.metric, o.system) == (metric, system)])
    }
    far = [value for value in distances.values() if value > _FAR]
    if not far:
        return
    drawing = Drawing(
        f"released-distances-{task.name}",
        f"Distance of metric means that would explain the differences, {task.names.title}",
        distance_map(distances),
        f"{task.names.title}: how far from the mean of the released outputs, in standard deviations, the "
        "metric would have to be centred to give the released numbers.",
    )
    yield Paragraph(
        f"On {task.names.title} {len(far)} of {len(distances)} pairs of metric and system are lower than "
        "ours by more than chance, under every prompt and in both tables alike. That is what happens if "
        "the metric is centred not at the mean of the outputs that are drawn from but "
        f"{number(min(far), 1)} to {number(max(far), 1)} standard deviations away: the error of the slope "
        "then adds to the variance about the square of that distance. The paper centres a "
        "metric on all outputs of a system; those are not in the release. A random sample of 500 would "
        "come within 0.1 of their mean, so that either the judged outputs are not one, or the metric "
        "was computed in another way there. The metrics of these systems are better than the paper's "
        "tables say.",
        "notice",
    )
    yield Folded("Distances by metric and system", [drawing])
