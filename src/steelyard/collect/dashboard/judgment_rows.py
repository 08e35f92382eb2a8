"""The judgments of a campaign as a table, with how each of them is used."""

from collections.abc import Sequence

import polars as pl

from steelyard.collect.store.records import ScoredRow

__all__ = ["judgment_rows", "with_use"]

# Outputs count as far in the draw as at most this share of those before is not back.
_MISSING = 0.05

_SCHEMA = {
    "submission": pl.Int64,
    "unit": pl.Int64,
    "item": pl.String,
    "system": pl.String,
    "rater": pl.String,
    "number": pl.Int64,
    "prompt": pl.String,
    "score": pl.Float64,
    "seconds": pl.Float64,
    "time": pl.String,
    "excluded": pl.Boolean,
    "surplus": pl.Boolean,
    "wanted": pl.Int64,
    "turn": pl.Int64,
    "other_system": pl.String,
    "first_system": pl.String,
    "position": pl.Int64,
    "cluster": pl.String,
    "segments": pl.Int64,
    "probability": pl.Float64,
    "stratum": pl.String,
    "stratum_size": pl.Int64,
    "share": pl.Float64,
    "draw": pl.Int64,
    "design": pl.String,
    "seed": pl.Int64,
    "signature": pl.String,
    "place": pl.Float64,
}


def judgment_rows(scored: Sequence[ScoredRow]) -> pl.DataFrame:
    """Return every judgment, with the column ``use`` of `with_use`; documents only where there are any.

    Parameters
    ----------
    scored : sequence of ScoredRow
        What the store has.
    """
    columns = {name: [getattr(one, name) for one in scored] for name in _SCHEMA}
    frame = pl.DataFrame(columns, schema=_SCHEMA)
    if frame.is_empty():
        return frame.with_columns(use=pl.lit(None, dtype=pl.String))
    if frame["cluster"].null_count() == frame.height:
        frame = frame.drop("cluster", "segments")
    return with_use(frame)


def with_use(frame: pl.DataFrame) -> pl.DataFrame:
    """Return rows with the column ``use``: "used", "excluded", "surplus", "ahead" or "incomplete".

    What is not back yet counts as not drawn, and nobody waits for the slowest rater. But what is quick to judge
    may score otherwise than the rest, so outputs count only as far in the draw of their system as nearly all
    before them are back; those beyond are "ahead". A document is used when all its segments are judged: segments
    that come first differ from those that follow, so that a part of a document is no sample of it.
    """
    use = (
        pl.when("excluded")
        .then(pl.lit("excluded"))
        .when("surplus")
        .then(pl.lit("surplus"))
        .when(pl.col("turn") > pl.col("#reach"))
        .then(pl.lit("ahead"))
        .otherwise(pl.lit("used"))
    )
    reach = frame.select("system").join(
        _reach(frame), on="system", how="left", maintain_order="left"
    )
    rows = frame.with_columns(reach["#reach"]).with_columns(use=use).drop("#reach")
    if "cluster" not in rows.columns:
        return rows
    is_used = pl.col("use") == "used"
    used = pl.col("item").filter(is_used).n_unique().over("system", "cluster")
    is_part = pl.col("cluster").is_not_null() & is_used & (used < pl.col("segments"))
    waiting = pl.when(is_part).then(pl.lit("incomplete")).otherwise(pl.col("use"))
    return rows.with_columns(waiting.alias("use"))


def _reach(frame: pl.DataFrame) -> pl.DataFrame:
    """Return how far in the draw of each system all outputs are judged, but for a small share."""
    turns = frame.select("system", "turn").unique().sort("system", "turn")
    back = pl.int_range(1, pl.len() + 1).over("system")
    near = turns.filter(pl.col("turn") - back <= _MISSING * pl.col("turn"))
    found = near.group_by("system").agg(pl.col("turn").max().alias("#reach"))
    every = frame.select(pl.col("system").unique())
    return every.join(found, on="system", how="left").with_columns(pl.col("#reach").fill_null(0))
