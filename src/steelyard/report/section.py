"""The part of the report that is about one prompt: sentences, drawings and tables."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from steelyard.estimate import Estimate
from steelyard.report.components import variance_plot
from steelyard.report.efficiency_map import efficiency_map
from steelyard.report.findings import PromptFindings, SystemFindings, judged_metrics
from steelyard.report.forest import forest_plot
from steelyard.report.numbers import interval, number
from steelyard.report.scatter import metric_plot
from steelyard.report.style import ALL_SYSTEMS
from steelyard.report.svg import inline_svg
from steelyard.report.tables import (
    Table,
    agreement_table,
    components_table,
    estimates_table,
    metrics_table,
    score_decimals,
)
from steelyard.report.wording import (
    Headline,
    enumeration,
    headline,
    interval_abouts,
    noise_meaning,
)
from steelyard.study import Diagnosis, Study
from steelyard.study.estimates import control_in_words

__all__ = ["Section", "section"]


@dataclass(frozen=True)
class Remark:
    """Something to be said about some systems, or about all if `about` is empty."""

    about: str
    text: str


@dataclass(frozen=True)
class Scores:
    """Mean human scores: drawing and numbers, what they are about, and why some are missing.

    `about` is said of all systems, or else `abouts` of some each. `control` says which metrics carry
    the estimates.
    """

    drawing: str | None
    table: Table
    about: str | None
    abouts: list[Remark]
    has_plain: bool
    has_new_outputs: bool
    control: str | None
    gaps: list[Remark]


@dataclass(frozen=True)
class Usefulness:
    """The most useful metric against judgments, and what each metric can save."""

    metric: str
    drawing: str
    table: Table | None


@dataclass(frozen=True)
class Noise:
    """Variance components and agreement: drawing, numbers and what they mean."""

    drawing: str
    components: Table
    agreement: Table
    judgments_per_output: str
    meaning: str | None
    verdict: str | None


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
        The findings in a few sentences.
    glance : str
        The leader's score and interval.
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
    glance: str
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
    warnings = {
        one.system: study.imbalances[findings.prompt, one.system]
        for one in findings.systems
        if (findings.prompt, one.system) in study.imbalances
    }
    gaps = [(one.system, one.diagnosis_gap) for one in findings.systems if one.diagnosis_gap]
    return Section(
        anchor=anchor,
        prompt=findings.prompt,
        warnings=_grouped(findings, warnings.items()),
        headline=headline(findings, score_decimals(findings)),
        glance=_glance(findings),
        scores=_scores(findings, anchor, level),
        usefulness=_usefulness(study, findings, anchor),
        noise=_noise(findings, anchor),
        map=_map(findings, anchor),
        diagnosis_gaps=_grouped(findings, gaps),
        notes=_without_openings(_grouped(findings, _notes(findings, warnings))),
        signatures=[
            Remark(one.system, found.signature)
            for one in findings.systems
            for found in _estimates(one)
        ],
    )


def _glance(findings: PromptFindings) -> str:
    found = findings.systems[0].estimate
    if found is None:
        return "no estimate"
    decimals = score_decimals(findings)
    return f"{number(found.estimate, decimals)} {interval(found.low, found.high, decimals)}"


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
            Remark(enumeration(systems), f"the interval is about {about}")
            for about, systems in (abouts.items() if len(abouts) > 1 else ())
        ],
        has_plain=any(one.corrected for one in findings.systems),
        has_new_outputs=any(one.new_outputs for one in found),
        control=control_in_words(found),
        gaps=_grouped(findings, gaps),
    )


def _usefulness(study: Study, findings: PromptFindings, anchor: str) -> Usefulness | None:
    metric, overall = findings.metric, findings.overall
    if metric is None:
        return None
    figure = metric_plot(judged_metrics(study, findings), metric=metric)
    label = f"Mean judgment of each output against {metric}, under the prompt {findings.prompt}"
    return Usefulness(
        metric=metric,
        drawing=inline_svg(figure, name=f"{anchor}-scatter", label=label),
        table=metrics_table(overall) if overall and overall.metrics else None,
    )


def _noise(findings: PromptFindings, anchor: str) -> Noise | None:
    diagnoses, overall = findings.diagnoses, findings.overall
    if not diagnoses:
        return None
    label = f"Item and rater variance of each system under the prompt {findings.prompt}"
    return Noise(
        drawing=inline_svg(variance_plot(diagnoses), name=f"{anchor}-variances", label=label),
        components=components_table(diagnoses),
        agreement=agreement_table(diagnoses),
        judgments_per_output=number(diagnoses[-1].agreement.judgments_per_output, 1),
        meaning=noise_meaning(overall) if overall else None,
        verdict=overall.verdict if overall else None,
    )


def _map(findings: PromptFindings, anchor: str) -> str | None:
    placed = [one for one in findings.diagnoses if _has_correlation(one)]
    if not placed:
        return None
    label = f"Data efficiency by noise ratio and correlation, under the prompt {findings.prompt}"
    return inline_svg(efficiency_map(placed), name=f"{anchor}-map", label=label)


def _has_correlation(one: Diagnosis) -> bool:
    return one.best is not None and not math.isnan(one.metrics[one.best].correlation.value)


def _estimates(one: SystemFindings) -> Iterator[Estimate]:
    """Return a system's estimate and its plain mean."""
    if one.estimate is not None:
        yield one.estimate
        if one.estimate.baseline is not None:
            yield one.estimate.baseline


def _notes(findings: PromptFindings, warnings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for one in findings.systems:
        said = warnings.get(one.system)
        for found in _estimates(one):
            yield from ((one.system, note) for note in found.notes if note != said)
    for diagnosis in findings.diagnoses:
        name = ALL_SYSTEMS if diagnosis.system == "*" else diagnosis.system
        usefulness = [note for found in diagnosis.metrics.values() for note in found.notes]
        for note in (*diagnosis.notes, *diagnosis.agreement.notes, *usefulness):
            yield name, note


def _without_openings(notes: list[Remark]) -> list[Remark]:
    """Leave out notes that are but the opening of another."""
    return [
        one
        for one in notes
        if not any(other.text.startswith(one.text) for other in notes if other is not one)
    ]


def _grouped(findings: PromptFindings, said: Iterable[tuple[str, str]]) -> list[Remark]:
    """Say each thing once, with the systems that it is about."""
    about: dict[str, list[str]] = {}
    for system, text in said:
        systems = about.setdefault(text, [])
        if system not in systems:
            systems.append(system)
    everyone = {one.system for one in findings.systems}
    return [
        Remark("" if everyone <= set(systems) else enumeration(systems), text)
        for text, systems in about.items()
    ]
