"""Gold: items whose answers are known, which look like any other."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import PydanticCustomError

from steelyard.collect.tasks.declared import one_of, shown
from steelyard.collect.tasks.grading import check_accepted, is_accepted
from steelyard.collect.tasks.scores import Content
from steelyard.collect.tasks.spans import read_suggestions
from steelyard.collect.tasks.task import Task, check_content
from steelyard.collect.tasks.values import is_storable
from steelyard.collect.yaml_lines import dotted
from steelyard.errors import InvalidDataError

__all__ = ["GoldItem", "grade_gold", "read_gold"]


@dataclass(frozen=True)
class GoldItem:
    """An item with known answers.

    Attributes
    ----------
    content : dict
        What is shown: the fields of the task.
    accepted : dict
        What is accepted, by widget; see `steelyard.collect.tasks.grading`.
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
    widgets = {widget.id: widget for widget in task.widgets}
    return all(
        is_accepted(widgets[name], content, values, answer.get(name))
        for name, values in accepted.items()
    )


def _item(line: str, task: Task, place: str) -> GoldItem:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InvalidDataError(f"{place}: is not JSON: {error}") from error
    if not isinstance(row, dict) or not is_storable(row):
        raise InvalidDataError(f"{place}: must be an object of texts; got {shown(row)}")
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
    widgets = {widget.id: widget for widget in task.widgets}
    for name, values in accepted.items():
        if name not in widgets:
            raise InvalidDataError(f"{place}: {name} is no widget; {one_of(name, widgets)}")
        try:
            check_accepted(widgets[name], content, values)
        except PydanticCustomError as error:
            context = error.context or {}
            key = dotted(("answer", name, *context["path"][1:]))
            raise InvalidDataError(f"{place}, key {key}: {context['message']}") from error
    feedback = row.get("feedback")
    if feedback is not None and (not isinstance(feedback, str) or not feedback.strip()):
        raise InvalidDataError(f"{place}: `feedback` must be text; got {shown(feedback)}")
    return GoldItem(content, accepted, feedback)
