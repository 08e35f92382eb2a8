"""Which prompts have lower scores for better outputs: said by the user or the file, else asked."""

import re
from collections.abc import Sequence

import polars as pl

from steelyard.errors import InvalidDataError

__all__ = ["LOWER", "directions", "suggests_lower"]

# The column of judgments that says so.
LOWER = "lower_is_better"
_WORDS = (
    "rank ranks ranking position error errors edit edits penalty penalties mistake mistakes ter "
    "hter wer cer mqm toxicity toxic harm harmfulness hallucination hallucinations violation "
    "violations severity distance defects"
)


def directions(
    name: str, rows: pl.DataFrame, told: Sequence[str] | None
) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the prompts whose lower scores are better, and a question for each that may be one.

    Parameters
    ----------
    name : str
        What the judgments are called.
    rows : polars.DataFrame
        Prompt and score of every judgment, and perhaps ``lower_is_better`` and ``other_system``.
    told : sequence of str or None
        The prompts that the user named.

    Raises
    ------
    InvalidDataError
        If the file says both of one prompt.
    """
    prompts = rows["prompt"].unique(maintain_order=True).to_list()
    said = _said(name, rows)
    lower = {*(told or ()), *(prompt for prompt, is_lower in said.items() if is_lower)}
    scored = rows
    if "other_system" in rows.columns:
        scored = rows.filter(pl.col("other_system").is_null())
    highest = dict(scored.group_by("prompt").agg(pl.col("score").max()).iter_rows())
    questions = [
        f"prompt {prompt}: are lower scores better? Then add --lower-is-better {prompt}; now higher ones are"
        for prompt in prompts
        if prompt not in {*lower, *said} and highest.get(prompt, 0) > 0 and suggests_lower(prompt)
    ]
    return frozenset(lower), tuple(questions)


def suggests_lower(prompt: str) -> bool:
    """Whether the name of a prompt suggests that lower scores are better.

    Examples
    --------
    >>> [suggests_lower(one) for one in ("rank", "n_errors", "overall", "HTER", "terse")]
    [True, True, False, True, False]
    """
    return bool({*_WORDS.split()} & set(re.findall(r"[^\W\d_]+", prompt.casefold())))


def _said(name: str, rows: pl.DataFrame) -> dict[str, bool]:
    """Return what the file says of prompts."""
    if LOWER not in rows.columns:
        return {}
    known = rows.filter(pl.col(LOWER).is_not_null()).group_by("prompt", maintain_order=True)
    ends = known.agg(low=pl.col(LOWER).min() > 0, high=pl.col(LOWER).max() > 0)
    for prompt, low, high in ends.iter_rows():
        if low != high:
            raise InvalidDataError(
                f"{name}, column {LOWER}: prompt {prompt!r} has true and false: give it one direction"
            )
    return {prompt: low for prompt, low, _ in ends.iter_rows()}
