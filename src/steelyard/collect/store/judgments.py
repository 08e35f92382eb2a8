"""The judgments of a campaign as a table, with how each of them is used."""

import json
from collections.abc import Iterator
from typing import Any

import polars as pl
from sqlalchemy import Connection, func, select

from steelyard.collect.store.progress import given_up
from steelyard.collect.store.shown import (
    Scores,
    each_score,
    is_of_screen,
    screen_order,
    share_behind,
)
from steelyard.collect.store.tables import raters, settings, submissions, targets, units
from steelyard.records import DRAW_RECORD

__all__ = ["judgment_rows", "with_use"]

# Outputs count as far in the draw as at most this share of those before is not back: ...
_MISSING = 0.05
# ... or so many: else a page or two that raters left open would hide a system until it has forty judgments.
_MISSING_PAGES = 2

# A submission that stands for the outputs of several systems is a judgment of each of them.
_SCHEMA = {
    "submission": pl.Int64,
    "unit": pl.Int64,
    "item": pl.String,
    "system": pl.String,
    "rater": pl.String,
    # What exports show of the rater.
    "number": pl.Int64,
    "prompt": pl.String,
    "score": pl.Float64,
    # Spent on it while the page was visible.
    "seconds": pl.Float64,
    # When it arrived: ISO 8601, UTC.
    "time": pl.String,
    "excluded": pl.Boolean,
    # One more than was asked for.
    "surplus": pl.Boolean,
    # Judgments wanted of the unit.
    "wanted": pl.Int64,
    # Number in the draw of the system, outputs that were set aside not counted.
    "turn": pl.Int64,
    # Of a preference: whom this system was compared with, and which was shown first.
    "other_system": pl.String,
    "first_system": pl.String,
    # On a screen with several outputs: the place of this one, from 1.
    "position": pl.Int64,
    # The document that the output is a segment of, and how many of its segments are to be judged.
    "cluster": pl.String,
    "segments": pl.Int64,
    # What the draw recorded of the output.
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
# What one row of the query says once, for all prompts.
_OF_OUTPUT = {
    **{name: _SCHEMA[name] for name in ("submission", "unit", "item", "system", "rater", "number")},
    **{name: _SCHEMA[name] for name in ("excluded", "surplus", "wanted", "cluster", *DRAW_RECORD)},
    "active_ms": pl.Int64,
    "milliseconds": pl.Int64,
}
# What a score adds to it.
_OF_SCORE = {"row": pl.UInt32} | {
    name: _SCHEMA[name] for name in ("prompt", "score", "position", "other_system", "first_system")
}

_SCORED = (
    select(
        submissions.c.id.label("submission"),
        submissions.c.unit,
        targets.c.item,
        targets.c.system,
        submissions.c.rater,
        raters.c.number,
        raters.c.excluded,
        submissions.c.slot.is_(None).label("surplus"),
        units.c.wanted,
        targets.c.cluster,
        *(targets.c[name] for name in DRAW_RECORD),
        submissions.c.active_ms,
        submissions.c.time.label("milliseconds"),
        # what only the scores need comes last
        submissions.c.lease,
        submissions.c.swapped,
        submissions.c.scores,
        targets.c.side,
    )
    .select_from(submissions)
    .join(units, units.c.id == submissions.c.unit)
    .join(targets, targets.c.unit == submissions.c.unit)
    .join(raters, raters.c.id == submissions.c.rater)
    .order_by(submissions.c.id, targets.c.side, targets.c.system)
)
_SEGMENTS = (
    select(targets.c.system, targets.c.cluster, func.count())
    .where(targets.c.cluster.is_not(None))
    .group_by(targets.c.system, targets.c.cluster)
)


def judgment_rows(connection: Connection) -> pl.DataFrame:
    """Return every judgment of a drawn output, in the order of arrival, with its ``use``; gold is left out.

    Of a pair, the first system has the score and the second 1 minus it under prompts that are
    preferences, and the same under others. Of a ranking, a system has the share of the other systems on the
    screen that stand behind it; those at the same place, and those with the same text, count half.
    Columns of documents are there only where there are any.
    """
    found = connection.execute(_SCORED).all()
    width = len(_OF_OUTPUT)
    outputs = pl.DataFrame([row[:width] for row in found], schema=_OF_OUTPUT, orient="row")
    scores = pl.DataFrame(list(_scores(connection, found)), schema=_OF_SCORE, orient="row")
    moment = pl.from_epoch("milliseconds", time_unit="ms")
    frame = (
        _with_turns(connection, outputs)
        .with_columns(
            seconds=pl.col("active_ms") / 1000,
            time=moment.dt.strftime("%Y-%m-%dT%H:%M:%S%.3f+00:00"),
        )[scores["row"]]
        .hstack(scores.drop("row"))
        .select(list(_SCHEMA))
    )
    if frame.is_empty():
        return frame.with_columns(use=pl.lit(None, dtype=pl.String))
    if frame["cluster"].null_count() == frame.height:
        frame = frame.drop("cluster", "segments")
    return with_use(frame)


def _scores(connection: Connection, found: Any) -> Iterator[tuple[Any, ...]]:
    """Yield each score of each output: the number of its row, and the columns of `_OF_SCORE`."""
    mirrored = json.loads(
        connection.execute(select(settings.c.mirrored)).scalar_one_or_none() or "[]"
    )
    sides: dict[int, list[tuple[int, str]]] = {}
    for unit, side, system in connection.execute(
        select(targets.c.unit, targets.c.side, targets.c.system)
    ):
        sides.setdefault(unit, []).append((side, system))
    for number, row in enumerate(found):
        scores: Scores = json.loads(row.scores)
        if is_of_screen(scores):
            position = screen_order(row.lease, len(scores)).index(row.side) + 1
            for side, prompt, score in each_score(scores):
                if side == row.side:
                    beside = [at for at, _ in sides[row.unit]]
                    is_rank = prompt in mirrored
                    own = share_behind(scores, prompt, score, beside) if is_rank else score
                    yield number, prompt, own, position, None, None
            continue
        for _, prompt, score in each_score(scores):
            if prompt not in mirrored:
                yield number, prompt, score, None, None, None
                continue
            systems = dict(sides[row.unit])
            other, first = systems.get(3 - row.side), systems.get(2 if row.swapped else 1)
            yield number, prompt, 1 - score if row.side == 2 else score, None, other, first


def _with_turns(connection: Connection, outputs: pl.DataFrame) -> pl.DataFrame:
    """Add the number in the draw without what was set aside, and the segments to be judged of a document."""
    passed_over = pl.DataFrame(
        given_up(connection), schema={"system": pl.String, "gone": pl.Int64}, orient="row"
    )
    draws = outputs.select("system", "draw").unique()
    before = (
        draws.join(passed_over, on="system")
        .filter(pl.col("gone") < pl.col("draw"))
        .group_by("system", "draw")
        .len("before")
    )
    segments = pl.DataFrame(
        [(*key, size) for key, size in _segments(connection).items()],
        schema={"system": pl.String, "cluster": pl.String, "segments": pl.Int64},
        orient="row",
    )
    return (
        outputs.join(before, on=["system", "draw"], how="left", maintain_order="left")
        .with_columns(turn=pl.col("draw") - pl.col("before").cast(pl.Int64).fill_null(0))
        .join(segments, on=["system", "cluster"], how="left", maintain_order="left")
    )


def _segments(connection: Connection) -> dict[tuple[str, str | None], int]:
    """Return how many segments of each document of each system are to be judged."""
    found: dict[tuple[str, str | None], int] = {
        (system, cluster): size for system, cluster, size in connection.execute(_SEGMENTS)
    }
    if found:
        drawn = connection.execute(select(targets.c.system, targets.c.draw, targets.c.cluster))
        documents = {(row.system, row.draw): row.cluster for row in drawn}
        for system, draw in given_up(connection):
            found[system, documents.get((system, draw))] -= 1
    return found


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
    """Return how far in the draw of each system all outputs are judged, but for a small share or a few pages."""
    turns = frame.select("system", "turn").unique().sort("system", "turn")
    back = pl.int_range(1, pl.len() + 1).over("system")
    missing = pl.col("turn") - back
    near = turns.filter((missing <= _MISSING_PAGES) | (missing <= _MISSING * pl.col("turn")))
    found = near.group_by("system").agg(pl.col("turn").max().alias("#reach"))
    every = frame.select(pl.col("system").unique())
    return every.join(found, on="system", how="left").with_columns(pl.col("#reach").fill_null(0))
