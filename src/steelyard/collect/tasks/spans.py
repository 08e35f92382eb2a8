"""Errors marked in a text: what an answer may hold, and what may be suggested to begin with."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from steelyard.collect.config.declared import one_of, shown
from steelyard.collect.config.wording import phrase
from steelyard.collect.tasks.widgets import Spans

__all__ = [
    "is_whole",
    "lies_in",
    "read_suggestions",
    "spans_problem",
    "suggestion_problem",
]

_MARK = {"start", "end"}
_KIND = {"severity", "category", "missing"}


def spans_problem(widget: Spans, content: Mapping[str, Any], value: Any) -> str | None:
    """Say what is wrong with the errors of an answer, in a sentence for the rater."""
    if not isinstance(value, list):
        return phrase("errors-list")
    if len(value) > widget.most:
        return phrase("at-most-errors", n=widget.most)
    text = content[widget.field]
    assert isinstance(text, str)
    offered = len(content.get(widget.suggested) or ()) if widget.suggested else 0
    for position, entry in enumerate(value, start=1):
        problem = _error(widget, text, entry, offered)
        if problem is not None:
            return phrase("error-problem", n=position, problem=problem)
    if _overlap(value):
        return phrase("errors-overlap")
    kept = [entry["suggested"] for entry in value if entry.get("suggested") is not None]
    return phrase("suggestion-twice") if len(set(kept)) < len(kept) else None


def _error(widget: Spans, text: str, entry: Any, offered: int) -> str | None:
    if not isinstance(entry, dict) or not entry.keys() <= {*_MARK, *_KIND, "suggested"}:
        return phrase("mark-stretch")
    if not _has_place(widget, text, entry):
        return phrase("mark-stretch")
    severity, category = entry.get("severity"), entry.get("category")
    if not isinstance(severity, str) or severity not in [one.value for one in widget.severities]:
        return phrase("choose-severity")
    is_known = isinstance(category, str) and category in widget.kinds
    if not is_known and (category is not None or bool(widget.categories)):
        return phrase("choose-category")
    number = entry.get("suggested")
    if number is None or (is_whole(number) and 0 <= number < offered):
        return None
    return phrase("no-such-suggestion")


def _has_place(widget: Spans, text: str, entry: Mapping[str, Any]) -> bool:
    """Whether an error has a stretch of the text, or says that something is missing."""
    if entry.get("missing") is None:
        return lies_in(text, entry.get("start"), entry.get("end"))
    is_without = entry.get("start") is None and entry.get("end") is None
    return widget.missing and entry["missing"] is True and is_without


def _overlap(errors: Sequence[Mapping[str, Any]]) -> bool:
    marks = sorted(
        (entry["start"], entry["end"]) for entry in errors if entry.get("missing") is None
    )
    return any(before[1] > after[0] for before, after in pairwise(marks))


def lies_in(text: str, start: Any, end: Any) -> bool:
    """Whether two offsets are a stretch of a text."""
    return is_whole(start) and is_whole(end) and 0 <= start < end <= len(text)


def is_whole(value: object) -> bool:
    """Whether a JSON value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def read_suggestions(value: Any) -> Any:
    """Return suggested errors as a list of objects, without keys that say nothing.

    A text file holds them as JSON in a cell. Where several rows have different keys, those that a
    row lacks are read as null. Anything else is returned as it is, for `suggestion_problem`.

    Examples
    --------
    >>> read_suggestions('[{"start": 0, "end": 3, "severity": "major"}]')
    [{'start': 0, 'end': 3, 'severity': 'major'}]
    >>> read_suggestions(None), read_suggestions([{"missing": True, "start": None}])
    ([], [{'missing': True}])
    """
    if value is None or value == "":
        return []
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            return value
    if not isinstance(value, list):
        return value
    return [
        {key: part for key, part in one.items() if part is not None and part is not False}
        if isinstance(one, dict)
        else one
        for one in value
    ]


def suggestion_problem(widget: Spans, content: Mapping[str, Any], value: Any) -> str | None:
    """Say what is wrong with suggested errors, to whoever made the file; None if nothing is."""
    name = f"`{widget.suggested}`"
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return f"{name} must be a list of errors, each with start, end and severity; got {shown(value)}"
    if len(value) > widget.most:
        return f"{name} has {len(value)} errors, and {widget.id} takes at most {widget.most}"
    text = content[widget.field]
    for position, entry in enumerate(value, start=1):
        problem = _suggested(widget, text, entry)
        if problem is not None:
            return f"{name}, error {position}: {problem}"
    return f"{name} has errors that overlap" if _overlap(value) else None


def _suggested(widget: Spans, text: str, entry: Mapping[str, Any]) -> str | None:
    for key in entry:
        if key not in {*_MARK, *_KIND}:
            return f"{shown(key)} is not a key here; {one_of(key, sorted({*_MARK, *_KIND}))}"
    if "missing" in entry and not widget.missing:
        return f"says that something is missing: set `missing: true` for {widget.id}"
    if not _has_place(widget, text, entry):
        return f"must have a start and an end in the {len(text)} characters of `{widget.field}`"
    for key, known in (
        ("severity", [one.value for one in widget.severities]),
        ("category", widget.kinds),
    ):
        if entry.get(key) is not None and entry[key] not in known:
            return f"{key} {shown(entry[key])} is not known; {one_of(entry[key], known)}"
    return None
