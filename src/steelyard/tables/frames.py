"""Rows that are in memory already: data frames of any library, and lists and dicts of Python."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import polars as pl

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.tables.python_rows import frame_of_columns, frame_of_pandas, frame_of_rows

__all__ = ["ArrowStream", "Source", "as_lazy"]


@runtime_checkable
class ArrowStream(Protocol):
    """A table of any library that speaks the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the table as a stream of record batches."""


# Rows of Python: a list of dicts, or a dict of columns.
Rows = Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]]
Source = str | os.PathLike[str] | pl.DataFrame | pl.LazyFrame | ArrowStream | Rows


def as_lazy(frame: Any, *, argument: str) -> pl.LazyFrame:
    """Return a data frame of any library, passed as `argument`, as a lazy frame of polars.

    Raises
    ------
    InvalidArgumentError
        If it is no data frame.
    InvalidDataError
        If its library cannot export it, e.g. because a column mixes types.
    """
    if isinstance(frame, pl.LazyFrame):
        return frame
    if isinstance(frame, pl.DataFrame):
        return frame.lazy()
    if isinstance(frame, Mapping):
        return frame_of_columns(_listed(frame, argument), name=f"`{argument}`").lazy()
    if isinstance(frame, list | tuple):
        return frame_of_rows(frame, name=f"`{argument}`").lazy()
    if not isinstance(frame, ArrowStream) and not _is_pandas(frame):
        raise InvalidArgumentError(
            f"`{argument}` must be a path, a list of dicts, a dict of columns, or a data frame with "
            f"the Arrow PyCapsule interface (pandas, polars, pyarrow, duckdb ...); "
            f"got {type(frame).__name__}"
        )
    try:
        return pl.DataFrame(frame).lazy()
    except (TypeError, ValueError, ImportError, pl.exceptions.PolarsError) as error:
        if _is_pandas(frame):
            return frame_of_pandas(frame, name=f"`{argument}`").lazy()
        raise InvalidDataError(f"`{argument}` cannot be read as an Arrow table: {error}") from error


def _is_pandas(frame: object) -> bool:
    return type(frame).__module__.split(".")[0] == "pandas" and hasattr(frame, "iloc")


def _listed(columns: Mapping[Any, Any], argument: str) -> dict[str, list[Any]]:
    for name, values in columns.items():
        if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
            raise InvalidArgumentError(
                f"`{argument}` is a dict: column {name!r} must be a list of values; got "
                f"{type(values).__name__}"
            )
    return {str(name): list(values) for name, values in columns.items()}
