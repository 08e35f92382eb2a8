"""Judgments of a text count for every system that wrote it.

Where several systems wrote the same text for an item, and each of them has it in its sample, all its
judgments count for each: no draw is touched, only rater noise falls. Where a system lacks a judgment of its
own, another's may fill in if texts were drawn once each, for all systems that wrote them. If each
system was drawn on its own it may not: a text of k systems, drawn with probability f for each, would come in
with probability 1 - (1 - f)^k, and shared texts would count too much. Derived in docs/methods/shared.md.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from steelyard.records import ALSO_BY, UNKNOWN_RATER
from steelyard.sampling.texts_once import for_all_writers
from steelyard.tables import Judgments, Outputs

if TYPE_CHECKING:
    from steelyard.study.study import Study

__all__ = ["TEXT", "counted_for_all", "distinct_judgments", "with_sample"]

# The number of a text that several judged systems wrote, null for any other; no file has such a name.
TEXT = "#text"
_SOURCE = "#source"
_OUTPUT = ["item", "system"]

# Draws of each system on its own leave more of the items without a judgment of one of their texts,
# unless they take nearly the whole pool, where most shared texts are judged for several systems.
_COMPLETE, _AGAIN = 0.9, 0.1
# Fewer items with different texts do not show how they were drawn.
_FEW_ITEMS = 5


def counted_for_all(
    outputs: Outputs, judgments: Judgments, sample: pl.DataFrame | None = None
) -> tuple[Judgments, tuple[str, ...]]:
    """Return judgments with a row for every system that each counts for, and what is to be said.

    Parameters
    ----------
    outputs : Outputs
        The pool of every system, which shows who wrote the same text.
    judgments : Judgments
        The judgments. If they carry the column ``also_by`` of a sample, texts were drawn once each;
        otherwise the judgments themselves must show it.
    sample : polars.DataFrame, optional
        The sample that has this column, when the judgments do not carry it.

    Returns
    -------
    Judgments, tuple of str
        The column ``#text`` numbers texts that several systems have judgments of.
    """
    asked = judgments.preference_prompts
    rows = judgments.frame.drop(TEXT, strict=False).with_row_index("#position")
    if sample is not None and ALSO_BY in sample.columns:
        drawn = sample.select(*_OUTPUT, ALSO_BY)
        rows = rows.drop(ALSO_BY, strict=False).join(
            drawn, on=_OUTPUT, how="left", maintain_order="left"
        )
    scored = rows.filter(~pl.col("prompt").is_in(list(asked)))
    if scored.is_empty():
        return judgments, ()
    recorded = ALSO_BY in rows.columns and scored[ALSO_BY].null_count() < scored.height
    written = _recorded_writers(scored, outputs) if recorded else _writers(scored, outputs)
    if written is None:
        return judgments, ()
    parts, notes = [], []
    for (prompt,), own in scored.partition_by("prompt", as_dict=True, maintain_order=True).items():
        # Without a record only systems that were judged under the prompt are known to be in its sample.
        asked_about = written if recorded else written.join(own, on="system", how="semi")
        sharing = _Sharing.of(own, asked_about)
        fills = recorded or sharing.once
        parts.append(sharing.rows(fills=fills))
        notes += sharing.notes(str(prompt), filled=fills)
    preferred = rows.filter(pl.col("prompt").is_in(list(asked)))
    found = _in_order(pl.concat([*parts, preferred], how="diagonal"), rows)
    several = pl.col("system").n_unique().over(TEXT) > 1
    found = found.with_columns(pl.when(several).then(TEXT).alias(TEXT))
    if found[TEXT].null_count() == found.height:
        return judgments, tuple(notes)
    return judgments.derived(found), tuple(notes)


def _in_order(found: pl.DataFrame, given: pl.DataFrame) -> pl.DataFrame:
    """Put copies after what they are copies of, but no system before its own first judgment.

    So systems come in the order in which they were given.
    """
    first = given.group_by("system").agg(pl.col("#position").min().alias("#first"))
    own = found["system"] == given["system"].gather(found["#position"])
    keyed = found.with_columns(own.alias("#own")).join(
        first, on="system", how="left", maintain_order="left"
    )
    later = pl.max_horizontal("#position", pl.col("#first").fill_null(0))
    return keyed.sort(later, ~pl.col("#own"), maintain_order=True).drop("#own", "#first")


def with_sample(study: "Study", sample: pl.DataFrame | None) -> tuple["Study", pl.DataFrame | None]:
    """Return a study whose judgments count as a sample recorded it, and the sample with all outputs."""
    if sample is None or ALSO_BY not in sample.columns:
        return study, sample
    counted, _ = counted_for_all(study.outputs, study.judgments, sample)
    return replace(study, judgments=counted), for_all_writers(sample)


def distinct_judgments(rows: pl.DataFrame) -> pl.DataFrame:
    """Return judgments with each once that counts for several systems.

    Judgments of one text, by one rater under one prompt, with the same score for two systems are one.
    """
    if TEXT not in rows.columns:
        return rows
    number = pl.int_range(pl.len()).over("prompt", *_OUTPUT, "rater", "score")
    one = pl.struct("prompt", TEXT, "rater", "score", number)
    return rows.filter(pl.col(TEXT).is_null() | one.is_first_distinct())


def _recorded_writers(rows: pl.DataFrame, outputs: Outputs) -> pl.DataFrame:
    """Return who wrote which text, as the sample recorded it."""
    drawn = rows.unique(_OUTPUT, keep="first", maintain_order=True).select(*_OUTPUT, ALSO_BY)
    number = drawn.filter(pl.col(ALSO_BY).is_not_null()).with_row_index(TEXT)
    found = for_all_writers(number).filter(pl.col("system").is_in(list(outputs.systems)))
    return found.unique(_OUTPUT, keep="first", maintain_order=True).select(*_OUTPUT, TEXT)


def _writers(rows: pl.DataFrame, outputs: Outputs) -> pl.DataFrame | None:
    """Return who of the judged systems wrote which text of the judged items; None if none is shared."""
    systems = rows["system"].unique()
    if not outputs.has_texts or len(systems) < 2:
        return None
    texts = outputs.texts_of(rows["item"]).join(systems.to_frame(), on="system", how="semi")
    number = pl.struct("item", "output").rank("dense").alias(TEXT)
    found = texts.select(*_OUTPUT, number)
    return found if found[TEXT].is_duplicated().any() else None


@dataclass(frozen=True, eq=False)
class _Sharing:
    """The judgments of one prompt with the number of their text, and who wrote each text."""

    own: pl.DataFrame
    written: pl.DataFrame

    @classmethod
    def of(cls, own: pl.DataFrame, written: pl.DataFrame) -> "_Sharing":
        return cls(own.join(written, on=_OUTPUT, how="left", maintain_order="left"), written)

    @cached_property
    def _texts(self) -> pl.DataFrame:
        """Each text of the judged items: how many systems wrote it, and how many have it judged."""
        judged = self.own.select(_OUTPUT).unique().with_columns(judged=pl.lit(1))
        return (
            self.written.join(self.own, on="item", how="semi")
            .join(judged, on=_OUTPUT, how="left")
            .group_by("item", TEXT)
            .agg(writers=pl.len(), judged=pl.col("judged").sum())
        )

    @cached_property
    def _items(self) -> tuple[int, int]:
        """Items with different texts, and how many of them lack a judgment of one."""
        found = self._texts.group_by("item").agg(n=pl.len(), lacks=(pl.col("judged") == 0).any())
        different = found.filter(pl.col("n") > 1)
        return different.height, int(different["lacks"].sum())

    @property
    def once(self) -> bool:
        """Whether the judgments show that texts were drawn once each, on the same items for all."""
        different, lacking = self._items
        enough = different >= _FEW_ITEMS and lacking <= (1 - _COMPLETE) * different
        return enough and not self._again

    @property
    def _again(self) -> bool:
        """Whether many shared texts were judged for more than one of their systems."""
        shared = self._texts.filter((pl.col("writers") > 1) & (pl.col("judged") > 0))
        return int((shared["judged"] > 1).sum()) > _AGAIN * shared.height

    def rows(self, *, fills: bool) -> pl.DataFrame:
        """Return the judgments, and copies of them for the other systems that they count for.

        Parameters
        ----------
        fills : bool
            Whether a judgment also counts for systems that have none of their own of the text.
        """
        known = self.own.filter(pl.col(TEXT).is_not_null())
        known = known.rename({"system": _SOURCE})
        others = self.written.select("system", TEXT)
        copies = known.join(others, on=TEXT, how="inner", maintain_order="left")
        copies = copies.filter(pl.col("system") != pl.col(_SOURCE))
        has_own = self.own.select(_OUTPUT).unique()
        fresh = copies.join(has_own, on=_OUTPUT, how="anti", maintain_order="left")
        # Of unknown raters nothing shows whether two judgments are one, so those of one system count.
        named = pl.col("rater") != UNKNOWN_RATER
        first = pl.col(_SOURCE) == pl.col(_SOURCE).first().over(_OUTPUT)
        fresh = fresh.filter(named | first)
        key = [*_OUTPUT, "rater"]
        pooled = copies.filter(named).join(has_own, on=_OUTPUT, how="semi", maintain_order="left")
        pooled = pooled.join(self.own, on=key, how="anti", maintain_order="left")
        chosen = pl.concat([fresh, pooled]) if fills else pooled
        again = pl.int_range(pl.len()).over([*key, _SOURCE])
        chosen = chosen.with_columns(again.alias("#again"))
        chosen = chosen.unique([*key, "#again"], keep="first", maintain_order=True)
        return pl.concat([self.own, chosen.select(self.own.columns)])

    def notes(self, prompt: str, *, filled: bool) -> list[str]:
        """Say which texts count for several systems, or why they do not."""
        partly = (pl.col("judged") > 0) & (pl.col("judged") < pl.col("writers"))
        n = self._texts.filter(partly).height
        if not n or (self._again and not filled):
            return []
        if not filled:
            only = (
                "were judged for some of them, and count for these only, as nothing shows that each"
            )
            way_out = f"drawn once for all: if it was, keep the column {ALSO_BY} of the sample"
            return [
                f"prompt {prompt}: {n} texts that several systems wrote {only} was {way_out} with the judgments"
            ]
        different, lacking = self._items
        gaps = f"; {lacking} of {different} items lack a judgment of one of their texts"
        once = "were judged once: each judgment counts for every system that wrote the text"
        return [
            f"prompt {prompt}: {n} texts that several systems wrote {once}{gaps if lacking else ''}"
        ]
