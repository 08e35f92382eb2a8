"""Several outputs on one screen: the questions of a task, asked about each of them under a letter."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from steelyard.collect.config.declared import mistake
from steelyard.collect.tasks.conditions import leaves
from steelyard.collect.tasks.widgets import Comment, Gate, Likert, Ranking, Slider, Widget

if TYPE_CHECKING:
    from steelyard.collect.tasks.task import Task

__all__ = [
    "LETTERS",
    "asked_about",
    "asked_once",
    "by_output",
    "check_screen",
    "field_at",
    "is_ranked",
    "letters_in",
    "on_screen",
]

# More than six texts are not compared at a glance, and do not fit on a page.
LETTERS = ("A", "B", "C", "D", "E", "F")
_OUTPUT = "output"
_KINDS = (Likert, Slider, Gate, Comment, Ranking)


def field_at(letter: str) -> str:
    """Return the field of the output under a letter; no column that a task shows has such a name."""
    return f"{_OUTPUT} {letter}"


def letters_in(content: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the letters of the outputs in a content; none if it is not of a screen."""
    return tuple(letter for letter in LETTERS if field_at(letter) in content)


def asked_once(widget: Widget) -> bool:
    """Whether a question is about the whole screen, not about each output."""
    return isinstance(widget, Ranking) or (isinstance(widget, Comment) and widget.once)


def is_ranked(task: "Task") -> bool:
    """Whether raters put the outputs of a screen in order."""
    return any(isinstance(widget, Ranking) for widget in task.widgets)


def asked_about(task: "Task", content: Mapping[str, Any]) -> "Task":
    """Return what is asked about a content: of a screen, the questions about each output.

    Examples
    --------
    >>> from steelyard.collect.tasks.task import load_task
    >>> found = asked_about(load_task("side-by-side"), {"output A": "Yes.", "output B": "No."})
    >>> [widget.id for widget in found.widgets]
    ['A-quality', 'A-comment', 'B-quality', 'B-comment']
    """
    return task.on_screen(len(letters_in(content))) if task.side_by_side else task


def on_screen(task: "Task", count: int) -> "Task":
    """Return a task side by side as one about so many outputs, each with its own questions.

    Questions about the whole screen come last, once. There is nothing to rank where all systems wrote the same:
    they tie.
    """
    letters = LETTERS[:count]
    show = [
        part
        for one in task.show
        for part in (
            [one]
            if one.field != _OUTPUT
            else [
                one.model_copy(update={"field": field_at(letter), "label": letter})
                for letter in letters
            ]
        )
    ]
    each = [one for one in task.widgets if not asked_once(one)]
    widgets = [_about(one, letter) for letter in letters for one in each]
    is_one = count == 1
    widgets += [
        one for one in task.widgets if asked_once(one) and not (is_one and isinstance(one, Ranking))
    ]
    scores = [
        score.model_copy(
            update={"prompt": f"{letter}-{score.prompt}"}
            | (
                {"of": (letter,), "otherwise": 0.5 if is_one else score.otherwise}
                if score.rule == "rank"
                else {"source": f"{letter}-{score.source}"}
            )
        )
        for letter in letters
        for score in task.scores
    ]
    return task.changed(
        {
            "side_by_side": False,
            "show": tuple(show),
            "widgets": tuple(widgets),
            "scores": tuple(scores),
            "tutorial": None,
        }
    )


def by_output(scores: Mapping[str, float], order: Sequence[int]) -> dict[str, dict[str, float]]:
    """Return the scores of a screen by the number of the output in its unit.

    Parameters
    ----------
    scores : mapping of str to float
        By letter and prompt, as a task of `on_screen` has them.
    order : sequence of int
        Numbers of the outputs, in the order of the letters.

    Examples
    --------
    >>> by_output({"A-quality": 4.0, "B-quality": 2.0}, (2, 1))
    {'2': {'quality': 4.0}, '1': {'quality': 2.0}}
    """
    found: dict[str, dict[str, float]] = {str(number): {} for number in order}
    for name, score in scores.items():
        letter, prompt = name.split("-", 1)
        found[str(order[LETTERS.index(letter)])][prompt] = score
    return found


def check_screen(task: "Task") -> None:
    """Raise unless a task side by side shows outputs and asks what can be asked of each."""
    if not task.side_by_side:
        for position, widget in enumerate(task.widgets):
            if asked_once(widget):
                key = "kind" if isinstance(widget, Ranking) else "once"
                raise mistake(
                    ("widgets", position, key), "is about a whole screen: set `side_by_side: true`"
                )
        return
    if task.pair:
        raise mistake(
            ("side_by_side",), "does not go with `pair`, which asks one question about two outputs"
        )
    if _OUTPUT not in [one.field for one in task.show]:
        raise mistake(("show",), "must show the field output: the task has outputs side by side")
    for position, widget in enumerate(task.widgets):
        if not isinstance(widget, _KINDS):
            raise mistake(
                ("widgets", position, "kind"),
                f"{widget.kind} is not asked side by side: expected likert, slider, gate, comment "
                "or ranking",
            )
    _check_conditions(task)


def _check_conditions(task: "Task") -> None:
    """Raise where a question about each output depends on one about the screen, or the other way round."""
    once = {widget.id: asked_once(widget) for widget in task.widgets}
    for position, widget in enumerate(task.widgets):
        for key in ("when", "required"):
            condition = getattr(widget, key)
            for leaf in leaves(condition) if isinstance(condition, dict) else ():
                if once.get(leaf["id"], once[widget.id]) != once[widget.id]:
                    raise mistake(
                        ("widgets", position, key),
                        f"refers to {leaf['id']}: of the two, one is about each output and the other about the "
                        "whole screen",
                    )


def _about(widget: Widget, letter: str) -> Widget:
    changed: dict[str, Any] = {
        "id": f"{letter}-{widget.id}",
        "label": f"{letter}: {widget.label}",
        "when": None if widget.when is None else _renamed(widget.when, letter),
    }
    if isinstance(widget.required, dict):
        changed["required"] = _renamed(widget.required, letter)
    return widget.model_copy(update=changed)


def _renamed(condition: Any, letter: str) -> Any:
    """Return a condition about the answers under a letter."""
    if isinstance(condition, list):
        return [_renamed(one, letter) for one in condition]
    if "id" in condition:
        return {**condition, "id": f"{letter}-{condition['id']}"}
    return {key: _renamed(one, letter) for key, one in condition.items()}
