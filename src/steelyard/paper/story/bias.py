"""Section 2 of the paper: bias in automatic evaluation (figure 1, table 1)."""

from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.numbers import interval, number, percent
from steelyard.paper.bias_study import BiasRow
from steelyard.paper.blocks import Block, Drawing, Examples, Folded, Numbers, PageSection, Paragraph
from steelyard.paper.figures import system_plot
from steelyard.paper.figures.scatter import JudgedMetric, metric_plot
from steelyard.paper.modes import Modes
from steelyard.paper.names import TASKS, prompt_name, system_name
from steelyard.paper.release import PaperTask
from steelyard.paper.reproduction import Reproduction
from steelyard.paper.setting import Setting
from steelyard.report.tables import Table

__all__ = ["bias_section"]

_RULES = (
    "The rules of the bias study are not in the paper but in the authors' public code "
    "(github.com/arunchaganty/active-evaluation). An output is low if its ROUGE-L is below the mean of all outputs of "
    "all systems. Low outputs are replaced by another system's output for the same question, where "
    "there is one. Better for people (\N{WHITE RIGHT-POINTING TRIANGLE}): a low one that people rate "
    "higher, and of those the one they rate lowest. Better for the metric "
    "(\N{WHITE UP-POINTING TRIANGLE}): one that is not low, and of those the one that people rate "
    "lowest. The release also has the way to the left, which the paper does not show: a low one "
    "that people rate lower, and of those the one they rate highest; and one more that asks for a "
    "metric above the mean and below one that is itself below the mean, so that nothing is replaced."
)
_CONDITIONS = {
    "": "as it is",
    "lr": "better for people",
    "ll": "worse for people",
    "ur": "better for the metric",
    "ul": "nothing to replace",
}
_TITLES = {
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


def bias_section(found: Reproduction) -> PageSection:
    """Tell of systems and instances on which metric and people part.

    Parameters
    ----------
    found : Reproduction
        What came out.
    """
    return PageSection("bias", "Section 2", "Bias in automatic evaluation", list(_blocks(found)))


def _blocks(found: Reproduction) -> Iterator[Block]:
    for task in found.release.tasks:
        yield _systems(found, task)
    yield Paragraph(_RULES)
    yield Paragraph(_selection(found), "notice")
    yield Folded(
        "All rows of the bias study, and the authors' beside them",
        [Numbers(_study_table(found, task)) for task in found.release.tasks],
    )
    answers = found.release.task("msmarco")
    if answers is not None:
        yield from _instances(found, answers)
    for modes in found.modes:
        yield from _modes(modes)


def _systems(found: Reproduction, task: PaperTask) -> Drawing:
    rows = [row for row in found.bias if row.task == task.name]
    own = [row for row in rows if not row.condition]
    level = float(np.corrcoef([r.human.value for r in own], [r.metric.value for r in own])[0, 1])
    prompt = prompt_name(task.names.bias_prompt)
    return Drawing(
        f"figure-1a-{task.name}",
        f"Mean ROUGE-L against mean {prompt} of each system of {task.names.title}",
        system_plot(rows, score=f"mean {prompt}", metric="mean ROUGE-L"),
        f"Figure 1a, {task.names.title}: each system (circle), and the same system when its low "
        "outputs are replaced by other systems' so as to be better for people or for the metric. "
        f"Thin lines are 80% bootstrap intervals. Over {len(own)} systems the correlation is "
        f"{number(level)}.",
    )


def _selection(found: Reproduction) -> str:
    parts = []
    for task in found.release.tasks:
        mine = [one for one in found.fresh if (one.task, one.condition) == (task.name, "lr")]
        chosen = float(np.mean([one.chosen for one in mine]))
        fresh = float(np.mean([one.fresh for one in mine]))
        parts.append(f"{number(chosen)} shrink to {number(fresh)} on {task.names.title}")
    return (
        "The way to the right is shorter than drawn. An answer counts as better if its mean of two or "
        "three judgments is higher, and the same judgments then measure by how much, so that chance "
        "counts as improvement. To see how much, choose by one judgment of each output and measure "
        f"with the others: gains of {' and of '.join(parts)}. Without more judgments an output, the "
        "same cannot be done for choices by all judgments; they suffer less, but they suffer."
    )


def _study_table(found: Reproduction, task: PaperTask) -> Table:
    rows = [row for row in found.bias if row.task == task.name]
    return Table(
        f"{task.names.title}: mean {prompt_name(task.names.bias_prompt)} and mean ROUGE-L, 80% "
        "intervals; the last two columns if replacements were drawn at random",
        (
            "system",
            "outputs replaced",
            "human",
            "released",
            "metric",
            "released",
            "human, random",
            "metric, random",
        ),
        tuple(_study_row(row) for row in rows),
    )


def _study_row(row: BiasRow) -> tuple[str, ...]:
    pairs = (row.human, row.released_human, row.metric, row.released_metric)
    cells = [
        number(None) if one is None else f"{number(one.value, 3)} {interval(one.low, one.high, 3)}"
        for one in pairs
    ]
    return (
        f"{system_name(row.system)}, {_CONDITIONS[row.condition]}",
        f"{row.replaced} of {row.outputs}",
        *cells,
        *(number(value, 3) for value in row.at_random),
    )


def _instances(found: Reproduction, task: PaperTask) -> Iterator[Block]:
    prompt, metric = task.names.bias_prompt, "rouge-l"
    judged = []
    for system in task.systems:
        lines = task.under(prompt, system)
        setting = Setting(task.name, prompt, system, metric)
        here = found.correlation_of(setting)
        rho = None if here is None else here.unbiased
        judged.append(JudgedMetric(system_name(system), lines.metrics[metric], lines.mean, rho))
    labels = {"metric": "ROUGE-L", "score": f"mean judgment, {prompt_name(prompt)}"}
    yield Drawing(
        "figure-1b",
        f"Mean judgment against ROUGE-L of every output of {judged[0].system}",
        metric_plot(judged[:1], **labels),
        f"Figure 1b: every output of {judged[0].system}; larger marks where several coincide. Grey "
        "bars are the two distributions, the line is that of least squares; \N{GREEK SMALL LETTER RHO} "
        "is corrected for rater noise, with its 95% interval. The paper prints 0.31.",
    )
    if len(judged) > 1:
        yield Folded(
            "The other systems",
            [
                Drawing(
                    "figure-1b-others",
                    "Mean judgment against ROUGE-L of every output of the other systems",
                    metric_plot(judged[1:], **labels),
                    "The same for the other systems.",
                )
            ],
        )


def _modes(modes: Modes) -> Iterator[Block]:
    task = TASKS[modes.printed.task]
    titles = _TITLES[modes.printed.task]
    yield Numbers(
        Table(
            f"Table 1, {task.title}: how people and metric agree",
            ("mode", "printed", "share", "counted", "share", *_strict_heads(modes)),
            tuple(
                (
                    title,
                    f"{printed:,}",
                    _share(printed, modes.printed.total),
                    f"{counted:,}",
                    _share(counted, modes.total),
                    *_strict_cells(modes, place),
                )
                for place, (title, printed, counted) in enumerate(
                    zip(titles, modes.printed.counts, modes.counts, strict=True)
                )
            ),
        )
    )
    yield Paragraph(_modes_rule(modes))
    if any(modes.examples):
        yield Folded("Examples of each mode", [Examples(modes, titles)])


def _modes_rule(modes: Modes) -> str:
    if modes.strict is None:
        return (
            f"Counted are the outputs for items that every system answered, {modes.total:,} in all, by "
            "the mean of all their judgments. The texts of these summaries are not in the release."
        )
    return (
        f"Counted are the {modes.total:,} distinct answers that at least one system gave. Correct is an "
        f"answer with a mean judgment of at least one half, so that the {modes.ties:,} answers on which "
        "raters are split count as correct; the last columns count them as incorrect. The conclusion "
        f"that most answers are correct but scored low rests on this: it is {_share(modes.counts[2], modes.total)} "
        f"with ties and {_share(modes.strict[2], modes.total)} without."
    )


def _strict_heads(modes: Modes) -> Sequence[str]:
    return () if modes.strict is None else ("ties as incorrect", "share")


def _strict_cells(modes: Modes, place: int) -> Sequence[str]:
    if modes.strict is None:
        return ()
    return f"{modes.strict[place]:,}", _share(modes.strict[place], modes.total)


def _share(count: int, total: int) -> str:
    return f"{100 * count / total:.1f}%" if total else percent(0)
