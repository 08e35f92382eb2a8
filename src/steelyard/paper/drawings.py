"""The figures of the page, each with what it shows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from steelyard.numbers import number
from steelyard.paper.differences import implied_distance
from steelyard.paper.figures.bottlenecks import bottleneck_plot
from steelyard.paper.figures.densities import density_plot
from steelyard.paper.figures.efficiency_map import efficiency_map
from steelyard.paper.figures.heat_maps import correlation_maps, distance_map
from steelyard.paper.figures.histograms import difference_plot
from steelyard.paper.figures.lengths import length_plot, overview_plot
from steelyard.paper.figures.scatter import JudgedMetric, metric_plot
from steelyard.paper.figures.systems import system_plot
from steelyard.paper.names import TASKS, Setting, prompt_name, system_name
from steelyard.paper.release import PaperTask
from steelyard.paper.reproduction import Reproduction

__all__ = ["FAR", "Drawing", "distances", "drawings", "file_name"]

# Where the metric explains most of the human score: the example of figure 2.
_EXAMPLE = Setting("cnndm", "hter", "seq2seq", "sim")
# Distances of metric means, in standard deviations, that are more than chance.
FAR = 0.25


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure: also a file of this name; the label is for those who cannot see it."""

    name: str
    label: str
    figure: Figure
    caption: str


def file_name(*parts: str) -> str:
    """Return a name for a file, of letters, digits and hyphens.

    Examples
    --------
    >>> file_name("figure-5", "cnndm", "clear & short")
    'figure-5-cnndm-clear-short'
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", "-".join(parts)).strip("-")


def drawings(found: Reproduction) -> Iterator[Drawing]:
    """Yield all figures that the data at hand allow, in no order that matters."""
    tasks = found.release.tasks
    for task in tasks:
        yield _systems(found, task)
        if task.name == "msmarco":
            yield from _instances(found, task)
        if task.name == _EXAMPLE.task and _EXAMPLE.system in task.systems:
            yield _densities(task)
        yield from _distances(found, task)
    yield Drawing(
        "figure-3",
        "Inverse data efficiency by noise ratio and correlation",
        efficiency_map(found.standings),
        "Figure 3: how many judgments are needed, in percent of those of a plain mean of equal "
        "precision. Large marks are the prompts, all systems together, with their best metric and 95% "
        "intervals; small dots are every system with every metric. Dotted lines lead from the last "
        "prompt to its limits: up, to a perfect metric; left, to raters who always agree, where DE is "
        "against a plain mean of such raters.",
    )
    for name, prompt in found.prompts:
        yield from _under_prompt(found, name, prompt)
    if found.quoted:
        yield Drawing(
            "figure-6",
            "Length of the 80% interval against the number of judgments",
            length_plot(found.quoted),
            f"Figure 6: length of the 80% bootstrap interval after so many judgments, "
            f"{found.draws:,} draws. Dotted: noiseless raters and a perfect metric as the paper stands "
            "them in. Thin: the same two without stand-ins.",
        )
    yield Drawing(
        "bottlenecks",
        "Data efficiency with noiseless raters against that with a perfect metric",
        bottleneck_plot(found.best_limits),
        "Each system and prompt, with its best metric: what noiseless raters would bring (up) and what a "
        "perfect metric would bring (right), both against today's plain mean. Open marks by the "
        "paper's stand-ins, filled marks corrected.",
    )
    if found.differences:
        yield Drawing(
            "released-differences",
            "Released data efficiencies less ours, in units of Monte Carlo error",
            difference_plot(found.differences),
            "Differences of the released numbers from ours, over the standard error that 1,000 draws on "
            "their side, the two curves of a ratio drawn apart, and ours would give; dashed, what chance "
            "alone would show.",
        )


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


def _instances(found: Reproduction, task: PaperTask) -> Iterator[Drawing]:
    prompt, metric = task.names.bias_prompt, "rouge-l"
    judged = []
    for system in task.systems:
        lines = task.under(prompt, system)
        here = found.correlation_of(Setting(task.name, prompt, system, metric))
        rho = None if here is None else here.unbiased
        judged.append(JudgedMetric(system_name(system), lines.metrics[metric], lines.mean, rho))
    axes = {"metric": "ROUGE-L", "score": f"mean judgment, {prompt_name(prompt)}"}
    first = judged[0].system
    yield Drawing(
        "figure-1b",
        f"Mean judgment against ROUGE-L of every output of {first}",
        metric_plot(judged[:1], **axes),
        f"Figure 1b: every output of {first}; larger marks where several coincide. Grey "
        "bars are the two distributions, the line is that of least squares; \N{GREEK SMALL LETTER RHO} "
        "is corrected for rater noise, with its 95% interval. The paper prints 0.31.",
    )
    if len(judged) > 1:
        yield Drawing(
            "figure-1b-others",
            "Mean judgment against ROUGE-L of every output of the other systems",
            metric_plot(judged[1:], **axes),
            "The same for the other systems.",
        )


def _densities(task: PaperTask) -> Drawing:
    lines = task.under(_EXAMPLE.prompt, _EXAMPLE.system)
    scores = lines.metrics[_EXAMPLE.metric]
    return Drawing(
        "figure-2",
        f"Distribution of human scores with and without the metric: {_EXAMPLE.title}",
        density_plot(lines.mean, scores, score=prompt_name(_EXAMPLE.prompt)),
        f"Figure 2, on real outputs ({_EXAMPLE.title}): the human score f(z), here the mean judgment, "
        "and the same less the scaled metric g(z) of mean zero. The mean stays, the variance falls.",
    )


def _under_prompt(found: Reproduction, task: str, prompt: str) -> Iterator[Drawing]:
    name = f"{prompt_name(prompt)} ({TASKS[task].title})"
    yield Drawing(
        file_name("figure-5", task, prompt),
        f"Correlations of metrics and human score, {name}",
        correlation_maps([o for o in found.correlations if (o.task, o.prompt) == (task, prompt)]),
        f"Figure 5, {name}: left by the authors' formula, right unbiased.",
    )
    yield Drawing(
        file_name("trajectories", task, prompt),
        f"Length of the 80% interval with every metric, {name}",
        overview_plot([one for one in found.followed if (one.task, one.prompt) == (task, prompt)]),
        f"{name}: each metric, and in the title the best with its data efficiency.",
    )


def _distances(found: Reproduction, task: PaperTask) -> Iterator[Drawing]:
    apart = distances(found, task)
    if max(apart.values(), default=0.0) > FAR:
        yield Drawing(
            f"released-distances-{task.name}",
            f"Distance of metric means that would explain the differences, {task.names.title}",
            distance_map(apart),
            f"{task.names.title}: how far from the mean of the released outputs, in standard deviations, the "
            "metric would have to be centred to give the released numbers.",
        )


def distances(found: Reproduction, task: PaperTask) -> dict[tuple[str, str], float]:
    """Return by metric and system where the metric was centred, to explain released differences."""
    mine = [o for o in found.differences if o.task == task.name and o.kind != "perfect metric"]
    return {
        (metric, system): implied_distance(cell)
        for metric in task.metrics
        for system in task.systems
        if (cell := [o for o in mine if (o.metric, o.system) == (metric, system)])
    }
