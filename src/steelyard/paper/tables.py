"""The tables of the page."""

from collections.abc import Sequence

import numpy as np

from steelyard.numbers import GAMMA, interval, number, percent
from steelyard.paper.bias_study import BiasRow
from steelyard.paper.differences import KINDS, ReleasedDifference
from steelyard.paper.modes import Modes
from steelyard.paper.names import TASKS, metric_name, prompt_name, system_name
from steelyard.paper.release import PaperTask
from steelyard.paper.reproduction import Reproduction
from steelyard.paper.trajectories import Followed
from steelyard.report.tables import Table

__all__ = [
    "MODE_TITLES",
    "bias_table",
    "components_table",
    "efficiency_table",
    "kinds_table",
    "modes_table",
    "share",
    "systems_table",
]

_CONDITIONS = {
    "": "as it is",
    "lr": "better for people",
    "ll": "worse for people",
    "ur": "better for the metric",
    "ul": "nothing to replace",
}
# In the order of the counts.
MODE_TITLES = {
    "msmarco": (
        "Correct, ROUGE-L above 0.5",
        "Incorrect, ROUGE-L above 0.5",
        "Correct, ROUGE-L below 0.5",
        "Incorrect, ROUGE-L below 0.5",
    ),
    "cnndm": (
        "Edit below 0.3, VecSim above 0.5",
        "Edit above 0.3, VecSim above 0.5",
        "Edit below 0.3, VecSim below 0.5",
        "Edit above 0.3, VecSim below 0.5",
    ),
}


def share(count: int, total: int) -> str:
    """Return a share in percent, with one decimal."""
    return f"{100 * count / total:.1f}%" if total else percent(0)


def bias_table(found: Reproduction, task: PaperTask) -> Table:
    """Return all rows of the bias study."""
    columns = ("system", "outputs replaced", "human", "released", "metric", "released")
    return Table(
        f"{task.names.title}: mean {prompt_name(task.names.bias_prompt)} and mean ROUGE-L, 80% "
        "intervals; the last two columns if replacements were drawn at random",
        (*columns, "human, random", "metric, random"),
        tuple(_bias_row(row) for row in found.bias if row.task == task.name),
    )


def _bias_row(row: BiasRow) -> tuple[str, ...]:
    pairs = (row.human, row.released_human, row.metric, row.released_metric)
    return (
        f"{system_name(row.system)}, {_CONDITIONS[row.condition]}",
        f"{row.replaced} of {row.outputs}",
        *(
            f"{number(one.value, 3)} {interval(one.low, one.high, 3)}" if one else number(None)
            for one in pairs
        ),
        *(number(value, 3) for value in row.at_random),
    )


def modes_table(modes: Modes) -> Table:
    """Return the counts of table 1."""
    heads = ("ties as incorrect", "share") if modes.strict else ()
    sources = [modes.printed.counts, modes.counts, *([modes.strict] if modes.strict else [])]
    return Table(
        f"Table 1, {TASKS[modes.printed.task].title}: how people and metric agree",
        ("mode", "printed", "share", "counted", "share", *heads),
        tuple(
            (
                title,
                *(
                    text
                    for counts in sources
                    for text in (f"{counts[place]:,}", share(counts[place], sum(counts)))
                ),
            )
            for place, title in enumerate(MODE_TITLES[modes.printed.task])
        ),
    )


def components_table(found: Reproduction) -> Table:
    """Return the variance components of table 2."""
    columns = ["prompt", "rater variance, printed", "ours", "item variance, printed", "ours"]
    columns += [f"{GAMMA}, printed", "ours", "item variance, unbiased", f"{GAMMA}, unbiased"]
    rows = []
    for row in found.table_2:
        assert row.printed is not None
        ratio = row.unbiased.noise_ratio
        pairs = zip(row.printed, row.reproduced, strict=True)
        cells = [number(value, 3) for pair in pairs for value in pair]
        cells += [number(row.unbiased.item.value, 3), number(ratio.value, 3)]
        cells += [interval(ratio.low, ratio.high)]
        rows.append((f"{prompt_name(row.prompt)} ({TASKS[row.task].title})", *cells))
    return Table(
        "Table 2: variance components, all systems and references together",
        (*columns, "95% interval"),
        tuple(rows),
    )


def systems_table(found: Reproduction, task: PaperTask) -> Table:
    """Return the variance components of each system."""
    columns = ("system", "rater variance, released", "ours", f"{GAMMA}, released", "ours")
    rows = []
    for row in found.variances:
        if row.task == task.name and row.system != "*":
            ratio, released = row.unbiased.noise_ratio, row.released
            cells = (
                number(released and released.rater, 3),
                number(row.reproduced.rater, 3),
                number(released and released.noise_ratio, 3),
                number(row.reproduced.noise_ratio, 3),
                number(row.unbiased.item.value, 3),
                number(ratio.value),
                interval(ratio.low, ratio.high),
            )
            rows.append((f"{system_name(row.system)}, {prompt_name(row.prompt)}", *cells))
    return Table(
        f"{task.names.title}: released, reproduced and unbiased",
        (*columns, "item variance, unbiased", f"{GAMMA}, unbiased", "95% interval"),
        tuple(rows),
    )


def efficiency_table(found: Reproduction, task: str, prompt: str) -> Table:
    """Return the data efficiencies of all settings under a prompt."""
    mine = [one for one in found.followed if (one.task, one.prompt) == (task, prompt)]
    columns = ["setting", "ours", "released"]
    for limit in ("noiseless raters", "perfect metric"):
        columns += [f"{limit}, ours", "released", "corrected"]
    return Table(
        f"{prompt_name(prompt)} ({TASKS[task].title}): data efficiency of trajectories with its Monte "
        "Carlo error, the released number squared, and the limits by stand-ins and corrected",
        tuple(columns),
        tuple(_efficiency_row(found, one) for one in mine),
    )


def _efficiency_row(found: Reproduction, one: Followed) -> tuple[str, ...]:
    limits, curves = found.limits_of(one), one.trajectory
    cells: list[str] = []
    for curve, released, corrected in (
        (curves.corrected, one.released, None),
        (curves.noiseless_raters, one.released_noiseless, limits.noiseless_raters),
        (curves.perfect_metric, one.released_perfect, limits.perfect_metric),
    ):
        cells.append(
            f"{number(curve.data_efficiency)} \N{PLUS-MINUS SIGN} {number(curve.monte_carlo_error)}"
        )
        cells.append(number(None if released is None else released**2))
        if corrected is not None:
            cells.append(number(corrected.value))
    return (f"{system_name(one.system)}, {metric_name(one.metric)}", *cells)


def kinds_table(found: Reproduction) -> Table:
    """Return how far the authors' tables are from ours, each as a whole."""
    columns = ("table", "numbers", "mean difference", "scatter", "mean z", "within two errors")
    rows = []
    for task in found.release.tasks:
        for kind in KINDS:
            mine = [o for o in found.differences if (o.task, o.kind) == (task.name, kind)]
            if mine:
                rows.append((f"{task.names.title}, {kind}", *_kind_cells(mine)))
    return Table("Released ratios of lengths against ours", (*columns, "as squares"), tuple(rows))


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
