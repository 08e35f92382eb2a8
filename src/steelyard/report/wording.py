"""The findings in plain words."""

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.estimate import Estimate
from steelyard.report.findings import PromptFindings, SystemFindings
from steelyard.report.numbers import count, level_name, number, percent, span
from steelyard.report.savings import equivalent_judgments
from steelyard.study import Diagnosis

__all__ = ["Headline", "enumeration", "headline", "noise_meaning"]


@dataclass(frozen=True)
class Headline:
    """Which system has the highest score, how surely, and what the metrics brought.

    Attributes
    ----------
    leader : str or None
        The system with the greatest mean human score; None when there is no estimate.
    sentences : tuple of str
        The first goes on from the leader's name; without a leader it stands alone.
    """

    leader: str | None
    sentences: tuple[str, ...]


def headline(findings: PromptFindings, decimals: int) -> Headline:
    """Say in a few sentences what was found under a prompt.

    Parameters
    ----------
    findings : PromptFindings
        What was found.
    decimals : int
        Decimals of scores.
    """
    ranked = [one for one in findings.systems if one.estimate is not None]
    if not ranked:
        return Headline(
            None, ("No system has an estimate under this prompt; the reasons are below.",)
        )
    first = ranked[0]
    assert first.estimate is not None
    found = first.estimate
    what = "has the highest mean human score" if len(ranked) > 1 else "has a mean human score of"
    score = (
        f"{what}{':' if len(ranked) > 1 else ''} {number(found.estimate, decimals)} "
        f"({level_name(found.level)} interval {span(found.low, found.high, decimals)})."
    )
    return Headline(first.system, (score, *_lead(first, ranked[1:]), _saving(findings)))


def enumeration(names: Sequence[str]) -> str:
    """Return names as a phrase.

    Examples
    --------
    >>> enumeration(["a"]), enumeration(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _lead(first: SystemFindings, others: Sequence[SystemFindings]) -> tuple[str, ...]:
    """Say whether the leader's interval lies above all others."""
    if not others:
        return ()
    rivals = [one.system for one in others if _overlap(first.estimate, one.estimate)]
    if rivals:
        named = rivals if len(rivals) <= 3 else [*rivals[:2], f"{len(rivals) - 2} others"]
        return (
            f"Its interval overlaps with that of {enumeration(named)}, so it is not certain which is highest.",
        )
    clear = "Its interval lies wholly above that of every other system"
    if any(one.random_raters is None for one in (first, *others)):
        return (f"{clear}.",)
    doubtful = any(_overlap(first.random_raters, one.random_raters) for one in others)
    if doubtful:
        return (f"{clear}, but no longer when raters are seen as a sample of raters.",)
    return (f"{clear}, also when raters are seen as a sample of raters.",)


def _overlap(leader: Estimate | None, other: Estimate | None) -> bool:
    return leader is not None and other is not None and leader.low <= other.high


def _saving(findings: PromptFindings) -> str:
    """Say how many judgments the metrics saved, over all systems that they could correct."""
    if not findings.metrics:
        return "No metric was given: these are plain means."
    pairs = [
        (one.corrected.n_judgments, worth)
        for one in findings.systems
        if one.corrected is not None
        and (worth := equivalent_judgments(one.corrected, _item_variance(findings, one)))
        is not None
    ]
    if not pairs:
        return "No metric could be used: these are plain means."
    collected, worth = sum(n for n, _ in pairs), sum(w for _, w in pairs)
    metrics = enumeration(findings.metrics)
    saved = round(worth) - collected
    if all(
        one.corrected.n_outputs == one.corrected.pool_size
        for one in findings.systems
        if one.corrected
    ):
        return f"Every output was judged, so {metrics} had nothing to add: no judgment was saved."
    if saved <= 0:
        return (
            f"With {metrics}, the {count(collected, 'judgment')} tell no more than they would in "
            "plain means: no judgment was saved."
        )
    return (
        f"With {metrics}, the {count(collected, 'judgment')} tell as much as about "
        f"{round(worth):,} would in plain means: {saved:,} saved ({percent(1 - collected / worth)})."
    )


def _item_variance(findings: PromptFindings, one: SystemFindings) -> float:
    """Return the system's item variance, or that of all, which is greater and claims less."""
    diagnosis = one.diagnosis or findings.overall
    return diagnosis.item_variance.value if diagnosis else 0.0


def noise_meaning(diagnosis: Diagnosis) -> str:
    """Say what the variance components mean for those who pay for judgments."""
    ratio = diagnosis.noise_ratio.value
    if ratio == float("inf"):
        return (
            "The judgments show no difference between outputs beyond the disagreement of raters: "
            "all of their variance is rater noise."
        )
    noise = ratio / (1 + ratio)
    return (
        f"{percent(noise)} of the variance of a single judgment is disagreement between raters about "
        f"the same output, {percent(1 - noise)} is difference between outputs. A metric can stand in "
        f"for the second part only: even a perfect one would save no more than {percent(1 - noise)} "
        "of the judgments."
    )
