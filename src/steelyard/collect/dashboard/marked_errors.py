"""Errors that raters marked, one row each, and the same in the form of WMT's MQM files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.store import Reader
from steelyard.collect.store.records import SubmissionRow, submission_rows
from steelyard.collect.tasks import visible_widgets
from steelyard.collect.tasks.widgets import Spans

__all__ = ["marked_errors", "mqm_tsv"]

_SCHEMA = {
    "item": pl.String,
    "system": pl.String,
    "rater": pl.String,
    "question": pl.String,
    "start": pl.Int64,
    "end": pl.Int64,
    "text": pl.String,
    "missing": pl.Boolean,
    "severity": pl.String,
    "category": pl.String,
    "weight": pl.Float64,
    "origin": pl.String,
    "submission": pl.Int64,
}
_MQM = ("item", "system", "doc", "doc_id", "rater", "source", "target")
_MQM_ERROR = ("category", "severity", "weight", "question")
_CLEAN = ("no-error", "no-error", "0", "")
_OMISSION = "Accuracy/Omission"
_KEPT = ("start", "end", "missing", "severity", "category")


@dataclass(frozen=True, slots=True)
class _Judged:
    """What one rater said of one output."""

    item: str
    system: str
    rater: str
    document: str | None
    row: SubmissionRow


def marked_errors(store: Reader, campaign: Campaign, judged: pl.DataFrame) -> pl.DataFrame:
    """Return every error that was marked, with its place in code points.

    Parameters
    ----------
    store, campaign
        As in `steelyard.collect.dashboard.exports.export`.
    judged : polars.DataFrame
        The judgments whose errors to return.

    Returns
    -------
    polars.DataFrame
        ``origin`` is "rater", "suggested" for a suggestion that was kept as it was, "changed" for one
        that was kept otherwise, and "removed" for one that was not kept, which counts nothing.
    """
    rows = [
        {
            "item": one.item,
            "system": one.system,
            "rater": one.rater,
            "submission": one.row.id,
            **row,
        }
        for one in _judged(store, judged)
        for name, widget in _spans(campaign, one.row).items()
        for row in _rows(name, widget, one.row)
    ]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def mqm_tsv(store: Reader, campaign: Campaign, judged: pl.DataFrame) -> str:
    """Return the same as a table between tabs, as WMT's MQM files are.

    A row is an error, marked in ``target`` by ``<v>`` and ``</v>``; an output without one has a row
    too. ``weight`` is what the error counts here, so that scores read back as they were given.
    """
    lines: list[tuple[str, ...]] = [(*_MQM, *_MQM_ERROR)]
    places: dict[tuple[str, str, str], int] = {}
    for one in _judged(store, judged):
        document = one.document or one.item
        # segments of a document are judged in its order
        whose = (one.system, one.rater, document)
        places[whose] = places.get(whose, 0) + 1
        head = (one.item, one.system, document, str(places[whose]), one.rater)
        source = str(one.row.content.get("input", ""))
        found = list(_mqm_errors(campaign, one.row))
        target = str(one.row.content.get("output", ""))
        lines += [
            tuple(map(_cell, (*head, source, marked, *error)))
            for marked, *error in found or [(target, *_CLEAN)]
        ]
    return "".join("\t".join(line) + "\n" for line in lines)


def _judged(store: Reader, judged: pl.DataFrame) -> Iterator[_Judged]:
    answers = {row.id: row for row in store.read(submission_rows)}
    documents = "cluster" in judged.columns
    names = ["submission", "item", "system", "rater", *(["cluster"] if documents else [])]
    for row in judged.select(names).unique(maintain_order=True).iter_rows(named=True):
        submission = answers[row["submission"]]
        yield _Judged(row["item"], row["system"], row["rater"], row.get("cluster"), submission)


def _spans(campaign: Campaign, row: SubmissionRow) -> dict[str, Spans]:
    shown = visible_widgets(campaign.task, row.answer).items()
    return {name: widget for name, widget in shown if isinstance(widget, Spans)}


def _rows(name: str, widget: Spans, row: SubmissionRow) -> Iterator[dict[str, Any]]:
    text = row.content[widget.field]
    offered = row.content.get(widget.suggested, []) if widget.suggested else []
    errors = row.answer.get(name) or []
    for error in errors:
        weight = widget.weight(error)
        yield _row(name, text, error, origin=_origin(error, offered), weight=weight)
    kept = {error.get("suggested") for error in errors}
    for number, error in enumerate(offered):
        if number not in kept:
            yield _row(name, text, error, origin="removed", weight=0.0)


def _row(
    name: str, text: str, error: Mapping[str, Any], *, origin: str, weight: float
) -> dict[str, Any]:
    missing = bool(error.get("missing"))
    return {
        "question": name,
        "start": error.get("start"),
        "end": error.get("end"),
        "text": None if missing else text[error["start"] : error["end"]],
        "missing": missing,
        "severity": error.get("severity"),
        "category": error.get("category"),
        "weight": weight,
        "origin": origin,
    }


def _origin(error: Mapping[str, Any], offered: list[Mapping[str, Any]]) -> str:
    number = error.get("suggested")
    if number is None:
        return "rater"
    before = offered[number]
    same = all(error.get(key) == before.get(key) for key in _KEPT)
    return "suggested" if same else "changed"


def _mqm_errors(campaign: Campaign, row: SubmissionRow) -> Iterator[tuple[str, ...]]:
    target = str(row.content.get("output", ""))
    for name, widget in _spans(campaign, row).items():
        for error in row.answer.get(name) or []:
            missing = bool(error.get("missing"))
            text = target
            if not missing and widget.field == "output":
                start, end = error["start"], error["end"]
                text = f"{target[:start]}<v>{target[start:end]}</v>{target[end:]}"
            kind = error.get("category") or (_OMISSION if missing else "")
            yield text, kind, error["severity"], f"{widget.weight(error):g}", name


def _cell(text: str) -> str:
    """Return a text without what would end a cell."""
    return " ".join(text.replace("\t", "\n").splitlines())
