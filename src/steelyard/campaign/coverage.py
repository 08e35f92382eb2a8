"""Whether systems were judged on the same items and by the same raters, in numbers."""

import polars as pl

from steelyard.records import UNKNOWN_RATER
from steelyard.tables import Judgments

__all__ = ["coverage_notes", "rater_notes"]

# Shares of one rater that are further apart than this, in cells of so many judgments.
_APART, _ENOUGH = 0.25, 20
# Below this share of items that all systems were judged on, systems count as judged on other items.
_COMMON = 0.5


def coverage_notes(judgments: Judgments) -> dict[str, tuple[str, ...]]:
    """Return what is to be said, by prompt, where systems were judged on other items or by other raters.

    Differences of systems rest then on the model, which learns how hard items are and how lenient
    raters are, and not on the same items and raters.

    Parameters
    ----------
    judgments : Judgments
        The judgments; preferences are not looked at.

    Examples
    --------
    >>> from steelyard.tables import read_judgments
    >>> rows = [{"item": i, "system": "ab"[i % 2], "score": i} for i in range(40)]
    >>> coverage_notes(read_judgments(rows))["overall"]
    ('systems were judged on other items: of 40 judged items, 0 for all 2 systems (a 20, b 20)',)
    """
    found = rater_notes(judgments)
    for prompt, rows in _scored(judgments).items():
        if notes := _items(rows):
            found[prompt] = (*notes, *found.get(prompt, ()))
    return found


def rater_notes(judgments: Judgments) -> dict[str, tuple[str, ...]]:
    """Return the part of `coverage_notes` on raters."""
    notes = {prompt: _raters(rows) for prompt, rows in _scored(judgments).items()}
    return {prompt: own for prompt, own in notes.items() if own}


def _scored(judgments: Judgments) -> dict[str, pl.DataFrame]:
    """Return item, system and rater of the judgments under each prompt that asks for scores."""
    asked = [one for one in judgments.prompts if one not in judgments.preference_prompts]
    rows = judgments.frame.select("prompt", "item", "system", "rater")
    return {one: rows.filter(pl.col("prompt") == one) for one in asked}


def _items(rows: pl.DataFrame) -> tuple[str, ...]:
    once = rows.select("item", "system").unique(maintain_order=True)
    sizes = once.group_by("system", maintain_order=True).len()
    by_item = once.group_by("item").len()
    common = by_item.filter(pl.col("len") == sizes.height).height
    smallest = int(sizes["len"].min() or 0)  # type: ignore[arg-type]
    if sizes.height < 2 or smallest < _ENOUGH or common >= _COMMON * smallest:
        return ()
    counts = ", ".join(f"{system} {n:,}" for system, n in sizes.head(8).iter_rows())
    more = ", ..." if sizes.height > 8 else ""
    note = (
        f"systems were judged on other items: of {by_item.height:,} judged items, {common:,} for all "
        f"{sizes.height} systems ({counts}{more})"
    )
    return (note,)


def _raters(rows: pl.DataFrame) -> tuple[str, ...]:
    known = rows.filter(pl.col("rater") != UNKNOWN_RATER)
    sizes = known.group_by("system").len(name="size").filter(pl.col("size") >= _ENOUGH)
    if sizes.height < 2:
        return ()
    names = known.select("rater").unique(maintain_order=True).join(sizes, how="cross")
    shares = (
        names.join(known.group_by("system", "rater").len(), on=["system", "rater"], how="left")
        .with_columns(share=pl.col("len").fill_null(0) / pl.col("size"))
        .sort("rater", "share", "system")
    )
    ends = shares.group_by("rater", maintain_order=True).agg(
        low=pl.col("share").first(),
        least=pl.col("system").first(),
        high=pl.col("share").last(),
        most=pl.col("system").last(),
    )
    worst = ends.filter(pl.col("high") - pl.col("low") > _APART)
    if worst.is_empty():
        return ()
    row = worst.sort(pl.col("low") - pl.col("high"), "rater").row(0, named=True)
    more = f", and so for {worst.height - 1} more raters" if worst.height > 1 else ""
    note = (
        f"systems were judged by other raters: {row['rater']} gave {row['high']:.0%} of the judgments of "
        f"{row['most']} and {row['low']:.0%} of those of {row['least']}{more}; where raters differ, so does this"
    )
    return (note,)
