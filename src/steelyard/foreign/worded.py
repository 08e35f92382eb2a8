"""Judgments in our own form whose scores are words: ``--scale`` makes numbers of them."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from steelyard.errors import InvalidDataError
from steelyard.foreign.conversion import Conversion
from steelyard.foreign.documents import Document
from steelyard.foreign.format import Format, Options
from steelyard.foreign.tally import Tally
from steelyard.foreign.values import identifier, is_missing, number
from steelyard.tables.column_names import lookalike
from steelyard.tables.rules import has_decimal_comma
from steelyard.tables.tables import ROW, quoted

__all__ = ["FORMAT"]

_NUMBERS = ("probability", "stratum_size", "share", "draw", "seed", "seconds")
_NEEDED, _WANTED = ("item", "system", "score"), ("rater", "prompt")


def _names(document: Document, options: Options) -> dict[str, str]:
    """Return which column is which of ours: as told, by its name, or because it looks like it."""
    there = [str(name) for name in document.first if name != ROW]
    found = {ours: theirs for ours, theirs in options.columns.items() if theirs in there}
    options.found.update(found)
    for ours in (*_NEEDED, *_WANTED):
        free = [name for name in there if name not in found.values()]
        near = ours if ours in free else lookalike(ours, free, misspelt=False)
        if ours not in found and near is not None:
            found[ours] = near
    return found


def _recognises(document: Document) -> bool:
    if document.kind not in ("json", "lines", "table"):
        return False
    names = _names(document, Options())
    if not {*_NEEDED} <= {*names}:
        return False
    cells = [record.get(names["score"]) for record in document.records]
    is_ours = all(
        not isinstance(record.get(names["item"]), dict | list) for record in document.records
    )
    return is_ours and any(isinstance(cell, str) and _is_word(cell) for cell in cells)


def _is_word(cell: str) -> bool:
    return not is_missing(cell) and number(cell) is None and not has_decimal_comma(cell)


def _convert(documents: Sequence[Document], options: Options) -> list[Conversion]:
    tally = Tally(options)
    rows = []
    for document in documents:
        names = _names(document, options)
        missing = [ours for ours in _NEEDED if ours not in names]
        if missing:
            raise InvalidDataError(
                f"{document.path}: no column {quoted(missing)}; it is {document.contents}: say which "
                f"one it is with --column {missing[0]}=YOUR_COLUMN"
            )
        for ours, theirs in names.items():
            if ours != theirs and ours not in options.columns:
                tally.remark(f"`{theirs}` is taken for `{ours}`")
        renamed = {theirs: ours for ours, theirs in names.items()}
        for record in document.records:
            row = {renamed.get(name, name): cell for name, cell in record.items() if name != ROW}
            if _is_scored(row, tally, options):
                rows.append(row)
    options.check_found()
    tally.check("keep one with --on-duplicate")
    judgments = pl.DataFrame(rows, infer_schema_length=None, strict=False)
    return [Conversion("", pl.DataFrame(), judgments, tally.remarks)]


def _is_scored(row: dict[str, Any], tally: Tally, options: Options) -> bool:
    """Put a number in the place of a row's score; say whether the row is to be kept."""
    if not tally.is_kept(str(row.get("rater"))) or not tally.is_asked(str(row.get("prompt"))):
        return False
    score = number(row.get("score"), options.scale)
    if score is None:
        tally.unscored(str(row.get("prompt", "score")), row.get("score"))
        return False
    row |= {"item": identifier(row.get("item")), "score": score}
    # cells of a table are texts, also where our files have numbers
    row |= {name: _as_number(row[name]) for name in _NUMBERS if isinstance(row.get(name), str)}
    return True


def _as_number(cell: str) -> float | int | None:
    value = number(cell)
    return int(value) if value is not None and value.is_integer() else value


FORMAT = Format(
    name="judgments",
    title="Judgments in our own form, with words as scores (--scale)",
    expects="columns item, system and score, with words among the scores",
    recognises=_recognises,
    convert=_convert,
    columns=("item", "system", "rater", "prompt", "score"),
)
