"""Sheets of Excel and OpenDocument files."""

import logging
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import InvalidDataError, MissingDependencyError

__all__ = ["filled_sheets", "read_sheet", "sheets_of"]

_EXCEL = {".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"}
# Above it, a double does not hold every whole number.
_EXACT = 2.0**53
# What the library says of empty columns is no news to users.
logging.getLogger("fastexcel").addHandler(logging.NullHandler())


def filled_sheets(path: Path) -> list[str]:
    """Return the names of the sheets that hold anything, in their order.

    Raises
    ------
    InvalidDataError
        If the file is no spreadsheet.
    MissingDependencyError
        If the extra ``excel`` is not installed.
    """
    book = _opened(path)
    return [name for name in book.sheet_names if _is_filled(book, path, name)]


def sheets_of(path: Path) -> list[Path]:
    """Return every sheet of an Excel file that has several, and any other file as it is."""
    if not path.is_file() or path.stat().st_size == 0 or path.suffix.lower() not in _EXCEL:
        return [path]
    names = filled_sheets(path)
    return [Path(f"{path}#{name}") for name in names] if len(names) > 1 else [path]


def read_sheet(path: Path, sheet: str | None) -> pl.DataFrame:
    """Read one sheet, whose first row that is not empty names the columns.

    Parameters
    ----------
    path : Path
        The file.
    sheet : str or None
        Name of the sheet; None for the only one that holds anything.

    Raises
    ------
    InvalidDataError
        If there is no such sheet, or several hold something and none is named.
    MissingDependencyError
        If the extra ``excel`` is not installed.
    """
    book = _opened(path)
    names = list(book.sheet_names)
    if sheet is None:
        filled = [name for name in names if _is_filled(book, path, name)]
        if len(filled) > 1:
            raise InvalidDataError(
                f"{path}: holds {len(filled)} sheets: {', '.join(filled)}: name one of them, such as "
                f"'{path}#{filled[0]}'"
            )
        sheet = filled[0] if filled else names[0]
    elif sheet not in names:
        raise InvalidDataError(f"{path}: no sheet {sheet!r}; there are: {', '.join(names)}")
    _check_header(book, path, sheet)
    frame = _loaded(book, path, sheet)
    empty = [name for name in frame.columns if name.startswith("__UNNAMED__")]
    nameless = [name for name in empty if frame[name].null_count() < frame.height]
    if len(nameless) > 1 and len(empty) == frame.width - 1:
        raise InvalidDataError(
            f"{path}: the first row of sheet {sheet!r} names one of {frame.width} columns: put the names "
            "of the columns in the first row"
        )
    return _with_whole_numbers(
        frame.drop(name for name in empty if frame[name].null_count() == frame.height)
    )


def _with_whole_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Make columns of whole numbers whole: a spreadsheet knows one kind, and shows item 1 as 1, not 1.0."""
    whole = [
        name
        for name, column in zip(frame.columns, frame.iter_columns(), strict=True)
        if column.dtype.is_float() and ((column == column.round()) & (column.abs() < _EXACT)).all()
    ]
    return frame.with_columns(pl.col(whole).cast(pl.Int64))


def _opened(path: Path) -> Any:
    try:
        import fastexcel  # noqa: PLC0415
    except ImportError as error:
        raise MissingDependencyError(
            f"{path}: Excel files need the extra excel: pip install 'steelyard[excel]', or save the "
            "sheet as CSV"
        ) from error
    try:
        return fastexcel.read_excel(path)
    except (fastexcel.FastExcelError, OSError) as error:
        raise _unreadable(path, error) from error


def _loaded(book: Any, path: Path, sheet: str, *, rows: int | None = None) -> pl.DataFrame:
    import fastexcel  # noqa: PLC0415

    try:
        return pl.DataFrame(
            book.load_sheet(sheet, n_rows=rows, schema_sample_rows=None, dtype_coercion="coerce")
        )
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError) as error:
        raise _unreadable(path, error) from error


def _check_header(book: Any, path: Path, sheet: str) -> None:
    """Raise if two columns have one name: the library would give one of them another."""
    header = pl.DataFrame(book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string"))
    names = [name for row in header.iter_rows() for name in row if name is not None]
    for name in names:
        if names.count(name) > 1:
            raise InvalidDataError(
                f"{path}: two columns of sheet {sheet!r} are named `{name}`: rename one"
            )


def _is_filled(book: Any, path: Path, sheet: str) -> bool:
    return _loaded(book, path, sheet, rows=1).width > 0


def _unreadable(path: Path, error: Exception) -> InvalidDataError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return InvalidDataError(f"{path}: cannot be read as a spreadsheet: {reason}")
