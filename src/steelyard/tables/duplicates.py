"""Judgments that repeat another of the same rater: refused, or settled as the user says, with a count."""

from typing import Literal, get_args

import polars as pl

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.records import UNKNOWN_RATER, VERSION, Judgment
from steelyard.tables.tables import ROW, Table

__all__ = ["OnDuplicate", "check_on_duplicate", "settled", "way_to_settle"]

OnDuplicate = Literal["error", "first", "last", "mean", "all"]

_WORDS = {
    "first": "the first of each is kept, {n:,} are left out",
    "last": "the last of each is kept, {n:,} are left out",
    "mean": "each counts with the mean of its scores, {n:,} rows less",
    "all": "all are kept, and raters count as unknown, because one name stands for several people",
}


def check_on_duplicate(how: str) -> None:
    """Raise unless `how` is one of those there are."""
    if how not in get_args(OnDuplicate):
        raise InvalidArgumentError(
            f"`on_duplicate` must be one of {', '.join(get_args(OnDuplicate))}; got {how!r}"
        )


def duplicate_key(rows: pl.DataFrame) -> list[str]:
    """Return the columns that no two judgments share.

    A rater may prefer one output to several others, and judge it again in a later version.
    """
    return [*Judgment.key, *(name for name in ("other_system", VERSION) if name in rows.columns)]


def settled(table: Table, rows: pl.DataFrame, how: OnDuplicate) -> tuple[pl.DataFrame, list[str]]:
    """Return judgments without repeats, and a note with their number.

    Raises
    ------
    InvalidDataError
        If there are some, and `how` is ``error``.
    """
    if (rows["rater"] == UNKNOWN_RATER).all():
        return rows, _copies(table, rows)
    key = duplicate_key(rows)
    repeated = rows.filter(~pl.struct(key).is_first_distinct())
    if repeated.is_empty():
        return rows, []
    if how == "error":
        raise _refusal(table, rows, repeated, key)
    if how == "all":
        kept = rows.with_columns(rater=pl.lit(UNKNOWN_RATER))
    elif how == "mean":
        score = pl.col("score").mean().over(key)
        kept = rows.with_columns(score).unique(subset=key, keep="first", maintain_order=True)
    else:
        kept = rows.unique(subset=key, keep=how, maintain_order=True)
    words = _WORDS[how].format(n=rows.height - kept.height)
    note = (
        f"{table.name}: {repeated.height:,} of {rows.height:,} judgments repeat another of the same "
        f"rater: {words}"
    )
    return kept, [note]


def _copies(table: Table, rows: pl.DataFrame) -> list[str]:
    """Return a note on rows that are the same as another, where raters are unknown."""
    copies = rows.filter(~pl.struct(pl.exclude(ROW)).is_first_distinct())[ROW]
    if copies.is_empty():
        return []
    note = (
        f"{table.name}: {len(copies):,} of {rows.height:,} judgments are the same as an earlier row in every "
        f"column (first: {table.where(copies[0])[0]}): raters are unknown, so each counts as another person's; "
        "leave them out if they are copies"
    )
    return [note]


def way_to_settle(rows: pl.DataFrame) -> tuple[str, str]:
    """Return what to do about repeats in words, and the choice of ``--on-duplicate`` that does it.

    Parameters
    ----------
    rows : polars.DataFrame
        All judgments; rater and score at least.
    """
    known = rows["rater"].drop_nulls().unique()
    if len(known) == 1:
        words = (
            f"if the rater {known[0]!r} stands for several people, keep all with --on-duplicate all, which "
            "leaves the raters unknown; else take their mean with --on-duplicate mean"
        )
        return words, "all"
    key = [name for name in duplicate_key(rows) if name in rows.columns]
    same = rows.select(pl.struct([*key, "score"]).n_unique() == pl.struct(key).n_unique()).item()
    if same:
        return "they have the same scores: keep one of each with --on-duplicate first", "first"
    words = (
        "take their mean with --on-duplicate mean, keep one with first or last, or keep all with all, "
        "where one name stands for several people"
    )
    return words, "mean"


def _refusal(
    table: Table, rows: pl.DataFrame, repeated: pl.DataFrame, names: list[str]
) -> InvalidDataError:
    more = f" ({repeated.height:,} judgments repeat another)" if repeated.height > 1 else ""
    key = {column: repeated[column][0] for column in names}
    both = rows.filter(*(pl.col(column).eq_missing(value) for column, value in key.items()))[ROW]
    first, second = table.where(*both[:2])
    words, option = way_to_settle(rows)
    return InvalidDataError(
        f"{table.name}, {second}: rater {key['rater']!r} judged item {key['item']!r} of system "
        f"{key['system']!r} under prompt {key['prompt']!r} already on {first}{more}: {words}: "
        f"{table.conversion('--on-duplicate', option)}",
        options=("--on-duplicate", option),
    )
