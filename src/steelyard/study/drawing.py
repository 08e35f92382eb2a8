"""`Study.sample` and `Study.next_sample`: which outputs to judge, before the first judgments and after."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from steelyard.questions.next_sample import NextSample
from steelyard.questions.next_sample import next_sample as after_judgments
from steelyard.records import names_of
from steelyard.sampling.sample import Sample
from steelyard.sampling.sample import sample as from_pool
from steelyard.study.planning import only_prompt

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["next_sample", "sample"]


def sample(
    study: "Study",
    n: int,
    *,
    strata: str | None = None,
    size: str | None = None,
    clusters: str | None = None,
    pair: tuple[str, str] | None = None,
    systems: Sequence[str] | None = None,
    same_items: bool = True,
    extend: pl.DataFrame | None = None,
    seed: int,
) -> Sample:
    """Draw outputs to judge; see `steelyard.sampling.sample.sample`."""
    return from_pool(
        study.outputs,
        n,
        strata=strata,
        size=size,
        clusters=clusters,
        pair=pair,
        systems=systems,
        same_items=same_items,
        extend=extend,
        seed=seed,
    )


def next_sample(
    study: "Study",
    n: int,
    *,
    prompt: str | None = None,
    systems: Sequence[str] | None = None,
    pair: tuple[str, str] | None = None,
    undecided: bool = False,
    seed: int,
) -> NextSample:
    """Draw outputs to judge after those that were judged.

    Parameters
    ----------
    n : int
        Items to judge next.
    prompt : str, optional
        The prompt; needed when several were judged.
    systems : str or sequence of str, optional
        The systems in question; all by default.
    pair : (str, str), optional
        Two systems whose difference is in question.
    undecided : bool
        Whether systems that `compare` tells from all others get no more judgments.
    seed : int
        Seed of the draw.

    Returns
    -------
    NextSample
    """
    prompt = only_prompt(study, prompt)
    decided: list[str] = []
    if undecided:
        pairs = study.compare(prompts=[prompt], systems=systems, pair=pair)[prompt].pairs
        still = {name for one in pairs if one.verdict == "undecided" for name in (one.a, one.b)}
        decided = [name for one in pairs for name in (one.a, one.b) if name not in still]
    return after_judgments(
        study.fits(),
        prompt,
        n,
        systems=names_of(systems),
        pair=pair,
        decided=decided,
        seed=seed,
    )
