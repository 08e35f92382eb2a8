"""Which columns of outputs hold metrics, also where all cells are text."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.names import known_names
from steelyard.records import ALSO_BY, DRAW_COLUMNS, PLACE
from steelyard.tables.judgments import JUDGMENT_COLUMNS
from steelyard.tables.outputs import OUTPUT_COLUMNS
from steelyard.tables.refusals import check, decimal_comma
from steelyard.tables.rules import is_number, number, typed
from steelyard.tables.separators import decimal_mark
from steelyard.tables.tables import ROW, Table

__all__ = ["metric_columns", "with_numbers"]

OUTPUTS = "outputs"
_OF_JUDGMENTS = ({*JUDGMENT_COLUMNS, *DRAW_COLUMNS, PLACE, ALSO_BY} - {*OUTPUT_COLUMNS}) | {
    "cluster"
}
_KNOWN = {*OUTPUT_COLUMNS, *JUDGMENT_COLUMNS, *DRAW_COLUMNS, PLACE, ALSO_BY}
# Fewer numbers that rise by one may do so by chance.
_COUNTED = 200
_LABELS = (
    "id ids idx index uid uuid docid segid key hash row line page date day week month quarter "
    "year timestamp cluster fold split batch seed draw stratum"
)


def with_numbers(table: Table) -> Table:
    """Give the columns of a CSV file or sheet that hold numbers a numeric type."""
    rows = table.collect(table.rows)
    others = [
        name
        for name, kind in table.schema.items()
        if name not in OUTPUT_COLUMNS and kind == pl.String
    ]
    rows = rows.with_columns(typed(rows[name], table.decimal) for name in others)
    _, doubtful = decimal_mark(rows.select(others)) if table.decimal is None else (None, None)
    if doubtful is not None:
        raise decimal_comma(
            table,
            f"{table.name}, column {table.column(doubtful)}: the cells look like numbers with commas",
        )
    if table.decimal == ",":
        _check_marks(table, rows.select(others))
    return replace(table, rows=rows.lazy(), schema=rows.drop(ROW).schema)


def _check_marks(table: Table, rows: pl.DataFrame) -> None:
    """Raise for a column of numbers with points, where commas are said to stand before decimals."""
    for name in [name for name, kind in rows.schema.items() if kind == pl.String]:
        if typed(rows[name]).dtype != pl.String:
            raise InvalidDataError(
                f"{table.name}, column {table.column(name)}: the cells have points, and commas are said to stand "
                "before decimals: convert files with different marks apart"
            )


def metric_columns(
    table: Table, metrics: Sequence[str] | None, exclude: Sequence[str] = ()
) -> tuple[Table, tuple[str, ...], tuple[str, ...]]:
    """Return the columns that hold metrics, once it is known that those asked for do.

    A metric that is called like a column of judgments gets another name, such as ``outputs:score``, so
    that no one takes the one for the other.

    Returns
    -------
    tuple
        The table, its metrics, and a note on each column of numbers that is none.
    """
    numeric = [
        name
        for name, kind in table.schema.items()
        if is_number(kind) and name not in OUTPUT_COLUMNS
    ]
    for name in (*(metrics or ()), *exclude):
        if name not in numeric:
            _check_numbers(table, name, numeric)
    notes = _empty(table)
    if metrics is None:
        recorded = _recorded(table.schema)
        labels = {
            name: why
            for name in numeric
            if name not in recorded and (why := _why_label(table, name)) is not None
        }
        notes += [
            f"column {table.column(name) or 'without a name'} is not used as a metric: {why} (--metric "
            f"{table.column(name) or 'NAME'} uses it)"
            for name, why in labels.items()
            if name not in exclude
        ]
        metrics = [name for name in numeric if name not in {*recorded, *labels}]
    kept = [name for name in metrics if name not in exclude]
    names = {f"{OUTPUTS}:{name}": name for name in kept if name in _OF_JUDGMENTS}
    notes += [
        f"column {table.column(theirs)} of the outputs is called {ours}, because judgments have a column "
        "of that name"
        for ours, theirs in names.items()
    ]
    table = replace(
        table,
        rows=table.rows.rename({theirs: ours for ours, theirs in names.items()}),
        schema=pl.Schema(
            {
                f"{OUTPUTS}:{name}" if name in names.values() else name: kind
                for name, kind in table.schema.items()
            }
        ),
        mapped={**table.mapped, **{ours: table.column(theirs) for ours, theirs in names.items()}},
    )
    renamed = {theirs: ours for ours, theirs in names.items()}
    return table, tuple(renamed.get(name, name) for name in kept), tuple(notes)


def _why_label(table: Table, name: str) -> str | None:
    """Return why a column of whole numbers is taken for an id or a date; None if it is not."""
    is_called, is_whole = label_name(table.column(name)), table.schema[name].is_integer()
    if is_called and is_whole:
        return "it is called like an id or a date"
    if not (is_called or is_whole) or (table.is_lazy and not is_called):
        return None
    values = table.collect(table.rows.select(name)).to_series().drop_nulls()
    if is_called:
        is_whole = table.schema[name].is_float() and bool((values == values.round()).all())
        return "it is called like an id or a date" if is_whole else None
    counts = len(values) >= _COUNTED and (values.diff().drop_nulls() == 1).all()
    return "it counts the rows" if counts else None


def label_name(name: str) -> bool:
    """Whether the last word of a name is one for an id or a date.

    Examples
    --------
    >>> [label_name(name) for name in ("doc_id", "docId", "week", "n_words", "idx", "score")]
    [True, True, True, False, True, False]
    """
    if not name.strip() or re.fullmatch(r"Unnamed: \d+", name):
        return True  # an index that pandas wrote
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+", name)
    return bool(words) and words[-1].casefold() in {*_LABELS.split()}


def _recorded(schema: Mapping[str, Any]) -> set[str]:
    """Return the columns that a draw recorded, where the rows are a drawn sample."""
    own = {*DRAW_COLUMNS, PLACE, ALSO_BY}
    return (
        own & {*schema}
        if "probability" in schema and {"signature", "design"} & {*schema}
        else set()
    )


def _empty(table: Table) -> list[str]:
    """Return a note on each column that holds nothing."""
    others = [
        name
        for name, kind in table.schema.items()
        if name not in _KNOWN and (kind in (pl.String, pl.Null) or is_number(kind))
    ]
    if not others or table.is_lazy:
        return []
    cells = [
        (pl.col(name).cast(pl.String).str.strip_chars() == "").fill_null(value=True).all()
        if table.schema[name] == pl.String
        else pl.col(name).is_null().all()
        for name in others
    ]
    row = table.collect(
        table.rows.select(one.alias(name) for one, name in zip(cells, others, strict=True))
    )
    return [
        f"column {table.column(name)} is empty: it is no metric"
        for name in others
        if row[name].item()
    ]


def _check_numbers(table: Table, name: str, numeric: Sequence[str]) -> None:
    """Raise for a metric that holds no numbers; text that is not a number may be all that is wrong."""
    if table.schema.get(name) == pl.String and name not in OUTPUT_COLUMNS:
        rule = number(table, name, required=False)
        check(table, table.collect(table.rows.select(ROW, name)), [rule])
    raise InvalidDataError(
        f"{table.name}: no metric `{name}` among the columns that hold numbers; {known_names(name, numeric)}"
    )
