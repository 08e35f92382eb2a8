"""Values: what the answer of one widget may look like, whoever sent it."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from steelyard.collect.tasks.scores import Content
from steelyard.collect.tasks.widgets import (
    Comment,
    Confirm,
    Gate,
    Likert,
    Passages,
    PostEdit,
    Preference,
    Slider,
    Spans,
    Widget,
)

__all__ = ["is_storable", "value_problem"]


def value_problem(widget: Widget, content: Content, value: Any) -> str | None:
    """Say what is wrong with a value; None if nothing is.

    Parameters
    ----------
    widget : Widget
        What was asked.
    content : mapping
        What was shown.
    value : object
        Any JSON value but null, from anybody.

    Returns
    -------
    str or None
        A sentence for the rater.
    """
    return _CHECKS[type(widget)](widget, content, value)


def is_storable(value: Any) -> bool:
    """Tell whether every text in a JSON value can be written to a database, as UTF-8.

    Lone surrogates cannot be encoded, and PostgreSQL takes no character 0.

    Examples
    --------
    >>> is_storable({"edit": ["fine", 1]}), is_storable([chr(0xD800)]), is_storable({chr(0): 1})
    (True, False, False)
    """
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list):
            waiting += part
        elif isinstance(part, str) and not _is_text(part):
            return False
    return True


def _is_text(value: object) -> bool:
    if not isinstance(value, str) or "\0" in value:
        return False
    # cheaper than encoding: surrogates are one block of code points
    return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _choice(widget: Any, _content: Content, value: Any) -> str | None:
    names = [choice.value for choice in widget.choices]
    is_kind = _is_number(value) if isinstance(widget, Likert) else isinstance(value, str)
    return None if is_kind and value in names else "Choose one of the answers."


def _number(widget: Any, _content: Content, value: Any) -> str | None:
    # also false for NaN; whole numbers of any size are compared exactly
    if not _is_number(value) or not widget.min <= value <= widget.max:
        return f"Choose a number from {widget.min:g} to {widget.max:g}."
    steps = (value - widget.min) / widget.step
    if abs(steps - round(steps)) > 1e-6:
        return f"Choose a number in steps of {widget.step:g}."
    return None


def _preference(widget: Any, _content: Content, value: Any) -> str | None:
    names = ("first", "second", *(["tie"] if widget.tie else []))
    return None if isinstance(value, str) and value in names else "Choose one of the answers."


def _edited(widget: Any, content: Content, value: Any) -> str | None:
    if not _is_text(value):
        return "The text has characters that cannot be kept."
    most = max(widget.max, 2 * len(content[widget.field]))
    return None if len(value) <= most else f"The text must have at most {most} characters."


def _comment(widget: Any, _content: Content, value: Any) -> str | None:
    if not _is_text(value):
        return "The text has characters that cannot be kept."
    if len(value) > widget.max:
        return f"The text must have at most {widget.max} characters."
    return None


def _confirm(_widget: Any, _content: Content, value: Any) -> str | None:
    return None if value is True else "Confirm, or change an earlier answer."


def _passages(widget: Any, content: Content, value: Any) -> str | None:
    texts = content[widget.field]
    if not isinstance(value, list) or len(value) != len(texts):
        return f"Give a verdict on each of the {len(texts)} passages."
    for position, (text, entry) in enumerate(zip(texts, value, strict=True), start=1):
        problem = _passage(widget, text, entry)
        if problem is not None:
            return f"Passage {position}: {problem}"
    return None


def _passage(widget: Passages, text: str, entry: Any) -> str | None:
    if not isinstance(entry, dict) or not entry.keys() <= {"verdict", "highlights", "confirmed"}:
        return "give a verdict."
    verdict, highlights = entry.get("verdict"), entry.get("highlights", [])
    known = {choice.value: choice for choice in widget.verdicts}
    if not isinstance(verdict, str) or verdict not in known:
        return "give a verdict."
    problem = _ordered(text, highlights)
    if problem is not None:
        return problem
    if known[verdict].highlight and not highlights:
        return "highlight at least one stretch that justifies the verdict."
    confirmed = entry.get("confirmed", False)
    if not isinstance(confirmed, bool) or (widget.read_back(verdict) and not confirmed):
        return "confirm what is read back."
    return None


def _ordered(text: str, highlights: Any) -> str | None:
    """Check stretches: each within the text, in order, and none over another."""
    if not isinstance(highlights, list):
        return "the highlights must be a list."
    # more than there are characters cannot be apart
    if len(highlights) > len(text):
        return "highlights must not overlap."
    for stretch in highlights:
        if not isinstance(stretch, list) or len(stretch) != 2 or not _lies_in(text, *stretch):
            return "a highlight must lie within the text."
    if any(before[1] > after[0] for before, after in pairwise(highlights)):
        return "highlights must be in order and must not overlap."
    return None


def _lies_in(text: str, start: Any, end: Any) -> bool:
    return _is_whole(start) and _is_whole(end) and 0 <= start < end <= len(text)


def _spans(widget: Any, content: Content, value: Any) -> str | None:
    if not isinstance(value, list):
        return "The errors must be a list."
    if len(value) > widget.most:
        return f"Mark at most {widget.most} errors."
    text = content[widget.field]
    assert isinstance(text, str)
    for position, entry in enumerate(value, start=1):
        problem = _span(widget, text, entry)
        if problem is not None:
            return f"Error {position}: {problem}"
    ordered = sorted((entry["start"], entry["end"]) for entry in value)
    if any(before[1] > after[0] for before, after in pairwise(ordered)):
        return "Errors must not overlap."
    return None


def _span(widget: Spans, text: str, entry: Any) -> str | None:
    if not isinstance(entry, dict) or not entry.keys() <= {"start", "end", "severity", "category"}:
        return "mark a stretch of the text."
    if not _lies_in(text, entry.get("start"), entry.get("end")):
        return "mark a stretch of the text."
    severity, category = entry.get("severity"), entry.get("category")
    if not isinstance(severity, str) or severity not in [one.value for one in widget.severities]:
        return "choose a severity."
    if category is None or (isinstance(category, str) and category in widget.categories):
        return None
    return "choose a category."


_CHECKS: Mapping[type[Widget], Callable[[Any, Content, Any], str | None]] = {
    Likert: _choice,
    Gate: _choice,
    Slider: _number,
    Preference: _preference,
    PostEdit: _edited,
    Comment: _comment,
    Confirm: _confirm,
    Passages: _passages,
    Spans: _spans,
}
