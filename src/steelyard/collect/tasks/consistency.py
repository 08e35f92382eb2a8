"""Consistency: that the parts of a task fit together. Each check raises at the key that does not."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticCustomError

from steelyard.collect.config.declared import mistake, one_of, shown
from steelyard.collect.config.yaml_lines import KeyPath
from steelyard.collect.tasks.conditions import leaves
from steelyard.collect.tasks.scores import RULES
from steelyard.collect.tasks.widgets import (
    Gate,
    Likert,
    Passages,
    PostEdit,
    Preference,
    Slider,
    Spans,
    Widget,
    placeholders,
)

if TYPE_CHECKING:
    from steelyard.collect.tasks.task import Task

__all__ = [
    "check_questions",
    "check_scores",
    "check_show",
    "check_tutorial",
    "check_widgets",
    "field_of",
]

# What a rater must not know.
_HIDDEN = ("system", "systems")
_PAIR = ("first", "second")
_MATH = ("text", "markdown", "dialogue")
_FILES = ("image", "audio", "video")
_ORDERED = ("<", "<=", ">", ">=")


def field_of(widget: Widget) -> str | None:
    """Return the field of the content that a widget works on; None if it works on none."""
    return widget.field if isinstance(widget, PostEdit | Passages | Spans) else None


def check_show(task: "Task") -> None:
    """Raise unless each field is shown once, and a pair shows both its outputs."""
    names = [one.field for one in task.show]
    for position, name in enumerate(names):
        path = ("show", position, "field")
        if name in names[:position]:
            raise mistake(path, f"{name} is shown twice: keep one")
        if name in _HIDDEN:
            raise mistake(path, f"{name} must not be shown: raters judge texts, not systems")
        if task.show[position].math and task.show[position].format not in _MATH:
            raise mistake(
                ("show", position, "math"), f"goes with the formats {', '.join(_MATH)} only"
            )
        if task.pair and name == "output":
            raise mistake(path, "a pair has the fields first and second in place of output")
    for name in _PAIR if task.pair else ():
        if name not in names:
            raise mistake(("show",), f"must show the field {name}: the task is about pairs")


def check_widgets(task: "Task") -> None:
    """Raise unless ids differ, and conditions and texts refer to what is there before them."""
    paths: list[KeyPath] = [("widgets", place) for place in range(len(task.widgets))]
    check_questions(task.widgets, paths)
    before = {one.field for one in task.show}
    for widget, path in zip(task.widgets, paths, strict=True):
        _check_field(task, widget, path)
        _check_texts(widget, {*before, field_of(widget)} - {None}, path)
        before.add(widget.id)


def check_questions(widgets: Sequence[Widget], paths: Sequence[KeyPath]) -> None:
    """Raise unless ids differ, and conditions refer to what is asked before; `paths` are their places."""
    before: dict[str, Widget] = {}
    ids = [widget.id for widget in widgets]
    for widget, path in zip(widgets, paths, strict=True):
        if widget.id in before:
            first = ids.index(widget.id) + 1
            raise mistake(
                (*path, "id"), f"must differ from that of entry {first}; both are {widget.id}"
            )
        for key in ("when", "required"):
            condition = getattr(widget, key)
            if isinstance(condition, dict):
                _check_condition(condition, before, ids, (*path, key))
        before[widget.id] = widget


def check_scores(task: "Task") -> None:
    """Raise unless each score has its own prompt and a rule that fits its widget."""
    widgets = {widget.id: widget for widget in task.widgets}
    for position, score in enumerate(task.scores):
        path: KeyPath = ("scores", position)
        if score.prompt in task.prompts[:position]:
            first = task.prompts.index(score.prompt) + 1
            raise mistake(
                (*path, "prompt"),
                f"must differ from that of entry {first}; both are {shown(score.prompt)}",
            )
        widget = widgets.get(score.source)
        if widget is None:
            raise mistake(
                (*path, "from"), f"{score.source} is no widget; {one_of(score.source, widgets)}"
            )
        if not isinstance(widget, RULES[score.rule]):
            fitting = [name for name, kinds in RULES.items() if isinstance(widget, kinds)]
            raise mistake(
                (*path, "rule"),
                f"{score.rule} does not fit {widget.id}, which is of kind {widget.kind}; "
                + (f"expected {' or '.join(fitting)}" if fitting else "no rule does"),
            )
        _check_values(widget, (*path, "of"), score.of)
        _check_values(widget, (*path, "among"), score.among or ())


def check_tutorial(task: "Task") -> None:
    """Raise unless each question shows what its widget needs and accepts answers it can have."""
    widgets: dict[str, Widget] = {widget.id: widget for widget in task.widgets}
    for position, question in enumerate(task.tutorial.questions if task.tutorial else ()):
        path: KeyPath = ("tutorial", "questions", position)
        ask = question.ask
        if isinstance(ask, str) and ask not in widgets:
            raise mistake((*path, "ask"), f"{ask} is no widget; {one_of(ask, widgets)}")
        asked = widgets[ask] if isinstance(ask, str) else ask
        _check_shown(asked, question.content, path)
        try:
            question.resolve(widgets)
        except PydanticCustomError as error:
            context = error.context or {}
            raise mistake((*path, *context["path"]), str(context["message"])) from error


def _check_field(task: "Task", widget: Widget, path: KeyPath) -> None:
    field = field_of(widget)
    if isinstance(widget, Preference) and not task.pair:
        raise mistake((*path, "kind"), "a preference is between two outputs: set `pair: true`")
    if field in _HIDDEN:
        raise mistake((*path, "field"), f"{field} must not be shown: raters judge texts")
    if field in [one.field for one in task.show if one.format in _FILES]:
        raise mistake((*path, "field"), f"{field} is shown as a file: there is no text to work on")
    if isinstance(widget, Spans) and widget.suggested is not None:
        _check_suggested(task, widget, path)
    if field is None or not task.pair:
        return
    if field in (*_PAIR, "output"):
        raise mistake(
            (*path, "field"),
            "the outputs of a pair change places, so that neither can be marked: ask about both",
        )


def _check_suggested(task: "Task", widget: Spans, path: KeyPath) -> None:
    """Raise unless the column of suggested errors is for this widget alone."""
    others = {one.field for one in task.show} | {field_of(one) for one in task.widgets}
    others |= {one.suggested for one in task.widgets if isinstance(one, Spans) and one != widget}
    if widget.suggested in {*others, *_HIDDEN}:
        raise mistake(
            (*path, "suggested"),
            f"{widget.suggested} has another use: errors to begin with need a column for them",
        )


def _check_condition(
    condition: Mapping[str, Any], before: Mapping[str, Widget], ids: Sequence[str], path: KeyPath
) -> None:
    for leaf in leaves(condition):
        name = leaf["id"]
        if name not in before:
            if name in ids:
                raise mistake(path, f"refers to {name}, which does not come before it")
            raise mistake(path, f"refers to {name}, which is no widget; {one_of(name, before)}")
        if leaf["op"] != "answered":
            _check_comparison(before[name], leaf["op"], leaf["value"], path)


def _check_comparison(widget: Widget, operator: str, value: Any, path: KeyPath) -> None:
    if isinstance(widget, Likert | Slider):
        if isinstance(value, str):
            raise mistake(path, f"compares {widget.id} with {shown(value)}; expected a number")
        return
    if not isinstance(widget, Gate | Preference):
        raise mistake(
            path,
            f"compares {widget.id}, which is of kind {widget.kind}; expected `{widget.id} answered`",
        )
    if operator in _ORDERED:
        raise mistake(path, f"compares {widget.id} with {operator}; expected = or !=")
    known = (
        [option.value for option in widget.options]
        if isinstance(widget, Gate)
        else [*_PAIR, *(["tie"] if widget.ties else [])]
    )
    if value not in known:
        raise mistake(
            path,
            f"compares {widget.id} with {shown(value)}, which it cannot be; {one_of(value, known)}",
        )


def _check_texts(widget: Widget, known: set[str | None], path: KeyPath) -> None:
    names = {str(name) for name in known}
    if isinstance(widget, Passages):
        names |= {"passage", "verdict", "highlights"}
    key = "text" if widget.kind == "confirm" else "confirm"
    for text in widget.texts:
        try:
            found = placeholders(text)
        except ValueError as error:
            raise mistake((*path, key), str(error)) from error
        for name in found:
            if name not in names:
                raise mistake(
                    (*path, key),
                    f"{{{name}}} is neither a field shown nor an earlier widget; "
                    f"{one_of(name, sorted(names))}",
                )


def _check_values(widget: Widget, path: KeyPath, values: Sequence[str]) -> None:
    known = [choice.value for choice in widget.choices] if values else []
    for value in values:
        if value not in known:
            raise mistake(
                path, f"{shown(value)} is no answer to {widget.id}; {one_of(value, known)}"
            )


def _check_shown(widget: Widget, content: Mapping[str, Any], path: KeyPath) -> None:
    field = field_of(widget)
    if field is not None:
        if field not in content:
            raise mistake(
                (*path, "content"), f"must have the field {field}: {widget.id} is about it"
            )
        if isinstance(content[field], list) != isinstance(widget, Passages):
            expected = "a list of texts" if isinstance(widget, Passages) else "one text"
            raise mistake((*path, "content", field), f"must be {expected} for {widget.id}")
    if isinstance(widget, Passages):
        own = {"passage", "verdict", "highlights"}
        for text in widget.texts:
            for name in placeholders(text):
                if name not in content and name not in own:
                    raise mistake(
                        (*path, "content"), f"must have the field {name}: it is read back"
                    )
