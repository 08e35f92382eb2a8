"""The findings in plain words."""

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.numbers import number
from steelyard.questions.about import About
from steelyard.questions.worth import worth_in_words
from steelyard.report.findings import PromptFindings, SystemFindings

__all__ = ["Headline", "headline", "interval_abouts"]


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
    if answer is None or not (ranked or answer.comparison):
        return Headline(
            "No system has an estimate under this prompt; the reasons are below.", None, ()
        )
    range_ = [_range(ranked, decimals)] if len(ranked) > 1 else []
    said = (*range_, _saving(findings)) if ranked else ()
    return Headline(answer.sentence, answer.basis, said)


def _range(ranked: Sequence[SystemFindings], decimals: int) -> str:
    """Return the span of the estimates, which claims no order of the systems between."""
    ends = [
        f"{number(one.estimate.estimate if one.estimate else None, decimals)} ({one.system})"
        for one in (ranked[-1], ranked[0])
    ]
    return f"The estimates of the mean human score run from {ends[0]} to {ends[1]}."


def interval_abouts(findings: PromptFindings) -> dict[str, list[str]]:
    """Return what intervals are about, in words, each with its systems.

    Where pools differ in size only, their sizes are left to the table.
    """
    found = [one.estimate for one in findings.systems if one.estimate is not None]
    same = len({one.about for one in found}) == 1
    about: dict[str, list[str]] = {}
    for one in found:
        words = one.about if same else About("these outputs", one.about.raters)
        about.setdefault(str(words), []).append(one.system)
    return about


def _saving(findings: PromptFindings) -> str:
    """Say what plain means would have cost, and why metrics are not used where they are not."""
    estimates = [one.estimate for one in findings.systems if one.estimate is not None]
    said = worth_in_words(estimates)
    worth = [] if said is None else [f"{said[0].upper()}{said[1:]}."]
    used = any(one.metrics for one in estimates)
    reason = "No metric could be used." if findings.metrics else "No metric was given."
    return " ".join([*([] if used or not estimates else [reason]), *worth])
