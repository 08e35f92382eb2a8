"""Answers: whether one is complete and valid, and which judgments it amounts to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.collect.config.wording import phrase
from steelyard.collect.tasks.conditions import holds, is_answered, leaves
from steelyard.collect.tasks.scores import Content, score_of
from steelyard.collect.tasks.task import Task
from steelyard.collect.tasks.values import value_problem
from steelyard.collect.tasks.widgets import Passages, PostEdit, Spans, Widget

__all__ = [
    "Problem",
    "check_answer",
    "check_answers",
    "derive_scores",
    "visible",
    "visible_widgets",
]

# Enough for any task; an answer of a million unknown names is not listed in full.
_MOST_PROBLEMS = 100


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with an answer.

    Attributes
    ----------
    widget : str or None
        Id of the widget; None when it is about the whole answer.
    message : str
        A sentence for the rater.
    """

    widget: str | None
    message: str


def check_answer(task: Task, content: Content, answer: Any) -> list[Problem]:
    """Say all that is wrong with an answer.

    Parameters
    ----------
    task : Task
        What was asked.
    content : mapping
        What was shown; see `check_content`.
    answer : object
        Any JSON value, from anybody.

    Returns
    -------
    list of Problem
        Empty if the answer is complete and valid.

    Examples
    --------
    >>> from steelyard.collect.tasks.task import load_task
    >>> task = load_task("language-quality")
    >>> content = {"output": "A text."}
    >>> check_answer(task, content, {"fluency": 3, "redundancy": 3, "overall": 4})
    [Problem(widget='overall', message='Choose one of the answers.')]
    """
    return check_answers(task.widgets, content, answer)


def check_answers(widgets: Sequence[Widget], content: Content, answer: Any) -> list[Problem]:
    """Say all that is wrong with the answer to some questions; see `check_answer`."""
    if not isinstance(answer, dict):
        return [Problem(None, phrase("name-each"))]
    known = {widget.id for widget in widgets}
    problems = [
        Problem(_readable(name), phrase("no-such-question")) for name in answer if name not in known
    ]
    # Whatever is not an answer to its widget must not show or hide others. Whether those are asked
    # cannot be told before it is put right.
    sound: dict[str, Any] = {}
    unclear: set[str] = set()
    for widget in widgets:
        value = answer.get(widget.id)
        if widget.when is not None and not holds(widget.when, sound):
            if unclear & {leaf["id"] for leaf in leaves(widget.when)}:
                unclear.add(widget.id)
            elif is_answered(value):
                problems.append(Problem(widget.id, phrase("not-asked-here")))
            continue
        problem = _problem(widget, content, value, sound)
        if problem is not None:
            problems.append(Problem(widget.id, problem))
            unclear.add(widget.id)
        elif is_answered(value):
            sound[widget.id] = value
    return problems[:_MOST_PROBLEMS]


def visible_widgets(task: Task, answer: Mapping[str, Any]) -> dict[str, Widget]:
    """Return the widgets that are shown, given the answers so far, by id.

    What a hidden widget holds does not count, so that hiding one hides those that depend on it.
    """
    return visible(task.widgets, answer)


def visible(widgets: Sequence[Widget], answer: Mapping[str, Any]) -> dict[str, Widget]:
    """Return those of some widgets that are shown; see `visible_widgets`."""
    shown: dict[str, Widget] = {}
    seen: dict[str, Any] = {}
    for widget in widgets:
        if widget.when is None or holds(widget.when, seen):
            shown[widget.id] = widget
            seen[widget.id] = answer.get(widget.id)
    return shown


def derive_scores(
    task: Task, content: Content, answer: Mapping[str, Any], *, swapped: bool = False
) -> dict[str, float]:
    """Return the scores that a valid answer amounts to.

    Parameters
    ----------
    task : Task
        What was asked.
    content : mapping
        What was shown.
    answer : mapping
        An answer without problems; see `check_answer`.
    swapped : bool
        Whether the two outputs of a pair were displayed in the other order. The score of a
        preference is that of the output which is first in the unit, not on the page.

    Returns
    -------
    dict of prompt to float
        A prompt without a judgment is not in it.

    Examples
    --------
    >>> from steelyard.collect.tasks.task import load_task
    >>> derive_scores(
    ...     load_task("language-quality"),
    ...     {"output": "It rain a lot."},
    ...     {"fluency": 2, "redundancy": 3, "overall": 2, "edit": "It rains a lot."},
    ... )
    {'fluency': 2.0, 'redundancy': 3.0, 'overall': 2.0, 'Edit': 0.25}
    """
    shown = visible_widgets(task, answer)
    scores: dict[str, float] = {}
    for rule in task.scores:
        widget = shown.get(rule.source)
        score = (
            rule.otherwise
            if widget is None
            else score_of(rule, widget, content, answer.get(rule.source), swapped=swapped)
        )
        if score is not None:
            scores[rule.prompt] = score
    return scores


def _problem(widget: Widget, content: Content, value: Any, sound: Mapping[str, Any]) -> str | None:
    """Say what is wrong with the value of a widget that is shown."""
    if value is not None and not (isinstance(value, str | list) and not value):
        problem = value_problem(widget, content, value)
        if problem is not None:
            return problem
    required = (
        widget.required if isinstance(widget.required, bool) else holds(widget.required, sound)
    )
    if not required:
        is_silent = isinstance(widget, Spans) and value is None
        return phrase("answer-is-needed") if is_silent else None
    if isinstance(widget, Passages) and not content[widget.field]:
        return None
    if not is_answered(value):
        return phrase("answer-is-needed")
    if isinstance(widget, PostEdit):
        original = content[widget.field]
        assert isinstance(original, str)
        if value.split() == original.split():
            return phrase("text-unchanged")
    return None


def _readable(name: object) -> str:
    text = str(name)
    short = text if len(text) <= 60 else f"{text[:57]}..."
    return short.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
