"""Gold: items whose answers are known, which look like any other.

Of a screen with several outputs, what is accepted is known by the text of each output: where a text stands
differs from rater to rater.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import PydanticCustomError

from steelyard.collect.config.declared import one_of, shown
from steelyard.collect.config.yaml_lines import KeyPath, dotted
from steelyard.collect.tasks.grading import check_accepted, is_accepted
from steelyard.collect.tasks.scores import Content
from steelyard.collect.tasks.screen import LETTERS, asked_about, field_at, letters_in
from steelyard.collect.tasks.spans import read_suggestions
from steelyard.collect.tasks.task import Task, check_content
from steelyard.collect.tasks.values import is_storable
from steelyard.collect.tasks.widgets import Ranking
from steelyard.errors import InvalidDataError

__all__ = ["GoldItem", "grade_gold", "read_gold", "unordered"]


@dataclass(frozen=True)
class GoldItem:
    """An item with known answers.

    Attributes
    ----------
    content : dict
        What is shown: the fields of the task; of a screen, with the texts under letters.
    accepted : dict
        What is accepted, by widget; see `steelyard.collect.tasks.grading`. Of a screen, by the text of the
        output and by widget; of a ranking, a number: whoever has a smaller one must stand before.
    feedback : str or None
        What a rater is told after a wrong answer; None: nothing, and nobody learns that it was gold.
    """

    content: dict[str, Any]
    accepted: dict[str, Any]
    feedback: str | None = None


def read_gold(path: Path, task: Task) -> list[GoldItem]:
    """Read gold items from a JSON Lines file: the fields of the task, ``answer`` and ``feedback``.

    Parameters
    ----------
    path : Path
        The file.
    task : Task
        The task that shows them.

    Returns
    -------
    list of GoldItem

    Raises
    ------
    InvalidDataError
        If the file cannot be read or a line has a mistake; the message names file and line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidDataError(f"{path}: cannot be read: {error}") from error
    items = [
        _item(line, task, f"{path.name}, line {number}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    if not items:
        raise InvalidDataError(f"{path.name}: must hold at least one gold item")
    return items


def grade_gold(task: Task, content: Content, accepted: Mapping[str, Any], answer: Any) -> bool:
    """Tell whether an answer meets every known answer of a gold item.

    Parameters
    ----------
    task : Task
        What was asked.
    content : mapping
        What was shown.
    accepted : mapping
        What is accepted, by widget.
    answer : object
        The rater's answer, by widget: any JSON value.

    Returns
    -------
    bool
    """
    if not isinstance(answer, dict):
        return False
    if task.side_by_side:
        return _grade_screen(task, content, accepted, answer)
    widgets = {widget.id: widget for widget in task.widgets}
    return all(
        is_accepted(widgets[name], content, values, answer.get(name))
        for name, values in accepted.items()
    )


def unordered(content: Content) -> str:
    """Return what a content is known by, wherever the outputs of a screen stand.

    Examples
    --------
    >>> unordered({"output A": "x", "output B": "y"}) == unordered({"output A": "y", "output B": "x"})
    True
    """
    fields = [field_at(letter) for letter in letters_in(content)]
    others = {name: value for name, value in content.items() if name not in fields}
    texts = sorted(json.dumps(content[field]) for field in fields)
    return json.dumps([others, texts], sort_keys=True, ensure_ascii=True)


def _grade_screen(
    task: Task, content: Content, accepted: Mapping[str, Any], answer: Mapping[str, Any]
) -> bool:
    asked = {widget.id: widget for widget in asked_about(task, content).widgets}
    known = {letter: accepted.get(content[field_at(letter)], {}) for letter in letters_in(content)}
    for widget in task.widgets:
        values = {letter: one[widget.id] for letter, one in known.items() if widget.id in one}
        if isinstance(widget, Ranking):
            if values and not is_accepted(widget, content, values, answer.get(widget.id)):
                return False
        elif not all(
            is_accepted(
                asked[f"{letter}-{widget.id}"], content, one, answer.get(f"{letter}-{widget.id}")
            )
            for letter, one in values.items()
        ):
            return False
    return True


def _item(line: str, task: Task, place: str) -> GoldItem:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InvalidDataError(f"{place}: is not JSON: {error}") from error
    if not isinstance(row, dict) or not is_storable(row):
        raise InvalidDataError(f"{place}: must be an object of texts; got {shown(row)}")
    if task.side_by_side:
        return _screen(row, task, place)
    problem = check_content(task, row)
    if problem is not None:
        raise InvalidDataError(f"{place}: {problem}")
    content = {
        field: read_suggestions(row.get(field)) if field in task.suggested else row[field]
        for field in task.fields
    }
    accepted = row.get("answer")
    if not isinstance(accepted, dict) or not accepted:
        raise InvalidDataError(
            f"{place}: `answer` must name at least one widget with what is accepted; "
            f"got {shown(accepted)}"
        )
    _check_known(task, content, accepted, place, ("answer",))
    return GoldItem(content, accepted, _feedback(row, place))


def _check_known(
    task: Task, content: Content, accepted: Mapping[str, Any], place: str, path: KeyPath
) -> None:
    """Raise unless what is accepted names widgets, with answers that they can have."""
    widgets = {widget.id: widget for widget in task.widgets}
    for name, values in accepted.items():
        if name not in widgets:
            raise InvalidDataError(f"{place}: {name} is no widget; {one_of(name, widgets)}")
        if isinstance(widgets[name], Ranking):
            if type(values) is not int or values < 1:
                raise InvalidDataError(
                    f"{place}, key {dotted((*path, name))}: must be a whole number from 1, the place among the "
                    f"outputs that have one; got {shown(values)}"
                )
            continue
        try:
            check_accepted(widgets[name], content, values)
        except PydanticCustomError as error:
            context = error.context or {}
            key = dotted((*path, name, *context["path"][1:]))
            raise InvalidDataError(f"{place}, key {key}: {context['message']}") from error


def _feedback(row: Mapping[str, Any], place: str) -> str | None:
    feedback = row.get("feedback")
    if feedback is not None and (not isinstance(feedback, str) or not feedback.strip()):
        raise InvalidDataError(f"{place}: `feedback` must be text; got {shown(feedback)}")
    return feedback


def _screen(row: Mapping[str, Any], task: Task, place: str) -> GoldItem:
    """Return a gold screen: fields that all outputs share, and ``outputs`` with what is known of each."""
    outputs = row.get("outputs")
    if not isinstance(outputs, list) or not 2 <= len(outputs) <= len(LETTERS):
        raise InvalidDataError(
            f"{place}: `outputs` must be a list of 2 to {len(LETTERS)} outputs, because the task {task.name} shows "
            f"them side by side; got {shown(outputs)}"
        )
    content = {field: row.get(field) for field in task.fields if field != "output"}
    accepted: dict[str, Any] = {}
    for number, one in enumerate(outputs):
        path = ("outputs", number)
        if not isinstance(one, dict) or not {"output"} <= set(one) <= {"output", "answer"}:
            raise InvalidDataError(
                f"{place}, key {dotted(path)}: must have the key output, and may have answer"
            )
        text, known = one["output"], one.get("answer", {})
        problem = check_content(task, {**content, "output": text})
        if problem is not None:
            raise InvalidDataError(f"{place}: {problem}")
        if not isinstance(text, str) or text in [
            content[field_at(each)] for each in letters_in(content)
        ]:
            raise InvalidDataError(
                f"{place}, key {dotted((*path, 'output'))}: must be a text that differs from the others; "
                f"got {shown(text)}"
            )
        if not isinstance(known, dict):
            raise InvalidDataError(
                f"{place}, key {dotted((*path, 'answer'))}: must name widgets with what is accepted; "
                f"got {shown(known)}"
            )
        content[field_at(LETTERS[number])] = text
        _check_known(task, {**content, "output": text}, known, place, (*path, "answer"))
        if known:
            accepted[text] = known
    _check_screen_known(task, accepted, place)
    return GoldItem(content, accepted, _feedback(row, place))


def _check_screen_known(task: Task, accepted: Mapping[str, Any], place: str) -> None:
    """Raise unless an answer can be wrong: a place alone says nothing."""
    for widget in task.widgets:
        places = [one[widget.id] for one in accepted.values() if widget.id in one]
        if isinstance(widget, Ranking) and places and len(set(places)) < 2:
            raise InvalidDataError(
                f"{place}: {widget.id} must have two different places at least: an order is of one output before "
                "another"
            )
    if not accepted:
        raise InvalidDataError(
            f"{place}: `answer` of at least one of `outputs` must name a widget with what is accepted"
        )
