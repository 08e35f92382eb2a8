"""The part of the report that is about one prompt: sentences, drawings and tables."""

import math
from dataclasses import dataclass, replace

from steelyard.plots.style import MANY
from steelyard.report.comparison import ComparisonPart, comparison_part
from steelyard.report.components import variance_plot
from steelyard.report.copyable import copyable_estimates
from steelyard.report.efficiency_map import efficiency_map
from steelyard.report.examples import ExampleGroup, examples
from steelyard.report.findings import PromptFindings, judged_metrics
from steelyard.report.forest import forest_plot
from steelyard.report.numbers import number
from steelyard.report.remarks import Remark, comparison_notes, estimates_of, grouped, notes, remark_on
from steelyard.report.scatter import metric_plot, within_systems
from steelyard.report.small_multiples import small_multiples
from steelyard.report.svg import inline_svg
from steelyard.report.tables import (
    Table,
    agreement_table,
    components_table,
    estimates_table,
    metrics_tables,
    score_decimals,
)
from steelyard.report.wording import Headline, enumeration, headline, interval_abouts, noise_meaning
from steelyard.study import Diagnosis, Study
from steelyard.variance import Quantity

__all__ = ["Section", "section"]

_NO_VERDICT = (
    "These judgments do not separate rater noise from differences between outputs, so they do not "
    "show what a better metric or better instructions would save. What is missing is said below."
)


@dataclass(frozen=True)
class Scores:
    """Mean human scores: drawing and numbers, what they are about, and why some are missing.

    `about` is said of all systems, or else `abouts` of some each. `used` names the metrics of
    the estimates. `copyable` has the numbers with all their digits.
    """

    drawing: str | None
    table: Table
    about: str | None
    abouts: list[Remark]
    has_new_outputs: bool
    used: str | None
    gaps: list[Remark]
    copyable: str


@dataclass(frozen=True)
class Usefulness:
    """The most useful metric against judgments, and what each metric can save.

    With many systems `drawing` shows all within systems, and `panels` each of them, folded away. With
    many metrics `table` has the most useful ones, and `more` the others.
    """

    metric: str
    drawing: str
    panels: str | None
    table: Table | None
    more: Table | None
    examples: list[ExampleGroup]


@dataclass(frozen=True)
class Noise:
    """Variance components and agreement: drawing, numbers and what they mean."""

    drawing: str
    folded: bool
    components: Table
    agreement: Table
    judgments_per_output: str
    meaning: str | None


@dataclass(frozen=True)
class Section:
    """All that the page shows about one prompt; what the data do not determine is None.

    Attributes
    ----------
    anchor, prompt : str
        The section's id in the page, and the prompt.
    warnings : list of Remark
        What a reader must know before any number.
    headline : Headline
        The answer, and the findings in a few sentences.
    verdict : str
        What holds back, the metric or the raters.
    comparison : ComparisonPart or None
        Which system is better.
    scores : Scores
        Mean human scores.
    usefulness : Usefulness or None
        Metric against human score.
    noise : Noise or None
        Variance components and agreement.
    map : str or None
        The data-efficiency map.
    diagnosis_gaps, notes, signatures : list of Remark
        Why there are no variance components, what a reader must know, and how each estimate was
        computed.
    """

    anchor: str
    prompt: str
    warnings: list[Remark]
    headline: Headline
    verdict: str
    comparison: ComparisonPart | None
    scores: Scores
    usefulness: Usefulness | None
    noise: Noise | None
    map: str | None
    diagnosis_gaps: list[Remark]
    notes: list[Remark]
    signatures: list[Remark]


def section(study: Study, findings: PromptFindings, *, level: float, place: int) -> Section:
    """Return the section on a prompt.

    Parameters
    ----------
    study : Study
        The campaign.
    findings : PromptFindings
        What was found under the prompt.
    level : float
        Level of all intervals.
    place : int
        Number of the section in the page.
    """
    anchor = f"prompt-{place}"
    found = study.fits(findings.metrics).source.warnings
    warnings = {
        one.system: found[findings.prompt, one.system]
        for one in findings.systems
        if (findings.prompt, one.system) in found
    }
    gaps = [(one.system, one.diagnosis_gap) for one in findings.systems if one.diagnosis_gap]
    comparison = findings.answer.comparison
    if comparison is not None:
        comparison = replace(comparison, notes=comparison_notes(findings, comparison.notes))
    return Section(
        anchor=anchor,
        prompt=findings.prompt,
        warnings=grouped(
            findings, [(system, said) for system, own in warnings.items() for said in own]
        ),
        headline=headline(findings, score_decimals(findings)),
        verdict=findings.overall.verdict if findings.overall else _NO_VERDICT,
        comparison=None if comparison is None else comparison_part(comparison, anchor=anchor),
        scores=_scores(findings, anchor, level),
        usefulness=_usefulness(study, findings, anchor),
        noise=_noise(findings, anchor),
        map=_map(findings, anchor),
        diagnosis_gaps=grouped(findings, gaps),
        notes=notes(findings, warnings),
        signatures=[
            Remark(one.system, found.signature)
            for one in findings.systems
            for found in estimates_of(one)
        ],
    )


def _scores(findings: PromptFindings, anchor: str, level: float) -> Scores:
    found = [one.estimate for one in findings.systems if one.estimate is not None]
    label = f"Mean human score of each system under the prompt {findings.prompt}, with intervals"
    gaps = [(one.system, f"no estimate: {one.gap}") for one in findings.systems if one.gap]
    abouts = interval_abouts(findings)
    return Scores(
        drawing=inline_svg(forest_plot(found), name=f"{anchor}-forest", label=label)
        if found
        else None,
        table=estimates_table(findings, level=level),
        about=next(iter(abouts)) if len(abouts) == 1 else None,
        abouts=[
            remark_on(systems, f"the interval is about {about}")
            for about, systems in (abouts.items() if len(abouts) > 1 else ())
        ],
        has_new_outputs=any(one.new_outputs for one in found),
        used=f"metrics used: {enumeration(found[0].metrics)}"
        if found and found[0].metrics
        else None,
        gaps=grouped(findings, gaps),
        copyable=copyable_estimates(findings),
    )


def _usefulness(study: Study, findings: PromptFindings, anchor: str) -> Usefulness | None:
    metric, overall = findings.metric, findings.overall
    judged = judged_metrics(study, findings)
    if metric is None or not judged:
        return None
    label = f"Mean judgment of each output against {metric}, under the prompt {findings.prompt}"
    panels = None
    if len(judged) > MANY:
        each = small_multiples(judged, metric=metric)
        panels = inline_svg(each, name=f"{anchor}-panels", label=f"{label}, each system apart")
        within = metric_plot(
            [within_systems(judged, _correlation(overall, metric))],
            metric=f"{metric}, less the mean of the system",
            score="mean judgment, less that of the system",
        )
        drawing = inline_svg(within, name=f"{anchor}-within", label=f"{label}, within systems")
    else:
        whole = metric_plot(judged, metric=metric)
        drawing = inline_svg(whole, name=f"{anchor}-scatter", label=label)
    tables = metrics_tables(overall) if overall and overall.metrics else (None, None)
    return Usefulness(
        metric=metric,
        drawing=drawing,
        panels=panels,
        table=tables[0],
        more=tables[1],
        examples=examples(study, findings),
    )


def _correlation(overall: Diagnosis | None, metric: str) -> Quantity | None:
    found = overall.metrics.get(metric) if overall else None
    return found.correlation if found else None


def _noise(findings: PromptFindings, anchor: str) -> Noise | None:
    diagnoses, overall = findings.diagnoses, findings.overall
    if not diagnoses:
        return None
    label = f"Item and rater variance of each system under the prompt {findings.prompt}"
    return Noise(
        drawing=inline_svg(variance_plot(diagnoses), name=f"{anchor}-variances", label=label),
        folded=len(diagnoses) > MANY,
        components=components_table(diagnoses),
        agreement=agreement_table(diagnoses),
        judgments_per_output=number(diagnoses[-1].agreement.judgments_per_output, 1),
        meaning=noise_meaning(overall) if overall else None,
    )


def _map(findings: PromptFindings, anchor: str) -> str | None:
    placed = [one for one in findings.diagnoses if _has_correlation(one)]
    if not placed:
        return None
    label = f"Data efficiency by noise ratio and correlation, under the prompt {findings.prompt}"
    return inline_svg(efficiency_map(placed), name=f"{anchor}-map", label=label)


def _has_correlation(one: Diagnosis) -> bool:
    return one.best is not None and not math.isnan(one.metrics[one.best].correlation.value)
