"""How large an answer can be: a text whose answer is too large to send would trap whoever gets it."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, select

from steelyard.collect.store.tables import units
from steelyard.collect.tasks import Task
from steelyard.collect.tasks.screen import asked_about
from steelyard.collect.tasks.widgets import Passages, PostEdit, Spans

__all__ = ["answer_bytes", "largest_answer", "stored_contents"]

# What stands around the answers; and the name of a question with a choice.
_FRAME, _QUESTION = 256, 128
# A verdict with its highlights; an error with its severity and category.
_PASSAGE, _SPAN = 512, 160

_CONTENTS = select(units.c.content).order_by(units.c.id)


def answer_bytes(task: Task, content: Mapping[str, Any]) -> int:
    """Return how large the answer of a careful rater may be, in bytes of JSON.

    A text to improve may be edited to twice its length. Comments are left out: they can be
    shortened.

    Parameters
    ----------
    task : Task
        What is asked.
    content : mapping
        What is shown.

    Examples
    --------
    >>> from steelyard.collect.tasks import load_task
    >>> answer_bytes(load_task("language-quality"), {"output": "x" * 1_000})
    2772
    """
    widgets = asked_about(task, content).widgets
    size = _FRAME + _QUESTION * len(widgets)
    for widget in widgets:
        if isinstance(widget, PostEdit):
            size += 2 * len(json.dumps(content[widget.field], ensure_ascii=False).encode())
        elif isinstance(widget, Passages):
            size += _PASSAGE * len(content[widget.field])
        elif isinstance(widget, Spans):
            size += _SPAN * widget.most
    return size


def largest_answer(task: Task, contents: Iterable[Mapping[str, Any]]) -> int:
    """Return how large an answer to any of these contents may be, in bytes; 0 if there are none."""
    return max((answer_bytes(task, content) for content in contents), default=0)


def stored_contents(connection: Connection, *, most: int | None = None) -> list[dict[str, Any]]:
    """Return the contents of all units of a campaign that has begun, or of the first ones."""
    found = connection.execute(_CONTENTS.limit(most)).scalars()
    return [json.loads(content) for content in found]
