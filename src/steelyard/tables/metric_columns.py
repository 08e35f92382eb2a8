"""Which columns of outputs hold metrics, also where all cells are text."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.names import known_names
from steelyard.records import DRAW_COLUMNS, PLACE
from steelyard.tables.judgments import JUDGMENT_COLUMNS
from steelyard.tables.outputs import OUTPUT_COLUMNS
from steelyard.tables.rules import check, decimal_comma, is_number, number, typed
from steelyard.tables.separators import DECIMAL_COMMA
from steelyard.tables.tables import ROW, Table

__all__ = ["metric_columns", "with_numbers"]


def with_numbers(table: Table) -> Table:
    """Give the columns of a CSV file or sheet that hold numbers a numeric type."""
    rows = table.collect(table.rows)
    others = [
        name
        for name, kind in table.schema.items()
        if name not in OUTPUT_COLUMNS and kind == pl.String
    ]
    rows = rows.with_columns(typed(rows[name], table.decimal) for name in others)
    if table.decimal is None:
        _ask_for_decimals(table, rows, [name for name in others if rows.schema[name] == pl.String])
    return replace(table, rows=rows.lazy(), schema=rows.drop(ROW).schema)


def _ask_for_decimals(table: Table, rows: pl.DataFrame, columns: Sequence[str]) -> None:
    """Raise for a column that holds numbers, if only a comma may stand before their decimals."""
    for name in columns:
        cells = rows[name].drop_nulls()
        commas = cells.str.contains(DECIMAL_COMMA)
        if commas.any() and (commas | cells.str.contains(r"^\s*[+-]?\d*\s*$")).all():
            raise decimal_comma(
                f"{table.name}, column {table.column(name)}: the cells look like numbers, such as "
                f"{cells.filter(commas)[0]!r} ({commas.sum():,} of {rows.height:,} rows)",
                table.role,
            )


def metric_columns(table: Table, metrics: Sequence[str] | None) -> tuple[str, ...]:
    """Columns that hold metrics, once it is known that those asked for do."""
    numeric = [
        name
        for name, kind in table.schema.items()
        if is_number(kind) and name not in OUTPUT_COLUMNS
    ]
    for name in metrics or ():
        if name in numeric:
            continue
        # Text that is not a number may be all that is wrong: say where it stands.
        if table.schema.get(name) == pl.String and name not in OUTPUT_COLUMNS:
            rule = number(table, name, required=False)
            check(table, table.collect(table.rows.select(ROW, name)), [rule])
        raise InvalidDataError(
            f"{table.name}: no metric `{name}` among the columns that hold numbers; {known_names(name, numeric)}"
        )
    if metrics is not None:
        return tuple(metrics)
    # A drawn sample may carry its probabilities: numbers, but not of the text.
    return tuple(name for name in numeric if name not in {*JUDGMENT_COLUMNS, *DRAW_COLUMNS, PLACE})
