"""Error annotations of translations in the WMT MQM form: tab-separated, one row per error."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.errors import InvalidDataError
from steelyard.foreign.documents import ToolFile
from steelyard.foreign.format import Format
from steelyard.foreign.gathered import Gathered

__all__ = ["FORMAT", "USUAL_WEIGHTS", "error_weight"]

_COLUMNS = ("system", "doc", "rater", "source", "target", "category", "severity")
_MARK = re.compile(r"</?v>")
USUAL_WEIGHTS = "major 5, minor 1, punctuation 0.1, non-translation 25"
# Minus points, the most specific first, as mt-metrics-eval has them by default.
_WEIGHTS = (
    ("major", "non-translation!", 25.0),
    ("minor", "fluency/punctuation", 0.1),
    ("major", "", 5.0),
    ("minor", "", 1.0),
)


def error_weight(severity: str, category: str) -> float:
    """Return the minus points of an error.

    Examples
    --------
    >>> error_weight("Major", "Accuracy/Omission"), error_weight("minor", "Fluency/Punctuation")
    (5.0, 0.1)
    >>> error_weight("No-error", "No-error")
    0.0
    """
    level, kind = severity.strip().casefold(), category.strip().casefold()
    matches = (worth for at, of, worth in _WEIGHTS if level == at and kind.startswith(of))
    return next(matches, 0.0)


def _recognises(document: ToolFile) -> bool:
    return document.kind == "table" and document.has(*_COLUMNS)


def _read(gathered: Gathered, documents: Sequence[ToolFile]) -> None:
    weighted = all(document.has("weight") for document in documents)
    points_of = "as the column weight says" if weighted else USUAL_WEIGHTS
    gathered.remark(f"the score is minus the points of a rater's errors: {points_of}")
    points: dict[tuple[str, str, str], float] = {}
    for document in documents:
        for row in _rows(document):
            segment = row.get("doc_id") or row.get("seg_id")
            key = row.get("item") or f"{row['doc']}/{segment}", row["system"]
            gathered.output(
                *key,
                _MARK.sub("", row["target"]),
                input=_MARK.sub("", row["source"]),
                cluster=row["doc"],
                again=True,
            )
            whose = (*key, row["rater"])
            worth = _worth(document, row)
            if (
                "weight" not in row
                and not worth
                and row["severity"].casefold() not in ("no-error", "neutral", "none")
            ):
                gathered.drop(f"errors of severity {row['severity'][:20]!r}, which has no weight")
            points[whose] = points.get(whose, 0.0) + worth
    for (item, system, rater), lost in points.items():
        gathered.judgment(item, system, rater, "mqm", -lost or 0.0)


def _worth(document: ToolFile, row: Mapping[str, Any]) -> float:
    """Return the points of an error: those of the file, if it has them."""
    if "weight" not in row:
        return error_weight(row["severity"], row["category"])
    try:
        worth = float(row["weight"])
    except ValueError:
        worth = -1.0
    if not 0 <= worth < math.inf:
        raise InvalidDataError(
            f"{document.path}, column weight: expected a number of 0 or more, got {row['weight']!r}"
        )
    return worth


def _rows(document: ToolFile) -> list[dict[str, Any]]:
    """Split at tabs alone: quotation marks are part of the texts."""
    header, *lines = [line for line in document.text.split("\n") if line.strip()]
    names = header.rstrip("\r").split("\t")
    if len(names) < len(_COLUMNS):
        raise InvalidDataError(f"{document.path}: expected tabs between the columns")
    found = []
    for number, line in enumerate(lines, start=2):
        cells = line.rstrip("\r").split("\t")
        if not len(names) - 1 <= len(cells) <= len(names):
            raise InvalidDataError(
                f"{document.path}, line {number}: expected {len(names)} fields, got {len(cells)}"
            )
        found.append(dict(zip(names, [*cells, ""], strict=False)))
    return found


FORMAT = Format(
    name="wmt-mqm",
    title="WMT MQM error annotations (.tsv)",
    expects=f"tab-separated columns {', '.join(_COLUMNS)}",
    recognises=_recognises,
    read=_read,
    way_out="convert one file at a time",
)
