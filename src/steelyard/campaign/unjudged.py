"""Judgments and the outputs that may be judged next, as numbers: what a plan looks ahead with."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from steelyard.campaign.collected import Collected, collected
from steelyard.campaign.draws import RECORDED
from steelyard.campaign.source import Source
from steelyard.model.campaign import Ints
from steelyard.records import ALSO_BY, UNKNOWN_RATER

__all__ = ["PLACE", "next_outputs", "others_judged", "with_unjudged"]

PLACE = "#place"
_OUTPUT = ["item", "system"]


def next_outputs(
    source: Source,
    prompt: str,
    systems: Sequence[str],
    *,
    rng: np.random.Generator,
    judged_first: bool = False,
    differing: bool = False,
) -> pl.DataFrame:
    """Return the outputs of some systems that nobody judged, in the order in which to judge them: one order of items.

    Parameters
    ----------
    source : Source
        The tables.
    prompt : str
        The prompt.
    systems : sequence of str
        The systems.
    rng : numpy.random.Generator
        Where chance comes from.
    judged_first : bool
        Whether items that other systems were judged on come first.
    differing : bool
        Whether to leave out items for which all these systems wrote the same text.

    Returns
    -------
    polars.DataFrame
        Item, system, and ``#place``: the place of each, from 1 for each system.
    """
    judged = source.judgments.frame.filter(pl.col("prompt") == prompt).select(_OUTPUT).unique()
    texts = ["output"] if differing and source.outputs.has_texts else []
    rows = source.outputs.rows(columns=[*_OUTPUT, *texts])
    rows = rows.filter(pl.col("system").is_in(list(systems)))
    if texts:
        rows = rows.filter(pl.col("output").n_unique().over("item") > 1)
    items = rows.select("item").unique().sort("item")
    chance = items.with_columns(pl.Series("#chance", rng.permutation(items.height)))
    rows = rows.join(chance, on="item", how="left", maintain_order="left")
    times = judged.group_by("item").agg(pl.len().alias("#judged"))
    rows = rows.join(judged, on=_OUTPUT, how="anti", maintain_order="left")
    rows = rows.join(times, on="item", how="left", maintain_order="left")
    keys = [pl.col("#judged").fill_null(0) * (-1 if judged_first else 0), pl.col("#chance")]
    rows = rows.sort(*keys)
    return rows.with_columns(pl.int_range(1, pl.len() + 1).over("system").alias(PLACE)).select(
        *_OUTPUT, PLACE
    )


def with_unjudged(source: Source, prompt: str, unjudged: pl.DataFrame) -> tuple[Collected, Ints]:
    """Return the judgments under a prompt with one imagined judgment of each output of `unjudged`.

    Parameters
    ----------
    source : Source
        The tables.
    prompt : str
        The prompt.
    unjudged : polars.DataFrame
        Outputs as `next_outputs` gives them.

    Returns
    -------
    Collected, array of int
        All of them, with the place of each judgment; 0 where it has been made.
    """
    judgments = source.judgments.filter(pl.col("prompt") == prompt)
    made = judgments.frame
    drop = [one for one in RECORDED if one in made.columns and one != ALSO_BY]
    made = made.drop(drop).with_row_index("#position")
    made = made.with_columns(pl.lit(0, pl.Int64).alias(PLACE))
    score = 0.0 if not made.height else float(made["score"].to_numpy().mean())
    more = unjudged.with_columns(
        pl.col(PLACE).cast(pl.Int64),
        prompt=pl.lit(prompt),
        rater=pl.lit(UNKNOWN_RATER),
        score=pl.lit(score),
    )
    more = more.with_columns(pl.lit(0, pl.UInt32).alias("#position"))
    both = pl.concat([made, more], how="diagonal_relaxed")
    found = collected(replace(source, judgments=judgments.derived(both), sample=None), prompt)
    return found, found.rows[PLACE].to_numpy().astype(np.int64)


def others_judged(source: Source, prompt: str, systems: Sequence[str]) -> bool:
    """Whether other systems were judged under a prompt on items that one of these was not judged on."""
    rows = source.judgments.frame.filter(pl.col("prompt") == prompt).select(_OUTPUT).unique()
    own = pl.col("system").is_in(list(systems))
    others = rows.filter(~own)["item"].unique()
    return any(
        len(others.filter(~others.is_in(rows.filter(pl.col("system") == one)["item"].implode())))
        for one in systems
    )
