"""What a column must hold, as expressions that polars evaluates on the raw values."""

import json
from dataclasses import dataclass

import polars as pl

from steelyard.tables.separators import Decimal
from steelyard.tables.tables import Table

__all__ = [
    "LARGEST",
    "MISSING",
    "ColumnRule",
    "countable",
    "identifier",
    "is_blank",
    "is_gap",
    "is_number",
    "json_text",
    "number",
    "probability",
    "references",
    "text",
    "text_list",
    "typed",
]


# What people and tools write in a cell that holds no score.
MISSING = ("", "-", "n/a", "na", "nan", "none", "null")
# Squares of larger scores, and sums of them, are no numbers any more.
LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class ColumnRule:
    """What a column must hold.

    Attributes
    ----------
    column : str
        Name of the column.
    value : polars.Expr
        The column in our type, from the raw values.
    broken : polars.Expr
        True where a raw value breaks the rule.
    expected : str
        The rule in words.
    is_number : bool
        Whether it is that a text must spell a number.
    """

    column: str
    value: pl.Expr
    broken: pl.Expr
    expected: str
    is_number: bool = False


def identifier(table: Table, column: str, *, required: bool = True) -> ColumnRule:
    """Text that is not empty; whole numbers become text; an optional one may be missing."""
    kind = table.schema[column]
    raw = pl.col(column)
    if kind.is_float():
        # pandas turns whole numbers into floats when one of them is missing.
        whole = pl.when(raw == raw.round()).then(raw.cast(pl.Int64, strict=False))
        value = whole.cast(pl.String)
    elif kind.is_integer() or kind in (pl.String, pl.Categorical, pl.Enum, pl.Binary, pl.Null):
        value = raw.cast(pl.String, strict=False)
    else:
        raise table.type_error(column, "text or whole numbers")
    broken = value.is_null() | (value == "")
    if not required:
        broken = value.is_null() & raw.is_not_null()
        value = pl.when(value != "").then(value)
    return ColumnRule(column, value.alias(column), broken, "text or a whole number")


def number(table: Table, column: str, *, required: bool) -> ColumnRule:
    """A finite number; true and false are 1 and 0; an optional one may be missing."""
    kind = table.schema[column]
    if not (is_number(kind) or kind in (pl.String, pl.Null)):
        raise table.type_error(column, "finite numbers")
    raw = pl.col(column)
    is_text = kind == pl.String
    value = _parsed(column, table.decimal) if is_text else raw.cast(pl.Float64)
    is_missing = (raw.str.strip_chars() == "") | raw.is_null() if is_text else raw.is_null()
    is_finite = value.is_finite().fill_null(False)
    broken = ~is_finite if required else ~(is_finite | is_missing)
    if is_text:
        # 85% beside 0.85 would be two scales in one column.
        percent = raw.str.contains(r"%\s*$")
        broken |= (percent.any() & ~percent & ~is_missing).fill_null(value=False)
    mark = " with a decimal comma" if table.decimal == "," else ""
    way_out = "" if required else ", or an empty cell where it is not known"
    return ColumnRule(
        column, value.alias(column), broken, f"a finite number{mark}{way_out}", is_number=True
    )


def countable(rule: ColumnRule) -> ColumnRule:
    """A number whose square can be counted with; what is no number breaks `rule`, not this."""
    broken = (rule.value.is_finite() & (rule.value.abs() > LARGEST)).fill_null(value=False)
    return ColumnRule(rule.column, rule.value, broken, f"a number of at most {LARGEST:g} in size")


def is_blank(table: Table, column: str) -> pl.Expr:
    """Whether a cell holds no number at all: empty, or a word for that."""
    kind = table.schema[column]
    if kind == pl.String:
        return (
            pl.col(column).str.strip_chars().str.to_lowercase().is_in(MISSING).fill_null(value=True)
        )
    if kind.is_float():
        return pl.col(column).is_null() | pl.col(column).is_nan()
    return pl.col(column).is_null()


def probability(table: Table, column: str) -> ColumnRule:
    """A number above 0, up to 1, or missing."""
    rule = number(table, column, required=False)
    outside = ((rule.value <= 0) | (rule.value > 1)).fill_null(False)
    return ColumnRule(
        column, rule.value, rule.broken | outside, "a probability above 0 and up to 1"
    )


def text(table: Table, column: str, *, required: bool) -> ColumnRule:
    """Text; a missing one is the empty text where text is required, and no text where it is not."""
    kind = table.schema[column]
    value = pl.col(column)
    if not kind.is_nested():
        value = value.cast(pl.String, strict=False)
    elif required:
        raise table.type_error(column, "text")
    else:
        # A list of chat messages, say.
        value = json_text(column)
    if required:
        value = value.fill_null("")
    return ColumnRule(column, value.alias(column), pl.lit(False), "text")


def references(table: Table, column: str) -> ColumnRule:
    """Lists of texts: a single text is a list of one, a missing one an empty list.

    Text files can say ``["one", "two"]`` in a cell: a JSON array of texts is a list there.
    """
    kind = table.schema[column]
    raw = pl.col(column)
    if isinstance(kind, pl.List | pl.Array) and not kind.inner.is_nested():
        value = raw.cast(pl.List(pl.String)).list.drop_nulls()
    elif kind.is_nested():
        raise table.type_error(column, "text or lists of texts")
    elif table.format is not None and table.format.kind != "parquet":
        value = raw.cast(pl.String).map_batches(_unpacked, return_dtype=pl.List(pl.String))
    else:
        value = pl.concat_list(raw.cast(pl.String)).list.drop_nulls()
    value = value.fill_null(pl.lit([], dtype=pl.List(pl.String))).alias(column)
    return ColumnRule(column, value, pl.lit(False), "text or a list of texts")


def is_gap(metric: str) -> pl.Expr:
    """Whether an output lacks a metric: missing, NaN, infinite, or too large to be squared."""
    return ~(pl.col(metric).cast(pl.Float64).abs() <= LARGEST).fill_null(value=False)


def is_number(kind: pl.DataType) -> bool:
    """Whether values of this type are numbers; true and false are."""
    return kind.is_numeric() or kind == pl.Boolean


def typed(column: pl.Series, decimal: Decimal | None = None) -> pl.Series:
    """Return a text column as whole numbers or numbers if each of its cells is one.

    Cells with leading zeros, such as 007, are names and stay text.
    """
    cells = column.str.strip_chars().replace("", None)
    is_name = cells.str.contains(r"^[+-]?0\d").any()
    if is_name or cells.null_count() == len(cells):
        return column
    for kind in (pl.Int64, pl.Float64):
        # commas may be decimals, which only the slower way below knows
        found = cells.cast(kind, strict=False)
        if found.null_count() == cells.null_count() and (decimal != "," or kind == pl.Int64):
            return found
    numbers = cells.to_frame().select(_parsed(column.name, decimal).alias(column.name)).to_series()
    return numbers if numbers.null_count() == cells.null_count() else column


def json_text(column: str) -> pl.Expr:
    """Nested values as JSON, in text."""
    return pl.col(column).map_batches(_packed, return_dtype=pl.String, is_elementwise=True)


def _parsed(column: str, decimal: Decimal | None) -> pl.Expr:
    cell = pl.col(column).str.replace(r"\s*%\s*$", "").str.strip_chars()
    if decimal == ",":
        # A point would be one between thousands, or a mistake: neither is taken for decimals.
        cell = pl.when(~cell.str.contains(".", literal=True)).then(
            cell.str.replace(",", ".", literal=True)
        )
    word = cell.str.to_lowercase()
    return (
        pl.when(word == "true")
        .then(1.0)
        .when(word == "false")
        .then(0.0)
        .otherwise(cell.cast(pl.Float64, strict=False))
    )


def _packed(values: pl.Series) -> pl.Series:
    cells = [
        None if value is None else json.dumps(value, ensure_ascii=False, default=str)
        for value in values.to_list()
    ]
    return pl.Series(values.name, cells, dtype=pl.String)


def _unpacked(cells: pl.Series) -> pl.Series:
    lists = [text_list(cell) for cell in cells.to_list()]
    return pl.Series(cells.name, lists, dtype=pl.List(pl.String))


def text_list(cell: str | None) -> list[str]:
    """Return the texts that a cell of a text file holds: one, or those of a JSON array.

    Examples
    --------
    >>> text_list("a"), text_list('["a", "b"]'), text_list("[1]"), text_list(None)
    (['a'], ['a', 'b'], ['[1]'], [])
    """
    if cell is None:
        return []
    if cell.startswith("[") and cell.endswith("]"):
        try:
            values = json.loads(cell)
        except json.JSONDecodeError:
            return [cell]
        if all(isinstance(value, str) for value in values):
            return list(values)
    return [cell]
