"""The part of the report that is about one prompt: sentences, drawings and tables."""

from dataclasses import dataclass, replace

from steelyard.questions.answer import enumeration
from steelyard.report.comparison import ComparisonPart, comparison_part
from steelyard.report.copyable import copyable_estimates
from steelyard.report.examples import ExampleGroup, examples
from steelyard.report.findings import PromptFindings
from steelyard.report.judge import JudgePart, judge_part, plain_sentence
from steelyard.report.remarks import (
    Remark,
    comparison_notes,
    estimates_of,
    grouped,
    notes,
    remark_on,
)
from steelyard.report.system_figure import system_figure
from steelyard.report.tables import Table, estimates_table
from steelyard.report.wording import Headline, headline, interval_abouts
from steelyard.study import Study

__all__ = ["Section", "section"]


@dataclass(frozen=True)
class Scores:
    """Mean human scores in numbers, what they are about, and why some are missing.

    `about` is said of all systems, or else `abouts` of some each. `used` names the metrics of
    the estimates. `copyable` has the numbers with all their digits.
    """

    table: Table
    about: str | None
    abouts: list[Remark]
    used: str | None
    gaps: list[Remark]
    copyable: str


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
    figure : str or None
        All systems with their intervals.
    metric : str or None
        The most useful metric.
    examples : list of ExampleGroup
        Outputs on which it and people agree, and on which they do not.
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
    figure: str | None
    metric: str | None
    examples: list[ExampleGroup]
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
        headline=headline(findings),
        verdict=_verdict(findings),
        comparison=None if comparison is None else comparison_part(comparison),
        scores=_scores(findings, level),
        figure=system_figure(findings, name=f"{anchor}-systems"),
        metric=findings.metric,
        examples=examples(study, findings),
        judge=None if findings.diagnosis is None else judge_part(findings.diagnosis, anchor=anchor),
        judge_gap=findings.diagnosis_gap,
        notes=notes(findings, warnings),
        signatures=[
            Remark(one.system, found.signature)
            for one in findings.systems
            for found in estimates_of(one)
        ],
    )


def _scores(findings: PromptFindings, level: float) -> Scores:
    found = [one.estimate for one in findings.systems if one.estimate is not None]
    gaps = [(one.system, f"no estimate: {one.gap}") for one in findings.systems if one.gap]
    abouts = interval_abouts(findings)
    return Scores(
        table=estimates_table(findings, level=level),
        about=next(iter(abouts)) if len(abouts) == 1 else None,
        abouts=[
            remark_on(systems, f"the interval is about {about}")
            for about, systems in (abouts.items() if len(abouts) > 1 else ())
        ],
        used=_used(findings, found[0].metrics) if found else None,
        gaps=grouped(findings, gaps),
        copyable=copyable_estimates(findings),
    )


def _used(findings: PromptFindings, metrics: tuple[str, ...]) -> str:
    """Say which metrics were used, or why none was."""
    if metrics:
        return f"Metrics used: {enumeration(metrics)}."
    return "No metric could be used." if findings.metrics else "No metric was given."


def _verdict(findings: PromptFindings) -> str:
    """Say whether the judge can be trusted, and what holds back."""
    found = findings.diagnosis
    if found is None:
        return ""
    if not found.judges:
        return found.holds_back
    return f"{plain_sentence(found.judges[0])} {found.holds_back}"
