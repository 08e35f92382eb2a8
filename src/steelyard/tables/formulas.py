"""Texts in CSV that a spreadsheet would compute: marked when written, as they were when read.

A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an apostrophe in
front, which spreadsheets take for "this is text"; a number below zero gets none. A text that has apostrophes before such a sign gets
one more, so that taking one away always gives back what was there.
"""

import re

import polars as pl

__all__ = ["guarded", "kept_apostrophes", "unguarded_cells", "without_formulas"]

_FORMULA = r"^'*[=+\-@\t\r]"
# A number below zero is none.
_NUMBER = r"^-(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_GUARDED = r"^'('*[=+\-@\t\r])"


def guarded(text: str) -> str:
    """Return a text as it stands in a CSV file that a spreadsheet may open.

    Examples
    --------
    >>> guarded("=1+1"), guarded("'=1"), guarded("one")
    ("'=1+1", "''=1", 'one')
    >>> guarded("-0.5"), guarded("-1+1")
    ('-0.5', "'-1+1")
    """
    return f"'{text}" if re.match(_FORMULA, text) and not re.match(_NUMBER, text) else text


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame whose texts are `guarded`."""
    return frame.with_columns(_marked(name, _FORMULA) for name in _texts(frame.schema))


def kept_apostrophes(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Return a frame for CSV that is read back as it is: only what looks guarded is guarded."""
    texts = _texts(frame.collect_schema())
    return frame.with_columns(_marked(name, _GUARDED) for name in texts)


def unguarded_cells(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame that was read from CSV with its texts as they were before `guarded`."""
    # few files have any, and the pattern is slow
    marked = [name for name in _texts(frame.schema) if frame[name].str.starts_with("'").any()]
    return frame.with_columns(pl.col(name).str.replace(_GUARDED, "$1") for name in marked)


def _texts(schema: pl.Schema) -> list[str]:
    return [name for name, kind in schema.items() if kind == pl.String]


def _marked(name: str, pattern: str) -> pl.Expr:
    text = pl.col(name)
    is_marked = text.str.contains(pattern) & ~text.str.contains(_NUMBER)
    return pl.when(is_marked).then(pl.lit("'") + text).otherwise(text).alias(name)
