"""The findings in plain words."""

from dataclasses import dataclass

from steelyard.questions.about import About
from steelyard.questions.worth import Worth, worth
from steelyard.report.findings import PromptFindings

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
    worth : Worth or None
        What plain means would have cost.
    """

    answer: str
    basis: str | None
    worth: Worth | None


def headline(findings: PromptFindings) -> Headline:
    """Say what was found under a prompt, and what was saved."""
    found = [one.estimate for one in findings.systems if one.estimate is not None]
    answer = findings.answer
    if answer is None or not (found or answer.comparison):
        return Headline(
            "No system has an estimate under this prompt; the reasons are below.", None, None
        )
    return Headline(answer.sentence, answer.basis, worth(found, findings.n_judgments))


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
