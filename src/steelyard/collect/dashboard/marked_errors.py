"""Errors that raters marked, one row each."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.store import Reader
from steelyard.collect.store.records import SubmissionRow, submission_rows
from steelyard.collect.tasks import visible_widgets
from steelyard.collect.tasks.widgets import Spans

__all__ = ["marked_errors"]

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
_KEPT = ("start", "end", "missing", "severity", "category")


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
    answers = {row.id: row for row in store.read(submission_rows)}
    whose = judged.select("item", "system", "rater", "submission").unique(maintain_order=True)
    rows = [
        known | row
        for known in whose.iter_rows(named=True)
        for answer in [answers[known["submission"]]]
        for name, widget in _spans(campaign, answer).items()
        for row in _rows(name, widget, answer)
    ]
    return pl.DataFrame(rows, schema=_SCHEMA)


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
