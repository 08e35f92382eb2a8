"""Section 4 of the paper: tasks and datasets (table 2)."""

from collections.abc import Iterator

from steelyard.numbers import GAMMA, count, interval, number
from steelyard.paper.blocks import Block, Folded, Numbers, PageSection, Paragraph, Points
from steelyard.paper.names import TASKS, prompt_name, system_name
from steelyard.paper.release import PaperTask
from steelyard.paper.reproduction import Reproduction
from steelyard.paper.variances import PromptVariances
from steelyard.report.tables import Table

__all__ = ["tasks_section"]


def tasks_section(found: Reproduction) -> PageSection:
    """Tell of the data and of its variance components.

    Parameters
    ----------
    found : Reproduction
        What came out.
    """
    return PageSection("tasks", "Section 4", "Tasks and datasets", list(_blocks(found)))


def _blocks(found: Reproduction) -> Iterator[Block]:
    for task in found.release.tasks:
        yield Paragraph(_size(task))
        yield Points([_sentence(remark) for remark in task.conversion.remarks])
    printed = [row for row in found.variances if row.printed is not None]
    yield Numbers(_printed_table(printed))
    yield Paragraph(
        "What the table prints as item variance is the variance of the outputs' mean judgments, which "
        "still holds the rater variance over m, the number of judgments of an output. So it is too "
        f"large, and the noise ratio {GAMMA} too small: {_factors(printed)}. The unbiased columns are "
        "one-way analysis of variance.",
        "notice",
    )
    for task in found.release.tasks:
        yield Folded(
            f"Each system of {task.names.title}",
            [Numbers(_system_table([r for r in found.variances if r.task == task.name], task))],
        )


def _size(task: PaperTask) -> str:
    raters = {rater for line in task.lines for rater in line.raters}
    listed = sum(len(line.raters) for line in task.lines)
    return (
        f"{task.names.title}: {count(len(task.lines), 'line')} of outputs, "
        f"{count(listed, 'judgment')} under each of {count(len(task.prompts), 'prompt')}, "
        f"{count(len(raters), 'rater')}."
    )


def _sentence(remark: str) -> str:
    return f"{remark[:1].upper()}{remark[1:]}.".replace("`", "")


def _printed_table(rows: list[PromptVariances]) -> Table:
    return Table(
        "Table 2: variance components, all systems and references together",
        (
            "prompt",
            "rater variance, printed",
            "ours",
            "item variance, printed",
            "ours",
            f"{GAMMA}, printed",
            "ours",
            "item variance, unbiased",
            f"{GAMMA}, unbiased",
            "95% interval",
        ),
        tuple(
            (
                f"{prompt_name(row.prompt)} ({TASKS[row.task].title})",
                number(row.printed.rater, 3),
                number(row.reproduced.rater, 3),
                number(row.printed.item, 3),
                number(row.reproduced.variance_of_means, 3),
                number(row.printed.noise_ratio, 3),
                number(row.reproduced.noise_ratio, 3),
                number(row.unbiased.item.value, 3),
                number(row.unbiased.noise_ratio.value, 3),
                interval(row.unbiased.noise_ratio.low, row.unbiased.noise_ratio.high),
            )
            for row in rows
            if row.printed is not None
        ),
    )


def _system_table(rows: list[PromptVariances], task: PaperTask) -> Table:
    return Table(
        f"{task.names.title}: released, reproduced and unbiased",
        (
            "system",
            "rater variance, released",
            "ours",
            f"{GAMMA}, released",
            "ours",
            "item variance, unbiased",
            f"{GAMMA}, unbiased",
            "95% interval",
        ),
        tuple(
            (
                f"{system_name(row.system)}, {prompt_name(row.prompt)}",
                number(row.released.rater if row.released else None, 3),
                number(row.reproduced.rater, 3),
                number(row.released.noise_ratio if row.released else None, 3),
                number(row.reproduced.noise_ratio, 3),
                number(row.unbiased.item.value, 3),
                number(row.unbiased.noise_ratio.value),
                interval(row.unbiased.noise_ratio.low, row.unbiased.noise_ratio.high),
            )
            for row in rows
            if row.system != "*"
        ),
    )


def _factors(rows: list[PromptVariances]) -> str:
    if not rows:
        return "by a factor that depends on the prompt"
    factors = [row.unbiased.noise_ratio.value / row.reproduced.noise_ratio for row in rows]
    return f"by factors of {min(factors):.1f} to {max(factors):.1f}"
