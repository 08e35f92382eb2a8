"""Rows that Python holds: a list of dicts, a dict of columns, a pandas frame."""

import json
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import polars as pl

from steelyard.errors import InvalidDataError

__all__ = ["frame_of_columns", "frame_of_pandas", "frame_of_rows"]


def frame_of_rows(rows: Sequence[Any], *, name: str, place: str = "row") -> pl.DataFrame:
    """Return a list of dicts as a data frame; a column holds what its values are, or text.

    Parameters
    ----------
    rows : sequence of mapping
        One for each record; a key that some lack is missing there.
    name, place : str
        What an error calls the list and one of its records.

    Raises
    ------
    InvalidDataError
        If one of them is no dict, or a key is no text.

    Examples
    --------
    >>> frame_of_rows([{"item": 1, "score": 0.5}, {"item": "x"}], name="rows").rows()
    [('1', 0.5), ('x', None)]
    """
    columns: dict[str, list[Any]] = {}
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InvalidDataError(
                f"{name}, {place} {number + 1}: expected a record with named columns, got "
                f"{_shortened(row)}"
            )
        for key, value in row.items():
            if not isinstance(key, str):
                raise InvalidDataError(
                    f"{name}, {place} {number + 1}: the name of a column must be text; got {key!r}"
                )
            if key not in columns:
                columns[key] = [None] * len(rows)
            columns[key][number] = value
    return frame_of_columns(columns, name=name)


def frame_of_columns(columns: Mapping[str, Sequence[Any]], *, name: str) -> pl.DataFrame:
    """Return named columns of equal length as a data frame; see `frame_of_rows`."""
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        sizes = ", ".join(f"`{key}` {len(values)}" for key, values in columns.items())
        raise InvalidDataError(f"{name}: columns must have the same length; got {sizes}")
    return pl.DataFrame([_series(key, values, name) for key, values in columns.items()])


def frame_of_pandas(frame: Any, *, name: str) -> pl.DataFrame:
    """Return a pandas frame by its values: what is left where pyarrow is missing or refuses a column."""
    labels = [str(label) for label in frame.columns]
    for label in labels:
        if labels.count(label) > 1:
            raise InvalidDataError(f"{name}: two columns are named `{label}`: rename one")
    values = [frame.iloc[:, position].tolist() for position in range(len(labels))]
    # pandas writes NaN for a missing text too
    return frame_of_columns(
        {
            label: [None if _is_missing(value) else value for value in column]
            for label, column in zip(labels, values, strict=True)
        },
        name=name,
    )


def _series(column: str, values: Sequence[Any], name: str) -> pl.Series:
    plain = [_plain(value) for value in values]
    kinds = {_kind(value) for value in plain if value is not None}
    try:
        if len(kinds) > 1 and kinds != {"number", "truth"}:
            return pl.Series(column, [_text(value) for value in plain], dtype=pl.String)
        return pl.Series(column, plain, strict=False)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InvalidDataError(f"{name}, column {column}: cannot be read: {reason}") from error


def _plain(value: Any) -> Any:
    """Return a value of numpy or pandas as one of Python."""
    if hasattr(value, "tolist") and not isinstance(value, str | bytes):
        value = value.tolist()
    return None if type(value).__name__ in {"NAType", "NaTType"} else value


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, list | tuple | Mapping):
        return "nested"
    return "time" if isinstance(value, date) else "text"


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, datetime | date):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
