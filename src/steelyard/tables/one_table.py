"""One table that holds outputs and their human scores: rows are outputs, or judgments of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.names import known_names
from steelyard.records import ALSO_BY, DRAW_RECORD
from steelyard.tables.column_names import lookalike
from steelyard.tables.frames import Source
from steelyard.tables.judgments import JUDGMENT_COLUMNS
from steelyard.tables.opening import open_table
from steelyard.tables.outputs import OUTPUT_COLUMNS
from steelyard.tables.refusals import check
from steelyard.tables.rules import MISSING, identifier, number, typed
from steelyard.tables.tables import ROW, Table

__all__ = ["human_columns", "split_table"]

_KEY = ["item", "system"]
# A column `prompt` of more different texts than this holds the prompts of systems, not of raters.
_PROMPTS = 20
# What stands in a table of outputs on a judgment, not on the output.
_OF_JUDGMENTS = {*JUDGMENT_COLUMNS, *DRAW_RECORD, ALSO_BY} - {*OUTPUT_COLUMNS}


def split_table(
    source: Source | Table,
    human: Sequence[str],
    *,
    columns: Mapping[str, str] | None = None,
    separator: str | None = None,
    decimal: str | None = None,
) -> tuple[Table, Table, tuple[str, ...]]:
    """Return the outputs and the judgments of one table, and what was taken for granted.

    Parameters
    ----------
    source
        As in `read_outputs`.
    human : sequence of str
        The columns of human scores, filled on some rows; ``rater*`` for all that start so. Several
        are scores of several raters.
    columns, separator, decimal
        As in `read_outputs`.

    Raises
    ------
    InvalidDataError
        If there is no such column, or a cell of it is neither a number nor blank.
    """
    contract = tuple(dict.fromkeys((*OUTPUT_COLUMNS, *JUDGMENT_COLUMNS)))
    table = open_table(
        source,
        label="outputs",
        contract=contract,
        columns=columns,
        separator=separator,
        decimal=decimal,
    )
    names = human_columns(table, human)
    table = replace(table, human=tuple(human))
    rows = table.collect(table.rows)
    rows, notes = _with_keys(table, rows)
    filled = _judged(table, rows, names)
    if filled.is_empty():
        raise InvalidDataError(
            f"{table.name}: column {names[0]} is blank on all rows: no human score is there"
        )
    judged = filled.select(ROW).n_unique()
    said = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
    notes.append(f"{table.name}: {said} filled on {judged:,} of {rows.height:,} rows")
    pool, about = _pool(table, rows, names)
    return (
        _part(table, pool),
        replace(_part(table, filled), role="judgments"),
        (*table.notes, *notes, *about),
    )


def _part(table: Table, rows: pl.DataFrame) -> Table:
    schema = rows.drop(ROW).schema
    return replace(table, rows=rows.lazy(), schema=schema, is_lazy=False, notes=())


def human_columns(table: Table, human: Sequence[str]) -> list[str]:
    """Return the columns that are meant, patterns resolved."""
    there = list(table.schema)
    found: dict[str, None] = {}
    for name in human:
        known = [name] if name in there else [one for one in there if fnmatchcase(one, name)]
        if not known:
            raise InvalidDataError(
                f"{table.name}: no column `{name}` of human scores (--column score={name}); "
                f"{known_names(name, there)}"
            )
        found |= dict.fromkeys(known)
    return list(found)


def _with_keys(table: Table, rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return rows with item and system, and a note on each that no column names."""
    notes = []
    for column in _KEY:
        if column in rows.columns:
            continue
        if lookalike(column, rows.columns, misspelt=False) is not None:
            table.require([column])
        if column == "item":
            rows = rows.with_columns(item=pl.col(ROW).cast(pl.Int64) + 1)
            notes.append(f"{table.name}: no column `item`: items are the numbers of the rows")
        else:
            name = Path(table.name).name.split(".")[0] if table.format is not None else "system"
            rows = rows.with_columns(system=pl.lit(name))
            notes.append(f"{table.name}: no column `system`: all outputs are of one, {name}")
    return rows, notes


def _judged(table: Table, rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the judgments: a row for each cell that is filled."""
    kept = [name for name in rows.columns if name in _OF_JUDGMENTS - {"rater", "prompt", "score"}]
    rater = "rater" if "rater" in rows.columns and "rater" not in names else None
    if rater is None and len(names) == 1:
        texts = [one for one in rows.columns if rows.schema[one] == pl.String]
        words = [one for one in texts if typed(rows[one], table.decimal).dtype == pl.String]
        if lookalike("rater", words, misspelt=False) is not None:
            table.require(["rater"])
    parts = []
    for name in names:
        score = pl.col(name)
        if rows.schema[name] == pl.String:
            score = pl.when(~score.str.strip_chars().str.to_lowercase().is_in(MISSING)).then(score)
        elif rows.schema[name].is_float():
            score = score.fill_nan(None)
        part = rows.with_columns(score.alias(name)).filter(pl.col(name).is_not_null())
        check(table, part, [number(table, name, required=True)])
        extra = [pl.lit(name).alias("rater")] if len(names) > 1 else []
        extra += [pl.col("rater")] if len(names) == 1 and rater is not None else []
        if _names_prompts(rows):
            extra.append(pl.col("prompt"))
        elif len(names) == 1:
            extra.append(pl.lit(name).alias("prompt"))
        parts.append(part.select(ROW, *_KEY, *extra, pl.col(name).alias("score"), *kept))
    return pl.concat(parts, how="vertical_relaxed")


def _names_prompts(rows: pl.DataFrame) -> bool:
    """Whether the column `prompt` is the one put to raters."""
    return "prompt" in rows.columns and rows["prompt"].n_unique() <= min(_PROMPTS, rows.height / 2)


def _pool(table: Table, rows: pl.DataFrame, names: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """Return each output once, and a note on columns that differ between its rows."""
    away = {
        *names,
        *(name for name in _OF_JUDGMENTS & {*rows.columns} if name in {"rater", "seconds", "time"}),
    }
    if _names_prompts(rows):
        away.add("prompt")
    pool = rows.drop(away)
    key = [identifier(_part(table, rows), column).value.alias(f"#{column}") for column in _KEY]
    keyed = pool.with_columns(key)
    pair = ["#item", "#system"]
    once = keyed.unique(pair, keep="first", maintain_order=True)
    if once.height == keyed.height:
        return pool, []
    others = [
        name
        for name in pool.columns
        if name not in {ROW, *_KEY} and not pool.schema[name].is_nested()
    ]
    several = keyed.group_by(pair).agg(pl.col(name).n_unique() for name in others)
    unlike = [name for name in others if (several[name] > 1).any()]
    notes = [f"{table.name}: {rows.height:,} rows are judgments of {once.height:,} outputs"]
    notes += [
        f"column {table.column(name)} differs between rows of one output: it is no metric and no text of it"
        for name in unlike
    ]
    return once.drop(*pair, *unlike), notes
