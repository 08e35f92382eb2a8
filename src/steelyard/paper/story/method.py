"""Section 3 of the paper: statistical estimation (figures 2 and 3)."""

from collections.abc import Iterator

from steelyard.paper.blocks import Block, Drawing, PageSection, Paragraph
from steelyard.paper.figures import contour_plot, density_plot
from steelyard.paper.names import metric_name, prompt_name, system_name
from steelyard.paper.release import PaperTask
from steelyard.paper.reproduction import Reproduction

__all__ = ["method_section"]

# Where the metric explains most of the human score.
_SHOWN = ("cnndm", "hter", "seq2seq", "sim")


def method_section(found: Reproduction) -> PageSection:
    """Tell what a metric does to the variance, and where this data stands.

    Parameters
    ----------
    found : Reproduction
        What came out.
    """
    return PageSection(
        "method",
        "Section 3",
        "Statistical estimation for unbiased evaluation",
        list(_blocks(found)),
    )


def _blocks(found: Reproduction) -> Iterator[Block]:
    name, prompt, system, metric = _SHOWN
    task = found.release.task(name)
    if task is not None and system in task.systems:
        yield _densities(task, prompt, system, metric)
    yield Drawing(
        "figure-3",
        "Inverse data efficiency by noise ratio and correlation",
        contour_plot(found.standings),
        "Figure 3: how many judgments are needed, in percent of those of a plain mean of equal "
        "precision. Large marks are the prompts, all systems together, with their best metric and 95% "
        "intervals; small dots are every system with every metric. Dotted lines lead from the last "
        "prompt to its limits: up, to a perfect metric; left, to raters who always agree, where DE is "
        "against a plain mean of such raters.",
    )
    yield Paragraph(
        "Noise ratios here are unbiased, and those of large marks are within systems, since what sets systems "
        "apart is no part of the mean of one. With those of the paper's table every mark would stand further "
        "to the left, in a better light. The theorem and its proof are not reproduced: they are not data. "
        "Neither are the screenshots of figure 4."
    )


def _densities(task: PaperTask, prompt: str, system: str, metric: str) -> Drawing:
    lines = task.under(prompt, system)
    what = f"{system_name(system)}, {prompt_name(prompt)}, {metric_name(metric)}"
    return Drawing(
        "figure-2",
        f"Distribution of human scores with and without the metric: {what}",
        density_plot(lines.mean, lines.metrics[metric], score=prompt_name(prompt)),
        f"Figure 2, on real outputs ({what}): the human score f(z), here the mean judgment, and the "
        "same less the scaled metric g(z) of mean zero. The mean stays, the variance falls.",
    )
