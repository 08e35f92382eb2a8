"""The part of the report that is about one prompt: texts, tables and drawings."""

import math
from collections.abc import Iterable, Sequence
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
from steelyard.report.wording import Headline, enumeration, headline, noise_meaning
from steelyard.study import Diagnosis, Study

__all__ = ["Section", "section"]

_Said = list[tuple[str, str]]


@dataclass(frozen=True)
class Section:
    """All that the page shows about one prompt; what is missing is None or empty.

    Attributes
    ----------
    id, prompt, metric : str
        Its anchor, the prompt, and the metric of `scatter`.
    headline : Headline
        The findings in a few sentences.
    glance : str
        The leader's score and interval.
    estimates, metrics, components, agreement : Table
        The numbers.
    forest, scatter, variances, map : str
        Drawings, as SVG.
    meaning, verdict : str
        What the variance components mean, and what it all comes to.
    gaps, diagnosis_gaps, notes, signatures : list of (str, str)
        Whom it is about, and what is to be said.
    """

    id: str
    prompt: str
    metric: str | None
    headline: Headline
    glance: str
    estimates: Table
    forest: str | None
    has_outer: bool
    gaps: _Said
    scatter: str | None
    metrics: Table | None
    variances: str | None
    components: Table | None
    meaning: str | None
    map: str | None
    diagnosis_gaps: _Said
    verdict: str | None
    agreement: Table | None
    judgments_per_output: str
    notes: _Said
    signatures: _Said


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
    anchor, prompt = f"prompt-{place}", findings.prompt
    ranked = [one for one in findings.systems if one.estimate is not None]
    diagnoses, overall = findings.diagnoses, findings.overall
    decimals = score_decimals(findings)
    judged = judged_metrics(study, findings)
    placed = [one for one in diagnoses if _has_correlation(one)]
    return Section(
        id=anchor,
        prompt=prompt,
        metric=findings.metric,
        headline=headline(findings, decimals),
        glance=_glance(ranked, decimals),
        estimates=estimates_table(findings, level=level),
        forest=_forest(ranked, anchor, prompt) if ranked else None,
        has_outer=any(one.random_raters for one in ranked),
        gaps=_grouped(findings, ((one.system, gap) for one in findings.systems for gap in one.gaps)),
        scatter=inline_svg(
            metric_plot(judged, metric=findings.metric or ""),
            name=f"{anchor}-scatter",
            label=f"Mean judgment against {findings.metric}, prompt {prompt}",
        )
        if judged
        else None,
        metrics=metrics_table(overall) if overall and overall.metrics else None,
        variances=inline_svg(
            variance_plot(diagnoses),
            name=f"{anchor}-variances",
            label=f"Item variance and rater variance of each system, prompt {prompt}",
        )
        if diagnoses
        else None,
        components=components_table(diagnoses) if diagnoses else None,
        meaning=noise_meaning(overall) if overall else None,
        map=inline_svg(
            efficiency_map(placed),
            name=f"{anchor}-map",
            label=f"Data efficiency by noise ratio and correlation, prompt {prompt}",
        )
        if placed
        else None,
        diagnosis_gaps=_grouped(
            findings,
            ((one.system, one.diagnosis_gap) for one in findings.systems if one.diagnosis_gap),
        ),
        verdict=overall.verdict if overall else None,
        agreement=agreement_table(diagnoses) if diagnoses else None,
        notes=_notes(findings),
        signatures=_signatures(findings),
    )
