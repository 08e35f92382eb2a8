"""The first question of every reader: which system is better, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from steelyard.errors import NotEstimableError
from steelyard.numbers import level_name
from steelyard.questions.answer import score_sentence
from steelyard.questions.comparison import Comparison
from steelyard.questions.estimates import Estimate

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["Answer", "judgments_of", "prompt_answers"]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """How the systems compare under one prompt, or why that is not known.

    Attributes
    ----------
    sentence : str
        Which system is better, by how much, and what cannot be told; of one system its mean; or why there
        is no answer.
    comparison : Comparison or None
        What `Study.compare` found; None with one system, or where it refused.
    """

    sentence: str
    comparison: Comparison | None = None

    @property
    def basis(self) -> str | None:
        """What the answer is about, and how sure it is; None where there is no comparison."""
        if self.comparison is None:
            return None
        pairs = len(self.comparison.pairs)
        together = "" if pairs == 1 else f" for all {pairs} pairs together"
        return f"About {self.comparison.about}. Holds at {level_name(self.comparison.level)}{together}."


def prompt_answers(
    study: "Study",
    prompt: str,
    estimates: Sequence[Estimate],
    metrics: Sequence[str] | None = None,
    *,
    systems: Sequence[str] | None = None,
    level: float = 0.95,
    **options: Any,
) -> dict[str | None, Answer]:
    """Return the answer under a prompt, by slice, as `Study.compare` gives it; or why there is none.

    Parameters
    ----------
    study : Study
        The campaign.
    prompt : str
        The prompt.
    estimates : sequence of Estimate
        The systems' estimates under it.
    metrics : sequence of str, optional
        Metrics to correct with; all by default.
    systems : sequence of str, optional
        The systems to compare; those that have estimates by default.
    level : float
        Level of the verdicts, for all pairs together.
    **options
        The other options of `Study.compare`.
    """
    own = [one for one in estimates if one.prompt == prompt]
    names = list(dict.fromkeys(one.system for one in own)) if systems is None else systems
    parts = dict.fromkeys(one.slice for one in own) or {None: None}
    if len(names) < 2:
        return {one.slice: Answer(sentence=_of_one(one)) for one in own}
    try:
        found = study.compare(metrics, prompts=[prompt], systems=names, level=level, **options)
    except NotEstimableError as error:
        reason = str(error).removeprefix(f"prompt {prompt!r}: ").rstrip(".")
        return {
            name: Answer(sentence=f"Which system is better is not known: {reason}.")
            for name in parts
        }
    return {one.slice: Answer(sentence=one.sentence, comparison=one) for one in found}


def judgments_of(study: "Study", prompt: str, systems: Sequence[str]) -> int | None:
    """Return how many judgments were made of some systems; None where they are of several prompts."""
    rows = study.judgments.frame.filter(
        (pl.col("prompt") == prompt) & pl.col("system").is_in(list(systems))
    )
    return rows.height or None


def _of_one(one: Estimate) -> str:
    return score_sentence(one.system, one.estimate, one.low, one.high)
