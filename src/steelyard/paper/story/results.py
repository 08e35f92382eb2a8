"""Section 5 of the paper: experimental results (figures 5 and 6)."""

from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.numbers import number, percent
from steelyard.paper.blocks import (
    Block,
    Drawing,
    Folded,
    Numbers,
    PageSection,
    Paragraph,
    file_name,
)
from steelyard.paper.efficiency_claims import quoted
from steelyard.paper.figures import (
    LengthPanel,
    bottleneck_plot,
    correlation_maps,
    length_plot,
    overview_plot,
)
from steelyard.paper.names import TASKS, metric_name, prompt_name, system_name
from steelyard.paper.reproduction import Reproduction
from steelyard.paper.story.tables import agreement_blocks
from steelyard.paper.trajectories import Followed
from steelyard.report.tables import Table

__all__ = ["results_section"]

_GAMMA, _RHO = "\N{GREEK SMALL LETTER GAMMA}", "\N{GREEK SMALL LETTER RHO}"


def results_section(found: Reproduction) -> PageSection:
    """Tell how metrics correlate, and what they save.

    Parameters
    ----------
    found : Reproduction
        What came out.
    """
    return PageSection("results", "Section 5", "Experimental results", list(_blocks(found)))


def _blocks(found: Reproduction) -> Iterator[Block]:
    yield from _correlations(found)
    yield from _trajectories(found)
    yield from _limits(found)
    yield Paragraph(_saving(found.followed))
    yield Folded(
        "Data efficiencies of all settings",
        [Numbers(_efficiency_table(found, task, prompt)) for task, prompt in _prompts(found)],
    )
    yield from agreement_blocks(found)


def _prompts(found: Reproduction) -> list[tuple[str, str]]:
    return [(task.name, prompt) for task in found.release.tasks for prompt in task.prompts]


def _correlations(found: Reproduction) -> Iterator[Block]:
    others = []
    for task, prompt in _prompts(found):
        name = f"{prompt_name(prompt)} ({TASKS[task].title})"
        drawing = Drawing(
            file_name("figure-5", task, prompt),
            f"Correlations of metrics and human score, {name}",
            correlation_maps(
                [one for one in found.correlations if (one.task, one.prompt) == (task, prompt)]
            ),
            f"Figure 5, {name}: left by the authors' formula, right unbiased.",
        )
        if prompt == TASKS[task].map_prompt:
            yield drawing
        else:
            others.append(drawing)
    if others:
        yield Folded("Correlations under the other prompts", others)
    yield Paragraph(
        "By the authors' formula, correlations are those of their results file. The unbiased ones differ "
        "little: unlike table 2, their correlations do remove rater noise from the item variance."
    )


def _trajectories(found: Reproduction) -> Iterator[Block]:
    settings = quoted(found)
    if settings:
        panels = [
            LengthPanel(
                f"{system_name(one.system)}, {prompt_name(one.prompt)}\n{metric_name(one.metric)}: "
                f"DE {number(one.trajectory.data_efficiency)}, printed {number(printed)}",
                one.trajectory,
                limits,
            )
            for one, limits, printed in settings
        ]
        yield Drawing(
            "figure-6",
            "Length of the 80% interval against the number of judgments",
            length_plot(panels),
            f"Figure 6: length of the 80% bootstrap interval after so many judgments, "
            f"{found.draws:,} draws. Dotted: noiseless raters and a perfect metric as the paper stands "
            "them in. Thin: the same two without stand-ins.",
        )
    yield Folded(
        "Trajectories of all systems and metrics",
        [_overview(found, task, prompt) for task, prompt in _prompts(found)],
    )


def _overview(found: Reproduction, task: str, prompt: str) -> Drawing:
    name = f"{prompt_name(prompt)} ({TASKS[task].title})"
    return Drawing(
        file_name("trajectories", task, prompt),
        f"Length of the 80% interval with every metric, {name}",
        overview_plot([one for one in found.followed if (one.task, one.prompt) == (task, prompt)]),
        f"{name}: each metric, and in the title the best with its data efficiency.",
    )


def _limits(found: Reproduction) -> Iterator[Block]:
    yield Drawing(
        "bottlenecks",
        "Data efficiency with noiseless raters against that with a perfect metric",
        bottleneck_plot(found.best_limits),
        "Each system and prompt, with its best metric: what noiseless raters would bring (up) and what a "
        "perfect metric would bring (right), both against today's plain mean. Open marks by the "
        "paper's stand-ins, filled marks corrected.",
    )
    best = found.best_limits
    right = sum(one.noiseless_raters.value > one.perfect_metric.value for one in best)
    yield Paragraph(
        "The paper stands the mean of an output's two or three judgments in for its human score. As a "
        "perfect metric, that mean contains the very judgment that it predicts: data efficiency comes "
        f"out as (1 + {_GAMMA}) / ({_GAMMA} (1 \N{MINUS SIGN} 1/m)) instead of (1 + {_GAMMA}) / {_GAMMA}, "
        "twice too large with two judgments. As a noiseless judgment, it still has noise: (1 + "
        f"{_GAMMA}) / (1 \N{MINUS SIGN} {_RHO}² + {_GAMMA}/m) instead of (1 + {_GAMMA}) / (1 \N{MINUS SIGN} "
        f"{_RHO}²), too small. Both errors point the same way. Corrected, noiseless raters would bring more "
        f"than a perfect metric in {right} of {len(best)} cases{_larger(right, len(best))}.",
        "notice",
    )


def _larger(noiseless: int, cases: int) -> str:
    if noiseless <= cases / 2:
        return ""
    return (
        ": of the two bottlenecks that the paper names, the prompt shown to raters is the larger one, not "
        "the metric"
    )


def _saving(followed: Sequence[Followed]) -> str:
    efficiencies = np.array([one.trajectory.data_efficiency for one in followed])
    above = float(np.mean(efficiencies > 1))
    best = max(followed, key=lambda one: one.trajectory.data_efficiency)
    return (
        f"The paper's data efficiencies of 1.08 to 1.15 are those of chosen settings. Over all "
        f"{len(followed)} settings the median is {number(float(np.median(efficiencies)))}, "
        f"{percent(above)} are above 1, and the greatest is {number(best.trajectory.data_efficiency)} "
        f"({system_name(best.system)}, {prompt_name(best.prompt)}, {metric_name(best.metric)}). Below 1 a "
        "metric costs judgments: its slope must be estimated, and a weak metric does not pay for that."
    )


def _efficiency_table(found: Reproduction, task: str, prompt: str) -> Table:
    mine = [one for one in found.followed if (one.task, one.prompt) == (task, prompt)]
    return Table(
        f"{prompt_name(prompt)} ({TASKS[task].title}): data efficiency of trajectories with its Monte "
        "Carlo error, the released number squared, and the limits by stand-ins and corrected",
        (
            "setting",
            "ours",
            "released",
            "noiseless raters, ours",
            "released",
            "corrected",
            "perfect metric, ours",
            "released",
            "corrected",
        ),
        tuple(_efficiency_row(found, one) for one in mine),
    )


def _efficiency_row(found: Reproduction, one: Followed) -> tuple[str, ...]:
    limits = found.limits_of(one)
    curves = one.trajectory
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
