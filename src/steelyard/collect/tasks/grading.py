"""Grading: whether an answer is one of those accepted, in a tutorial or for a gold item.

What is accepted depends on the widget:

- likert, gate, preference: a value or a list of values;
- slider: a value, or ``{min, max}``, or a list of these;
- post-edit: a text, which must be met but for case, spaces and the mark at the end, or
  ``{has: [...], lacks: [...], most: share}``: phrases that must and must not be there, and the
  largest edit distance; or a list of these;
- passages: for each passage ``{verdict, quotes}``: one or more verdicts, and stretches of the passage
  of which the highlights must touch one;
- ranking: a whole number for two or more of the letters: one with a smaller number must stand before one with a
  larger number; those with the same number, or without one, may stand anywhere;
- spans: errors as ``{quote, severity, category}``, or ``{missing: true, ...}`` for what is not there; each
  must be met by a mark, and every mark must meet one; an empty list means that there is no error.
"""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

from pydantic_core import PydanticCustomError

from steelyard.collect.config.declared import mistake, one_of, shown
from steelyard.collect.config.yaml_lines import KeyPath
from steelyard.collect.tasks.choices import plain
from steelyard.collect.tasks.scores import Content, edit_distance
from steelyard.collect.tasks.screen import letters_in
from steelyard.collect.tasks.values import value_problem
from steelyard.collect.tasks.widgets import (
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

__all__ = ["check_accepted", "is_accepted"]


def is_accepted(widget: Widget, content: Content, accepted: Any, value: Any) -> bool:
    """Tell whether a value is among those accepted.

    Parameters
    ----------
    widget : Widget
        What was asked.
    content : mapping
        What was shown.
    accepted : object
        What is accepted, as `check_accepted` lets pass.
    value : object
        The answer: any JSON value.

    Returns
    -------
    bool
    """
    if value is None or value_problem(widget, content, value) is not None:
        return False
    if isinstance(widget, Passages):
        texts = content[widget.field]
        return all(map(_passage_is_accepted, texts, accepted, value))
    if isinstance(widget, Ranking):
        return all(value[before] < value[behind] for before, behind in _known_order(accepted))
    if isinstance(widget, Spans):
        return _spans_are_accepted(_text(content, widget.field), accepted, value)
    if isinstance(widget, PostEdit):
        original = _text(content, widget.field)
        return any(_edit_is_accepted(original, one, value) for one in _entries(accepted))
    return any(
        one["min"] <= value <= one["max"] if isinstance(one, dict) else one == value
        for one in _entries(accepted)
    )


def check_accepted(widget: Widget, content: Content, accepted: Any) -> None:
    """Raise unless what is accepted is possible.

    Raises
    ------
    PydanticCustomError
        With the path below ``answer``.
    """
    if isinstance(widget, Passages):
        _check_passages(widget, content, accepted)
    elif isinstance(widget, Spans):
        _check_spans(widget, _text(content, widget.field), accepted)
    elif isinstance(widget, Ranking):
        _check_order(content, accepted)
    elif isinstance(widget, Likert | Gate | Slider | Preference | PostEdit):
        entries = _entries(accepted)
        if not entries:
            raise _wrong((), "must accept at least one value")
        for position, entry in enumerate(entries):
            path = (position,) if isinstance(accepted, list) else ()
            _check_entry(widget, content, entry, path)
    else:
        raise _wrong((), f"a widget of kind {widget.kind} has no right answer: ask another")


def _check_entry(widget: Widget, content: Content, entry: Any, path: KeyPath) -> None:
    if isinstance(widget, PostEdit) and isinstance(entry, dict):
        _check_edit(entry, path)
    elif isinstance(widget, Slider) and isinstance(entry, dict):
        if set(entry) != {"min", "max"}:
            raise _wrong(path, "must have the keys min and max")
        for key in ("min", "max"):
            if value_problem(widget, content, entry[key]):
                raise _wrong((*path, key), f"must lie on the slider; got {shown(entry[key])}")
    elif value_problem(widget, content, entry) is not None:
        choices = ", ".join(str(plain(choice.value)) for choice in widget.choices)
        expected = f"; expected one of {choices}" if choices else ""
        raise _wrong(path, f"{shown(entry)} is not an answer to {widget.id}{expected}")


def _check_edit(entry: Mapping[str, Any], path: KeyPath) -> None:
    known = ("has", "lacks", "most")
    for key in entry:
        if key not in known:
            raise _wrong((*path, key), f"is not a key here; {one_of(key, known)}")
    for key in ("has", "lacks"):
        phrases = entry.get(key, [])
        if not isinstance(phrases, list) or not all(isinstance(one, str) for one in phrases):
            raise _wrong((*path, key), f"must be a list of texts; got {shown(phrases)}")
    most = entry.get("most", 1.0)
    if isinstance(most, bool) or not isinstance(most, int | float):
        raise _wrong((*path, "most"), f"must be a number; got {shown(most)}")


def _check_passages(widget: Passages, content: Content, accepted: Any) -> None:
    texts = content[widget.field]
    if not isinstance(accepted, list) or len(accepted) != len(texts):
        raise _wrong((), f"must have an entry for each of the {len(texts)} passages")
    verdicts = {verdict.value: verdict for verdict in widget.verdicts}
    for position, (text, entry) in enumerate(zip(texts, accepted, strict=True)):
        if not isinstance(entry, dict) or not {"verdict"} <= set(entry) <= {"verdict", "quotes"}:
            raise _wrong((position,), "must have the key verdict and may have quotes")
        for name in _entries(entry["verdict"]):
            if not isinstance(name, str) or name not in verdicts:
                raise _wrong(
                    (position, "verdict"),
                    f"{shown(name)} is not a verdict; {one_of(name, verdicts)}",
                )
        _check_quotes(text, entry.get("quotes", []), (position, "quotes"))


def _check_quotes(text: str, quotes: Any, path: KeyPath) -> None:
    if not isinstance(quotes, list):
        raise _wrong(path, f"must be a list of texts; got {shown(quotes)}")
    for position, quote in enumerate(quotes):
        if not isinstance(quote, str) or not quote or quote not in text:
            raise _wrong((*path, position), f"must be a stretch of the text; got {shown(quote)}")


def _check_spans(widget: Spans, text: str, accepted: Any) -> None:
    if not isinstance(accepted, list):
        raise _wrong((), f"must be a list of errors; got {shown(accepted)}")
    severities = [severity.value for severity in widget.severities]
    for position, error in enumerate(accepted):
        place = "missing" if isinstance(error, dict) and "missing" in error else "quote"
        if not isinstance(error, dict) or not {place} <= set(error) <= {
            place,
            "severity",
            "category",
        }:
            raise _wrong(
                (position,),
                "must have the key quote or missing, and may have severity and category",
            )
        if place == "quote":
            _check_quotes(text, [error["quote"]], (position, "quote"))
        elif not (widget.missing and error["missing"] is True):
            raise _wrong((position, "missing"), f"must be true, and {widget.id} must allow it")
        for key, known in (("severity", severities), ("category", widget.kinds)):
            for name in _entries(error.get(key, [])):
                if name not in known:
                    raise _wrong(
                        (position, key), f"{shown(name)} is not known; {one_of(name, known)}"
                    )


def _passage_is_accepted(text: str, accepted: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    if value["verdict"] not in _entries(accepted["verdict"]):
        return False
    quotes = accepted.get("quotes")
    marked = value.get("highlights", [])
    return (
        not quotes
        or not marked
        or any(_touches(text, quote, start, end) for quote in quotes for start, end in marked)
    )


def _spans_are_accepted(
    text: str, accepted: Sequence[Mapping[str, Any]], value: Sequence[Mapping[str, Any]]
) -> bool:
    def meets(error: Mapping[str, Any], span: Mapping[str, Any]) -> bool:
        if ("missing" in error) != (span.get("missing") is not None):
            return False
        touched = "missing" in error or _touches(text, error["quote"], span["start"], span["end"])
        return touched and all(
            key not in error or span.get(key) in _entries(error[key])
            for key in ("severity", "category")
        )

    return all(any(meets(error, span) for span in value) for error in accepted) and all(
        any(meets(error, span) for error in accepted) for span in value
    )


def _touches(text: str, quote: str, start: int, end: int) -> bool:
    """Whether a stretch shares a character with some place where the quotation stands."""
    at = text.find(quote)
    while at >= 0:
        if start < at + len(quote) and at < end:
            return True
        at = text.find(quote, at + 1)
    return False


def _edit_is_accepted(original: str, accepted: str | Mapping[str, Any], value: str) -> bool:
    text = _loose(value)
    if isinstance(accepted, str):
        return text == _loose(accepted)
    return (
        all(_loose(phrase) in text for phrase in accepted.get("has", ()))
        and not any(_loose(phrase) in text for phrase in accepted.get("lacks", ()))
        and edit_distance(original, value) <= accepted.get("most", 1.0)
    )


def _loose(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!? ")


def _known_order(numbers: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return which letters must stand before which: those with a smaller number.

    Examples
    --------
    >>> _known_order({"A": 2, "B": 1, "C": 2})
    [('B', 'A'), ('B', 'C')]
    """
    return [
        (before, behind)
        for before, behind in permutations(numbers, 2)
        if numbers[before] < numbers[behind]
    ]


def _check_order(content: Content, accepted: Any) -> None:
    """Raise unless what is known of an order names letters, of which one is before another."""
    letters = letters_in(content)
    if not isinstance(accepted, dict) or not set(accepted) <= set(letters):
        raise _wrong((), f"must name letters that are shown; got {shown(accepted)}")
    for letter, number in accepted.items():
        if type(number) is not int or number < 1:
            raise _wrong((letter,), f"must be a whole number from 1; got {shown(number)}")
    if not _known_order(accepted):
        raise _wrong(
            (),
            "must have two different numbers: an order is of one output before another",
        )


def _entries(accepted: Any) -> list[Any]:
    return accepted if isinstance(accepted, list) else [accepted]


def _text(content: Content, field: str) -> str:
    text = content[field]
    assert isinstance(text, str)
    return text


def _wrong(path: KeyPath, message: str) -> PydanticCustomError:
    return mistake(("answer", *path), message)
