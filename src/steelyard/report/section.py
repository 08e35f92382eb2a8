"""The part of the report that is about one prompt: sentences, drawings and tables."""

from dataclasses import dataclass, replace

from steelyard.plots.style import MANY
from steelyard.questions.answer import enumeration
from steelyard.report.comparison import ComparisonPart, comparison_part
from steelyard.report.copyable import copyable_estimates
from steelyard.report.examples import ExampleGroup, examples
from steelyard.report.findings import PromptFindings, judged_metrics
from steelyard.report.forest import forest_plot
from steelyard.report.judge import JudgePart, judge_part, plain_sentence
from steelyard.report.remarks import (
    Remark,
    comparison_notes,
    estimates_of,
    grouped,
    notes,
    remark_on,
)
from steelyard.report.scatter import metric_plot, within_systems
from steelyard.report.small_multiples import small_multiples
from steelyard.report.svg import inline_svg
from steelyard.report.tables import Table, estimates_table, score_decimals
from steelyard.report.wording import Headline, headline, interval_abouts
from steelyard.study import Study

__all__ = ["Section", "section"]


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
    """The most useful metric against judgments.

    With many systems `drawing` shows all within systems, and `panels` each of them, folded away.
    """

    metric: str
    drawing: str
    panels: str | None
    examples: list[ExampleGroup]


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
        Whether the judge can be trusted, and what holds back.
    comparison : ComparisonPart or None
        Which system is better.
    scores : Scores
        Mean human scores.
    usefulness : Usefulness or None
        Metric against human score.
    judge : JudgePart or None
        Metrics beside people, and raters beside one another.
    judge_gap : str or None
        Why there is none.
    notes, signatures : list of Remark
        What a reader must know, and how each estimate was computed.
    """

    anchor: str
    prompt: str
    warnings: list[Remark]
    headline: Headline
    verdict: str
    comparison: ComparisonPart | None
    scores: Scores
    usefulness: Usefulness | None
    judge: JudgePart | None
    judge_gap: str | None
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
    comparison = None if findings.answer is None else findings.answer.comparison
    if comparison is not None:
        comparison = replace(comparison, notes=comparison_notes(findings, comparison.notes))
    return Section(
        anchor=anchor,
        prompt=findings.prompt,
        warnings=grouped(
            findings, [(system, said) for system, own in warnings.items() for said in own]
        ),
        headline=headline(findings, score_decimals(findings)),
        verdict=_verdict(findings),
        comparison=None if comparison is None else comparison_part(comparison, anchor=anchor),
        scores=_scores(findings, anchor, level),
        usefulness=_usefulness(study, findings, anchor),
        judge=None if findings.diagnosis is None else judge_part(findings.diagnosis, anchor=anchor),
        judge_gap=findings.diagnosis_gap,
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
    metric = findings.metric
    judged = judged_metrics(study, findings)
    if metric is None or not judged:
        return None
    label = f"Mean judgment of each output against {metric}, under the prompt {findings.prompt}"
    panels = None
    if len(judged) > MANY:
        each = small_multiples(judged, metric=metric)
        panels = inline_svg(each, name=f"{anchor}-panels", label=f"{label}, each system apart")
        within = metric_plot(
            [within_systems(judged)],
            metric=f"{metric}, less the mean of the system",
            score="mean judgment, less that of the system",
        )
        drawing = inline_svg(within, name=f"{anchor}-within", label=f"{label}, within systems")
    else:
        whole = metric_plot(judged, metric=metric)
        drawing = inline_svg(whole, name=f"{anchor}-scatter", label=label)
    return Usefulness(
        metric=metric,
        drawing=drawing,
        panels=panels,
        examples=examples(study, findings),
    )


def _verdict(findings: PromptFindings) -> str:
    """Say whether the judge can be trusted, and what holds back."""
    found = findings.diagnosis
    if found is None:
        return ""
    if not found.judges:
        return found.holds_back
    return f"{plain_sentence(found.judges[0])} {found.holds_back}"
