"""Physical lines of text files, read only to say where something is wrong.

Rows are read by polars, which does not say on which line a row stands. The passes here are
slower and run only once something has to be reported.
"""

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from steelyard.tables.formats import TextKind
from steelyard.tables.text import Text, not_utf8, whole

__all__ = ["header_record", "line_numbers", "malformation", "short_lines"]

# A CSV field is either quoted, with quotation marks inside it doubled, or free of them.
_CSV_FIELD = re.compile(r'"(?:[^"]|"")*"|[^"]*')


def line_numbers(path: Text, kind: TextKind, rows: Sequence[int]) -> list[int]:
    """Return the line, counted from 1, on which each row starts.

    Parameters
    ----------
    path : Path or bytes
        A JSON Lines or CSV file, compressed or not, or its content.
    kind : {"jsonl", "csv"}
        Its format.
    rows : sequence of int
        Rows, counted from 0 without the header. Blank lines are rows of a CSV file only.
    """
    starts = _object_lines(path) if kind == "jsonl" else _row_lines(path)
    wanted = dict.fromkeys(rows, 0)
    last = max(rows)
    for row, (number, _) in enumerate(starts):
        if row in wanted:
            wanted[row] = number
        if row == last:
            break
    return [wanted[row] for row in rows]


def header_record(path: Text) -> str:
    """Return the header of a CSV file, as it stands there; empty if it cannot be had."""
    try:
        return next(_header_and_rows(path), (0, ""))[1]
    except pl.exceptions.PolarsError:
        return ""


def malformation(path: Text, kind: TextKind, separator: str = ",") -> str | None:
    """Say where and why a text file cannot be parsed; None if no reason is found."""
    try:
        if not any(line.strip() for _, line in _lines(path)):
            return "line 1: expected a row, got only blank lines"
        return _bad_object(path) if kind == "jsonl" else _bad_record(path, separator)
    except pl.exceptions.ComputeError:
        body = path if isinstance(path, bytes) else whole(path)
        return not_utf8(body)


def short_lines(path: Text, separator: str, width: int) -> tuple[int, int] | None:
    """Return how many lines of a CSV file have fewer cells than its header, and the first of them.

    None if there are none, or if quoted cells have line breaks, so that lines are no rows.
    """
    line = pl.col("line")
    is_short = (line.str.count_matches(separator, literal=True) < width - 1) & (
        line.str.strip_chars() != ""
    )
    query = pl.scan_lines(path, glob=False).select(
        broken=(line.str.count_matches('"', literal=True) % 2 == 1).any(),
        count=is_short.sum(),
        first=is_short.arg_true().first(),
    )
    broken, count, first = query.collect().row(0)
    return None if broken or not count else (count, first + 1)


def _lines(path: Text) -> Iterator[tuple[int, str]]:
    number = 0
    for batch in pl.scan_lines(path, glob=False).collect_batches(maintain_order=True):
        for line in batch["line"]:
            number += 1
            yield number, line


def _object_lines(path: Text) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in _lines(path) if line.strip())


def _records(path: Text) -> Iterator[tuple[int, str]]:
    """CSV records: a line ends one unless a quotation mark is still open."""
    start = 0
    parts: list[str] = []
    is_open = False
    for number, line in _lines(path):
        if not is_open:
            start, parts = number, []
        parts.append(line)
        is_open ^= line.count('"') % 2 == 1
        if not is_open:
            yield start, "\n".join(parts)
    if is_open:
        yield start, "\n".join(parts)


def _header_and_rows(path: Text) -> Iterator[tuple[int, str]]:
    """CSV records from the header on: blank lines before it do not count."""
    is_started = False
    for number, record in _records(path):
        is_started = is_started or record != ""
        if is_started:
            yield number, record


def _row_lines(path: Text) -> Iterator[tuple[int, str]]:
    rows = _header_and_rows(path)
    next(rows, None)
    return rows


def _bad_object(path: Text) -> str | None:
    """The first line of a JSON Lines file that is not an object like the others."""
    kinds: dict[str, dict[str, int]] = {}
    for number, line in _object_lines(path):
        if line.startswith("\ufeff"):
            return f"line {number}: the file starts with a byte order mark: save it without one"
        try:
            record = json.loads(line, object_pairs_hook=_members)
        except _TwiceError as error:
            return f"line {number}: two members are named `{error}`: rename one"
        except json.JSONDecodeError as error:
            return (
                f"line {number}: expected a JSON object, got malformed JSON "
                f"({error.msg} at character {error.pos + 1})"
            )
        if not isinstance(record, dict):
            return f"line {number}: expected a JSON object, got {_shortened(line.strip())}"
        for column, value in record.items():
            if isinstance(value, float) and not math.isfinite(value):
                return f"line {number}, column {column}: expected a finite number, got {value}"
            if value is not None:
                kinds.setdefault(column, {}).setdefault(_kind(value), number)
    return _clash(kinds)


class _TwiceError(ValueError):
    """An object with two members of one name."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise _TwiceError(name)
    return dict(pairs)


def _clash(kinds: dict[str, dict[str, int]]) -> str | None:
    """Say so when a column holds values of two kinds; beside text, any value becomes text."""
    for column, lines in kinds.items():
        if len(lines) > 1 and "text" not in lines:
            (first, first_line), (other, other_line), *_ = lines.items()
            return (
                f"line {other_line}, column {column}: "
                f"expected {first} as on line {first_line}, got {other}"
            )
    return None


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "an object"


def _bad_record(path: Text, separator: str) -> str | None:
    """The first record of a CSV file that breaks the format."""
    width, start, header = None, 1, ""
    for number, record in _header_and_rows(path):
        if record.count('"') % 2 == 1:
            return (
                f"line {number}: a quotation mark opens here and never closes: "
                "put the field in quotation marks and double those inside it"
            )
        fields = _fields(record, separator)
        if width is None:
            width, start, header = len(fields), number, record
        if len(fields) > width:
            plural = "s" * (width > 1)
            top = f"the header, line {start}, is {_shortened(header)}"
            return f"line {number}: expected {width} field{plural}, got {len(fields)}; {top}"
        for entry in fields:
            if _CSV_FIELD.fullmatch(entry) is None:
                return (
                    f"line {number}: expected quotation marks to be doubled inside a quoted "
                    f"field, got {_shortened(entry)}"
                )
    return None


def _fields(record: str, separator: str) -> list[str]:
    """Split a CSV record at the separators outside quotation marks."""
    fields = [""]
    for position, piece in enumerate(record.split('"')):
        if position:
            fields[-1] += '"'
        first, *rest = piece.split(separator) if position % 2 == 0 else [piece]
        fields[-1] += first
        fields.extend(rest)
    return fields


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
