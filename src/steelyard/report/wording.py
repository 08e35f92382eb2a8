"""The findings in plain words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from steelyard.estimate import Estimate
from steelyard.report.findings import PromptFindings, SystemFindings
from steelyard.report.numbers import level_name, number, percent, span
from steelyard.study import Diagnosis
from steelyard.study.ledger_words import means_ledger, pairs_ledger

__all__ = ["Headline", "enumeration", "headline", "interval_abouts", "noise_meaning"]

# Metrics that a sentence can bear.
_NAMED = 3


@dataclass(frozen=True)
class Headline:
    """The answer, and what was saved.

    Attributes
    ----------
    answer : str
        Which system is better, from the comparison; of one system, its mean human score.
    basis : str or None
        What the comparison is about, and how sure it is.
    sentences : tuple of str
        The range of estimates, and the judgments that were saved.
    """

    answer: str
    basis: str | None
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
    answer = findings.answer
    if answer.sentence is not None:
        said = (_range(ranked, decimals), _saving(findings)) if ranked else ()
        return Headline(answer.sentence, answer.basis, said)
    if not ranked:
        return Headline(
            "No system has an estimate under this prompt; the reasons are below.", None, ()
        )
    if answer.refusal is not None:
        unknown = f"Which system is better is not known: {answer.refusal.rstrip('.')}."
        return Headline(unknown, None, (_range(ranked, decimals), _saving(findings)))
    return Headline(_score(ranked[0], decimals), None, (_saving(findings),))


def _score(one: SystemFindings, decimals: int) -> str:
    found = one.estimate
    assert found is not None
    return (
        f"{one.system} has a mean human score of {number(found.estimate, decimals)} "
        f"({level_name(found.level)} interval {span(found.low, found.high, decimals)}, about "
        f"{found.about})."
    )


def _range(ranked: Sequence[SystemFindings], decimals: int) -> str:
    """Return the span of the estimates, which claims no order of the systems between."""
    if len(ranked) == 1:
        return _score(ranked[0], decimals)
    ends = [
        f"{number(one.estimate.estimate if one.estimate else None, decimals)} ({one.system})"
        for one in (ranked[-1], ranked[0])
    ]
    return f"The estimates of the mean human score run from {ends[0]} to {ends[1]}."


def enumeration(names: Sequence[str]) -> str:
    """Return names as a phrase.

    Examples
    --------
    >>> enumeration(["a"]), enumeration(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def interval_abouts(findings: PromptFindings) -> dict[str, list[str]]:
    """Return what intervals are about, in words, each with its systems.

    Where pools differ in size only, their sizes are left to the table.
    """
    found = [one.estimate for one in findings.systems if one.estimate is not None]
    if len({one.about for one in found}) > 1:
        found = [replace(one, pool_size=None) for one in found]
    about: dict[str, list[str]] = {}
    for one in found:
        about.setdefault(one.about, []).append(str(one.system))
    return about


def _saving(findings: PromptFindings) -> str:
    """Say what plain means would have cost, for the differences and for the means."""
    comparison = findings.answer.comparison
    estimates = [one.estimate for one in findings.systems if one.estimate is not None]
    spent = [None if comparison is None else pairs_ledger(comparison), means_ledger(estimates)]
    said = [f"{one[0].upper()}{one[1:]}." for one in spent if one is not None]
    return " ".join([*_plain(findings, estimates), *said])


def _plain(findings: PromptFindings, estimates: Sequence[Estimate]) -> list[str]:
    """Say why metrics are not used, where they are not."""
    if not any(one.baseline for one in estimates):
        reason = "No metric could be used" if findings.metrics else "No metric was given"
        return [f"{reason}: these are plain means."]
    if any(any(one.shares or one.slope) for one in estimates) and not _all_judged(estimates):
        return []
    if not findings.metrics:
        return []
    few = len(findings.metrics) <= _NAMED
    names = enumeration(findings.metrics) if few else "the metrics"
    if _all_judged(estimates):
        return [f"Every output was judged, so {names} had nothing to add."]
    return [f"No use is made of {names}, because judgments do not follow."]


def _all_judged(estimates: Sequence[Estimate]) -> bool:
    return all(one.n_outputs == one.pool_size for one in estimates)


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
