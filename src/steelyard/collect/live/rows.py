"""The judgments of a campaign as a table, with how each of them is used."""

from collections.abc import Sequence

import polars as pl

from steelyard.collect.store.records import ScoredRow

__all__ = ["judgment_rows", "with_use"]

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
    """Return rows with the column ``use``: "used", "excluded", "surplus" or "incomplete".

    What is not back yet counts as not drawn. A document is used when all its segments are judged: segments
    that come first differ from those that follow, so that a part of a document is no sample of it.
    """
    use = (
        pl.when("excluded")
        .then(pl.lit("excluded"))
        .when("surplus")
        .then(pl.lit("surplus"))
        .otherwise(pl.lit("used"))
    )
    rows = frame.with_columns(use=use)
    if "cluster" not in rows.columns:
        return rows
    is_used = pl.col("use") == "used"
    used = pl.col("item").filter(is_used).n_unique().over("system", "cluster")
    is_part = pl.col("cluster").is_not_null() & is_used & (used < pl.col("segments"))
    waiting = pl.when(is_part).then(pl.lit("incomplete")).otherwise(pl.col("use"))
    return rows.with_columns(waiting.alias("use"))
