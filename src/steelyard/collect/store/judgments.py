"""The judgments of a campaign as a table, with how each of them is used."""

import json
from bisect import bisect_left
from typing import Any

import polars as pl
from sqlalchemy import Connection, func, select

from steelyard.collect.store.progress import given_up
from steelyard.collect.store.records import iso_time
from steelyard.collect.store.shown import each_score, is_of_screen, screen_order, share_behind
from steelyard.collect.store.tables import raters, settings, submissions, targets, units
from steelyard.records import DRAW_RECORD

__all__ = ["judgment_rows", "with_use"]

# Outputs count as far in the draw as at most this share of those before is not back.
_MISSING = 0.05

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

_MIRRORED = select(settings.c.mirrored)
_SCORED = (
    select(
        submissions.c.id.label("submission"),
        submissions.c.lease,
        submissions.c.unit,
        targets.c.item,
        targets.c.system,
        targets.c.side,
        submissions.c.rater,
        raters.c.number,
        submissions.c.scores,
        submissions.c.active_ms,
        submissions.c.time,
        raters.c.excluded,
        submissions.c.slot,
        submissions.c.swapped,
        units.c.wanted,
        targets.c.cluster,
        *(targets.c[name] for name in DRAW_RECORD),
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
_DOCUMENTS = select(targets.c.system, targets.c.draw, targets.c.cluster)
_SIDES = select(targets.c.unit, targets.c.side, targets.c.system)


def judgment_rows(connection: Connection) -> pl.DataFrame:
    """Return every judgment of a drawn output, in the order of arrival, with its ``use``; gold is left out.

    Of a pair, the first system has the score and the second 1 minus it under prompts that are
    preferences, and the same under others. Of a ranking, a system has the share of the other systems on the
    screen that stand behind it; those at the same place, and those with the same text, count half.
    Columns of documents are there only where there are any.
    """
    mirrored = frozenset(json.loads(connection.execute(_MIRRORED).scalar_one_or_none() or "[]"))
    sides: dict[tuple[int, int], str] = {}
    written: dict[int, list[int]] = {}
    for unit, side, system in connection.execute(_SIDES):
        sides[unit, side] = system
        written.setdefault(unit, []).append(side)
    passed_over: dict[str, list[int]] = {}
    for system, draw in sorted(given_up(connection)):
        passed_over.setdefault(system, []).append(draw)
    segments = _segments(connection)
    rows: list[dict[str, Any]] = []
    found = connection.execute(_SCORED)
    as_they_are = [name for name in found.keys() if name in _SCHEMA and name != "time"]  # noqa: SIM118
    for row in found.mappings():
        before = bisect_left(passed_over.get(row["system"], ()), row["draw"])
        known = {name: row[name] for name in as_they_are}
        known |= {
            "seconds": row["active_ms"] / 1000,
            "time": iso_time(row["time"]),
            "surplus": row["slot"] is None,
            "turn": row["draw"] - before,
            "segments": segments.get((row["system"], row["cluster"])),
        }
        scores = json.loads(row["scores"])
        order = screen_order(row["lease"], len(scores)) if is_of_screen(scores) else ()
        for number, prompt, score in each_score(scores):
            if order and number != row["side"]:
                continue
            own = score
            pair: dict[str, Any] = {"position": order.index(row["side"]) + 1 if order else None}
            if prompt in mirrored and order:
                own = share_behind(scores, prompt, score, written[row["unit"]])
            elif prompt in mirrored:
                own = 1 - score if row["side"] == 2 else score
                pair["other_system"] = sides.get((row["unit"], 3 - row["side"]))
                pair["first_system"] = sides.get((row["unit"], 2 if row["swapped"] else 1))
            rows.append(known | pair | {"prompt": prompt, "score": own})
    frame = pl.DataFrame(rows, schema=_SCHEMA)
    if frame.is_empty():
        return frame.with_columns(use=pl.lit(None, dtype=pl.String))
    if frame["cluster"].null_count() == frame.height:
        frame = frame.drop("cluster", "segments")
    return with_use(frame)


def _segments(connection: Connection) -> dict[tuple[str, str | None], int]:
    """Return how many segments of each document of each system are to be judged."""
    found: dict[tuple[str, str | None], int] = {
        (system, cluster): size for system, cluster, size in connection.execute(_SEGMENTS)
    }
    if found:
        documents = {(row.system, row.draw): row.cluster for row in connection.execute(_DOCUMENTS)}
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
    """Return how far in the draw of each system all outputs are judged, but for a small share."""
    turns = frame.select("system", "turn").unique().sort("system", "turn")
    back = pl.int_range(1, pl.len() + 1).over("system")
    near = turns.filter(pl.col("turn") - back <= _MISSING * pl.col("turn"))
    found = near.group_by("system").agg(pl.col("turn").max().alias("#reach"))
    every = frame.select(pl.col("system").unique())
    return every.join(found, on="system", how="left").with_columns(pl.col("#reach").fill_null(0))
