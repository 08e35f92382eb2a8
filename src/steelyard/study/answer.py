"""The first question of every reader: which system is better, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.errors import NotEstimableError
from steelyard.questions.comparison import Comparison

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["Answer", "prompt_answer"]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """How the systems compare under one prompt, or why that is not known.

    Attributes
    ----------
    prompt : str
        The prompt.
    comparison : Comparison or None
        What `Study.compare` found; None with one system, or where it refused.
    refusal : str or None
        Why there is no comparison of several systems.
    """

    prompt: str
    comparison: Comparison | None = None
    refusal: str | None = None

    @property
    def sentence(self) -> str | None:
        """The answer in one sentence; None where there is no comparison."""
        if self.comparison is None:
            return None
        found = self.comparison
        ranked = "" if len(found.pairs) == 1 else found.sentence
        return _opened(ranked or _of_pairs(found), found)

    @property
    def basis(self) -> str | None:
        """What the answer is about, and how sure it is; None where there is no comparison."""
        if self.comparison is None:
            return None
        pairs = len(self.comparison.pairs)
        together = "" if pairs == 1 else f" for all {pairs} pairs together"
        return f"About {self.comparison.about}. Holds at {100 * self.comparison.level:.10g}%{together}."


def _of_pairs(found: Comparison) -> str:
    """Say what is known of one pair, or where some pairs cannot be compared."""
    if len(found.pairs) == 1:
        [pair] = found.pairs
        if pair.verdict in {"a", "b"}:
            better, worse = (pair.a, pair.b) if pair.verdict == "a" else (pair.b, pair.a)
            return f"{better} is better than {worse}."
        what = "have identical outputs" if pair.identical else "are not told apart"
        return f"{pair.a} and {pair.b} {what}."
    told = sum(pair.verdict in {"a", "b"} for pair in found.pairs)
    return (
        f"{told} of the {len(found.pairs)} pairs that can be compared are told apart; there is no "
        "order of all systems."
    )


def prompt_answer(
    study: "Study",
    prompt: str,
    systems: Sequence[str],
    *,
    metrics: Sequence[str] | None = None,
    level: float = 0.95,
) -> Answer:
    """Compare the systems under a prompt, as `Study.compare` does, or say why they are not compared.

    Parameters
    ----------
    study : Study
        The campaign.
    prompt : str
        The prompt.
    systems : sequence of str
        Systems that were judged under it; there is nothing to compare with fewer than two.
    metrics : sequence of str, optional
        Metrics to correct with; all by default.
    level : float
        Level of the verdicts, for all pairs together.
    """
    if len(systems) < 2:
        return Answer(prompt=prompt)
    try:
        found = study.compare(metrics, prompts=[prompt], systems=systems, level=level)[0]
    except NotEstimableError as error:
        return Answer(prompt=prompt, refusal=str(error).removeprefix(f"prompt {prompt!r}: "))
    return Answer(prompt=prompt, comparison=found)


def _opened(sentence: str, found: Comparison) -> str:
    """Begin with a capital letter, unless the first word is the name of a system."""
    names = [name for pair in found.pairs for name in (pair.a, pair.b)]
    if any(sentence.startswith((f"{name} ", f"{name},")) for name in names):
        return sentence
    return sentence[:1].upper() + sentence[1:]
