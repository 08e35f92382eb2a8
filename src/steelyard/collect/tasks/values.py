"""Values: what the answer of one widget may look like, whoever sent it."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from steelyard.collect.config.wording import phrase
from steelyard.collect.tasks.scores import Content
from steelyard.collect.tasks.screen import letters_in
from steelyard.collect.tasks.spans import lies_in, spans_problem
from steelyard.collect.tasks.widgets import (
    Comment,
    Confirm,
    Gate,
    Likert,
    Passages,
    PostEdit,
    Preference,
    Ranking,
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


def _choice(widget: Any, _content: Content, value: Any) -> str | None:
    names = [choice.value for choice in widget.choices]
    is_kind = _is_number(value) if isinstance(widget, Likert) else isinstance(value, str)
    return None if is_kind and value in names else phrase("choose-one")


def _number(widget: Any, _content: Content, value: Any) -> str | None:
    # also false for NaN; whole numbers of any size are compared exactly
    if not _is_number(value) or not widget.min <= value <= widget.max:
        return phrase("number-from-to", low=f"{widget.min:g}", high=f"{widget.max:g}")
    steps = (value - widget.min) / widget.step
    if abs(steps - round(steps)) > 1e-6:
        return phrase("number-steps", step=f"{widget.step:g}")
    return None


def _preference(widget: Any, _content: Content, value: Any) -> str | None:
    names = ("first", "second", *(["tie"] if widget.ties else []))
    return None if isinstance(value, str) and value in names else phrase("choose-one")


def _ranking(widget: Any, content: Content, value: Any) -> str | None:
    letters = letters_in(content)
    if not isinstance(value, dict) or value.keys() != set(letters):
        return phrase("place-for-each")
    places = list(value.values())
    if not all(type(place) is int and 1 <= place <= len(letters) for place in places):
        return phrase("place-for-each")
    return None if widget.ties or len(set(places)) == len(places) else phrase("places-differ")


def _edited(widget: Any, content: Content, value: Any) -> str | None:
    if not _is_text(value):
        return phrase("text-not-kept")
    most = max(widget.longest, 2 * len(content[widget.field]))
    return None if len(value) <= most else phrase("text-at-most", n=most)


def _comment(widget: Any, _content: Content, value: Any) -> str | None:
    if not _is_text(value):
        return phrase("text-not-kept")
    if len(value) > widget.longest:
        return phrase("text-at-most", n=widget.longest)
    return None


def _confirm(_widget: Any, _content: Content, value: Any) -> str | None:
    return None if value is True else phrase("confirm-or-change")


def _passages(widget: Any, content: Content, value: Any) -> str | None:
    texts = content[widget.field]
    if not isinstance(value, list) or len(value) != len(texts):
        return phrase("verdict-on-each", n=len(texts))
    for position, (text, entry) in enumerate(zip(texts, value, strict=True), start=1):
        problem = _passage(widget, text, entry)
        if problem is not None:
            return phrase("passage-problem", n=position, problem=problem)
    return None


def _passage(widget: Passages, text: str, entry: Any) -> str | None:
    if not isinstance(entry, dict) or not entry.keys() <= {"verdict", "highlights", "confirmed"}:
        return phrase("give-verdict")
    verdict, highlights = entry.get("verdict"), entry.get("highlights", [])
    known = {choice.value: choice for choice in widget.verdicts}
    if not isinstance(verdict, str) or verdict not in known:
        return phrase("give-verdict")
    problem = _ordered(text, highlights)
    if problem is not None:
        return problem
    if known[verdict].highlight and not highlights:
        return phrase("highlight-stretch")
    confirmed = entry.get("confirmed", False)
    if not isinstance(confirmed, bool) or (widget.read_back(verdict) and not confirmed):
        return phrase("confirm-read-back")
    return None


def _ordered(text: str, highlights: Any) -> str | None:
    """Check stretches: each within the text, in order, and none over another."""
    if not isinstance(highlights, list):
        return phrase("highlights-list")
    # more than there are characters cannot be apart
    if len(highlights) > len(text):
        return phrase("highlights-overlap")
    for stretch in highlights:
        if not isinstance(stretch, list) or len(stretch) != 2 or not lies_in(text, *stretch):
            return phrase("highlight-within")
    if any(before[1] > after[0] for before, after in pairwise(highlights)):
        return phrase("highlights-order")
    return None


_CHECKS: Mapping[type[Widget], Callable[[Any, Content, Any], str | None]] = {
    Likert: _choice,
    Gate: _choice,
    Slider: _number,
    Preference: _preference,
    Ranking: _ranking,
    PostEdit: _edited,
    Comment: _comment,
    Confirm: _confirm,
    Passages: _passages,
    Spans: spans_problem,
}
