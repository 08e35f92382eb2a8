"""Preferences as files have them, checked, one row for each judgment of a pair."""

from collections.abc import Sequence

import polars as pl

from steelyard.errors import InvalidDataError, NotEstimableError
from steelyard.tables import Judgments

__all__ = ["preference_rows"]

_POSITION = "__position__"
_PAIR = ["item", "a", "b", "rater"]


def preference_rows(judgments: Judgments, prompt: str, systems: Sequence[str]) -> pl.DataFrame:
    """Return the preferences under one prompt.

    Parameters
    ----------
    judgments : Judgments
        Rows of item, system, other_system, rater and score: 1 if the system was preferred, 0 if the other
        was, 0.5 for a tie; first_system may say which was shown first. A judgment may be there twice,
        once for either system, as the server exports it.
    prompt : str
        The prompt.
    systems : sequence of str
        Systems in the order that decides which of two is a.

    Returns
    -------
    polars.DataFrame
        Columns item, a, b, rater, net (1 if a was preferred, -1 if b was, 0 for a tie) and first (1 if a
        was shown first, -1 if b was, 0 if it is not known).

    Raises
    ------
    InvalidDataError
        If a row is no preference, or two rows of one judgment contradict each other.
    NotEstimableError
        If items were drawn by strata or with unequal probabilities.
    """
    rows = judgments.frame.with_row_index(_POSITION).filter(pl.col("prompt") == prompt)
    if "first_system" not in rows.columns:
        rows = rows.with_columns(first_system=pl.lit(None, dtype=pl.String))
    _check(judgments, rows, prompt)
    order = {system: number for number, system in enumerate(systems)}
    number = pl.col("system").replace_strict(order, return_dtype=pl.Int64)
    other = pl.col("other_system").replace_strict(order, return_dtype=pl.Int64)
    ahead = number < other
    sign = pl.when(ahead).then(1).otherwise(-1)
    rows = rows.with_columns(
        a=pl.when(ahead).then("system").otherwise("other_system"),
        b=pl.when(ahead).then("other_system").otherwise("system"),
        net=sign * (2 * pl.col("score") - 1),
    ).with_columns(
        first=pl.when(pl.col("first_system").is_null())
        .then(0)
        .when(pl.col("first_system") == pl.col("a"))
        .then(1)
        .otherwise(-1)
    )
    _check_draw(rows)
    return _without_mirrors(judgments, rows).select("item", "a", "b", "rater", "net", "first")


def _check(judgments: Judgments, rows: pl.DataFrame, prompt: str) -> None:
    """Raise for the first row that is no preference."""
    system, other, first = pl.col("system"), pl.col("other_system"), pl.col("first_system")
    for broken, column, expected in (
        (
            other.is_null(),
            "other_system",
            f"the system that this one was compared with, as in other rows of prompt {prompt!r}",
        ),
        (system == other, "other_system", "another system than in column system"),
        (
            ~pl.col("score").is_in([0.0, 0.5, 1.0]),
            "score",
            "1 if the system was preferred, 0 if the other was, 0.5 for a tie",
        ),
        (
            first.is_not_null() & (first != system) & (first != other),
            "first_system",
            "one of the two systems, or nothing where it is not known",
        ),
    ):
        found = rows.filter(broken)
        if found.height:
            got = found[column][0]
            more = f" ({found.height} such rows)" if found.height > 1 else ""
            raise InvalidDataError(
                f"{judgments.place(found[_POSITION][0])}, column {column}: expected {expected}; got "
                f"{'nothing' if got is None else repr(got)}{more}"
            )


def _check_draw(rows: pl.DataFrame) -> None:
    if "probability" not in rows.columns:
        return
    spread = rows.group_by("a", "b").agg(
        wide=pl.col("probability").max() - pl.col("probability").min() > 1e-9
    )
    if spread["wide"].any():
        raise NotEstimableError(
            "items were drawn by strata or with unequal probabilities, and preferences need a simple "
            "or paired draw"
        )


def _without_mirrors(judgments: Judgments, rows: pl.DataFrame) -> pl.DataFrame:
    """Return each judgment once; both of its rows must say the same."""
    broken = (
        rows.group_by(_PAIR, maintain_order=True)
        .agg(pl.col(_POSITION), pl.col("net", "first").n_unique())
        .filter((pl.col("net") > 1) | (pl.col("first") > 1))
    )
    if broken.height:
        item, a, b, rater, where = broken.row(0)[:5]
        raise InvalidDataError(
            f"{judgments.place(where[1])}: rater {rater!r} compared {a!r} and {b!r} on item {item!r} "
            f"already on {judgments.place(where[0]).rsplit(', ', 1)[-1]}, and the two rows contradict each "
            "other: scores of one judgment must add to 1, with the same first_system"
        )
    return rows.unique(subset=_PAIR, keep="first", maintain_order=True)
