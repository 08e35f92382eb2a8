"""Documents: drawn whole, and put before one rater segment by segment, with what came before."""

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.config.parts import Documents, Sample
from steelyard.collect.sampling.contents import Content, Contents
from steelyard.collect.sampling.unit import Target, Unit
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.records import DOCUMENTS
from steelyard.sampling.sample import sample
from steelyard.tables import read_outputs

__all__ = ["EARLIER", "SEGMENT", "document_units"]

# Fields of a content that the server adds: no column can have such a name in a task.
EARLIER, SEGMENT = "_earlier", "_segment"
_SHOWN_BEFORE = 10


def document_units(
    campaign: Campaign, contents: Contents, *, before: Sequence[Target] = (), more: int = 0
) -> list[Unit]:
    """Draw documents and return their segments, in the order of the queue.

    A document that several systems wrote alike, in all its segments, is one document. Single
    segments that are alike are not merged: what came before them differs.

    Parameters
    ----------
    campaign, contents
        What to draw from.
    before : sequence of Target
        A draw to extend: its documents come first, in the same order.
    more : int
        Documents of each system to add to it.

    Raises
    ------
    InvalidDataError
        If a segment names no document, or systems have other segments of a document.
    InvalidArgumentError
        If so many documents are not left.
    """
    assert campaign.documents is not None
    segments = _segments(contents, campaign.documents)
    drawn = _drawn(campaign, segments, _extended(before, segments, more) if before else None)
    found: dict[str, list[Unit]] = {}
    parts = drawn.partition_by("system", "cluster", maintain_order=True)
    for part in parts:
        targets = [Target(**row) for row in part.drop("place").iter_rows(named=True)]
        texts = [contents.single(target.item, target.system) for target in targets]
        units = list(_units(campaign, targets, texts))
        key = str(units[0].document)
        if key in found:
            units = [
                before.standing_for(*unit.targets)
                for before, unit in zip(found[key], units, strict=True)
            ]
        found[key] = units
    seed = drawn["seed"][0]

    def place(key: str) -> tuple[int, bytes]:
        first = min(target.draw for target in found[key][0].targets)
        # documents of several systems at the same place of the draw: in random order
        return first, hashlib.sha256(f"{seed} {key}".encode()).digest()

    return [unit for key in sorted(found, key=place) for unit in found[key]]


def _units(
    campaign: Campaign, targets: Sequence[Target], texts: Sequence[Content]
) -> Iterator[Unit]:
    """Yield the segments of one document of one system, each with those before it."""
    whole = json.dumps([targets[0].cluster, texts], sort_keys=True, ensure_ascii=True)
    key = f"{targets[0].cluster} {hashlib.sha256(whole.encode()).hexdigest()[:16]}"
    shown = [one.field for one in campaign.task.show]
    for number, (target, text) in enumerate(zip(targets, texts, strict=True), start=1):
        before = texts[max(0, number - 1 - _SHOWN_BEFORE) : number - 1]
        yield Unit(
            item=target.item,
            content={
                **text,
                EARLIER: [{field: one[field] for field in shown} for one in before],
                SEGMENT: [number, len(targets)],
            },
            wanted=campaign.judgments_per_output,
            targets=(target,),
            document=key,
            place=number,
        )


def _segments(contents: Contents, asked: Documents) -> pl.DataFrame:
    """Return the segments of all documents: item, system, cluster and place, in order."""
    frame = contents.document_rows(asked.column, asked.order)
    for name, key in (("cluster", asked.column), ("place", asked.order)):
        empty = frame.filter(pl.col(name).is_null())
        if empty.height:
            raise InvalidDataError(
                f"{contents.outputs.name}, column {key}: item {empty['item'][0]!r} of system "
                f"{empty['system'][0]!r} has none"
                + ("" if name == "cluster" else ": expected a number in every row")
            )
    named = frame.group_by("item", maintain_order=True).agg(pl.col("cluster").unique())
    several = named.filter(pl.col("cluster").list.len() > 1)
    if several.height:
        item, (one, other, *_) = several.row(0)
        raise InvalidDataError(
            f"{contents.outputs.name}, column {asked.column}: item {item!r} is in document {one!r} for "
            f"one system and in {other!r} for another: an item is a segment of one document"
        )
    return frame.sort("system", "cluster", "place", maintain_order=True)


@dataclass(frozen=True)
class _Extended:
    """How many documents of each system a larger draw has, the smaller one, and the seed of what is added."""

    n: int
    extend: pl.DataFrame
    seed: int


def _extended(before: Sequence[Target], segments: pl.DataFrame, more: int) -> _Extended:
    """Return what makes the larger draw of documents; the smaller one is known by its segments."""
    documents: dict[str, dict[str | None, Target]] = {}
    for target in sorted(before, key=lambda one: one.draw):
        documents.setdefault(target.system, {}).setdefault(target.cluster, target)
    size = len(next(iter(documents.values())))
    first = before[0]
    pool = segments.filter(pl.col("system") == first.system)["cluster"].n_unique()
    if more > pool - size:
        raise InvalidArgumentError(
            f"`more` must not exceed the {pool - size} documents that the draw has left; got {more}"
        )
    rows = [
        {
            **{name: getattr(target, name) for name in ("system", "probability", "share", "seed")},
            "item": cluster,
            "stratum": None,
            "stratum_size": pool,
            "draw": number,
            "design": "simple",
            "signature": target.signature,
        }
        for drawn in documents.values()
        for number, (cluster, target) in enumerate(drawn.items(), start=1)
    ]
    frame = pl.DataFrame(rows, schema_overrides={"stratum": pl.String}, infer_schema_length=None)
    # The numbers that drew the first part must not draw the second too.
    return _Extended(size + more, frame, zlib.crc32(f"{first.seed} {size}".encode()))


def _drawn(
    campaign: Campaign, segments: pl.DataFrame, larger: _Extended | None = None
) -> pl.DataFrame:
    """Return the segments of a simple draw of documents, in the order of the draw."""
    asked = campaign.sample
    assert isinstance(asked, Sample)
    chosen = segments
    if asked.systems is not None:
        chosen = segments.filter(pl.col("system").is_in(asked.systems))
    if asked.same_items:
        _check_same_segments(campaign, chosen)
    pool = segments.select(
        pl.col("cluster").alias("item"), "system", pl.lit("").alias("output")
    ).unique(maintain_order=True)
    try:
        found = sample(
            read_outputs(pool),
            asked.n if larger is None else larger.n,
            extend=None if larger is None else larger.extend,
            systems=asked.systems,
            same_items=asked.same_items,
            each_text_once=False,
            seed=asked.seed if larger is None else larger.seed,
        ).frame
    except InvalidArgumentError as error:
        raise campaign.error(("sample",), f"{error} (documents are drawn)") from error
    sizes = segments.group_by("system").agg(pl.len().cast(pl.Int64).alias("stratum_size"))
    order = found.select(
        pl.col("item").alias("cluster"),
        *("system", "probability", "stratum", "share", "seed", "signature"),
        pl.col("draw").alias("document"),
    )
    return (
        segments.join(order, on=["cluster", "system"], how="inner", maintain_order="left")
        .join(sizes, on="system", how="left", maintain_order="left")
        .sort("document", "system", "place", maintain_order=True)
        .with_columns(
            pl.int_range(1, pl.len() + 1).over("system").alias("draw"),
            pl.lit(DOCUMENTS).alias("design"),
        )
        .drop("document")
    )


def _check_same_segments(campaign: Campaign, segments: pl.DataFrame) -> None:
    systems: Mapping[str, set[Any]] = {
        str(name): set(part["item"]) for (name,), part in segments.group_by(["system"])
    }
    everything = set().union(*systems.values())
    for name, items in sorted(systems.items()):
        lacking = sorted(everything - items)
        if lacking:
            raise InvalidDataError(
                f"{campaign.outputs.name}: system {name!r} lacks item {lacking[0]!r}, which another has: all "
                "systems need the same segments, or set same_items to false"
            )
