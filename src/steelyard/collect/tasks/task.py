"""Tasks: what raters see, what they are asked, and which judgments that gives."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from steelyard.collect.config.declared import Declared, declared, shown
from steelyard.collect.config.yaml_lines import read_yaml
from steelyard.collect.tasks.choices import Name, Words
from steelyard.collect.tasks.consistency import (
    check_scores,
    check_show,
    check_tutorial,
    check_widgets,
    field_of,
)
from steelyard.collect.tasks.scores import Score, bounds_of
from steelyard.collect.tasks.screen import (
    LETTERS,
    asked_once,
    check_screen,
    field_at,
    on_screen,
)
from steelyard.collect.tasks.spans import read_suggestions, suggestion_problem
from steelyard.collect.tasks.tutorial import Tutorial
from steelyard.collect.tasks.widgets import (
    AnyWidget,
    Passages,
    PostEdit,
    Spans,
    Widget,
    placeholders,
)
from steelyard.errors import InvalidArgumentError

__all__ = ["Shown", "Task", "check_content", "load_task", "score_bounds", "shipped_tasks"]

_EXAMPLES = files("steelyard.collect") / "examples"
_PAIR = ("first", "second")


class Shown(Declared):
    """A field that is shown.

    Attributes
    ----------
    field : str
        A column of the outputs, text or list of texts; in pairs also ``first`` and ``second``.
    label : str
        The heading above it; none if empty.
    format : {"text", "markdown", "code", "table", "dialogue", "image", "audio", "video"}
        How it is laid out. Whatever it holds, it is shown and never run. Where none is given, texts that
        look like markdown are laid out so. The last three show files: the field holds a path, or a
        list of paths, below the folder ``media`` of the campaign.
    math : bool
        Whether formulas in LaTeX are laid out.
    """

    field: Name
    label: str = ""
    format: Literal["text", "markdown", "code", "table", "dialogue", "image", "audio", "video"] = (
        "text"
    )
    math: bool = False


class Task(Declared):
    """A declared task; made by `load_task`.

    Attributes
    ----------
    name, title : str
        What it is called in files and on the page.
    version : str
        Of the instructions: a new one asks every rater for the tutorial again.
    instructions : str
        Plain text; a blank line parts paragraphs, lines that start with ``- `` are a list.
    pair : bool
        Whether a unit has two outputs, in the fields ``first`` and ``second``.
    side_by_side : bool
        Whether the outputs of all systems for an item stand on one screen, each with the questions.
    show : tuple of Shown
        What is shown, in order.
    widgets : tuple of Widget
        What is asked, in order.
    scores : tuple of Score
        Which judgments follow.
    tutorial : Tutorial or None
        What comes before the first judgment.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=60)]
    title: Words
    version: Words = "1"
    instructions: str = ""
    pair: bool = False
    side_by_side: bool = False
    show: tuple[Shown, ...] = Field(strict=False, min_length=1)
    widgets: tuple[AnyWidget, ...] = Field(strict=False, min_length=1)
    scores: tuple[Score, ...] = Field(strict=False, min_length=1)
    tutorial: Tutorial | None = None

    _on_screen: dict[int, "Task"] = PrivateAttr(default_factory=dict)

    @cached_property
    def prompts(self) -> tuple[str, ...]:
        """The prompts of the judgments, in order."""
        return tuple(score.prompt for score in self.scores)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The fields of the content: all that reaches the page of an output."""
        names = [one.field for one in self.show]
        names += [field for widget in self.widgets if (field := field_of(widget)) is not None]
        names += self.suggested
        own = {widget.id for widget in self.widgets} | {"passage", "verdict", "highlights"}
        for widget in self.widgets:
            for text in widget.texts:
                names += [name for name in placeholders(text) if name not in own]
        return tuple(dict.fromkeys(names))

    @cached_property
    def lists(self) -> frozenset[str]:
        """The fields that must hold lists of texts."""
        return frozenset(one.field for one in self.widgets if isinstance(one, Passages))

    @cached_property
    def suggested(self) -> dict[str, Spans]:
        """The fields that hold errors to begin with, and the widgets that begin with them."""
        spans = (widget for widget in self.widgets if isinstance(widget, Spans))
        return {widget.suggested: widget for widget in spans if widget.suggested is not None}

    @cached_property
    def dialogues(self) -> frozenset[str]:
        """The fields that are shown as dialogues."""
        return frozenset(one.field for one in self.show if one.format == "dialogue")

    @cached_property
    def texts(self) -> frozenset[str]:
        """The fields that must hold one text."""
        named = {one.field for one in self.widgets if isinstance(one, PostEdit | Spans)}
        return frozenset(named | (set(_PAIR) if self.pair else set()))

    def widget(self, name: str) -> Widget | None:
        """Return the widget of this id; None if there is none."""
        return next((widget for widget in self.widgets if widget.id == name), None)

    def with_show(self, show: Sequence[Shown]) -> "Task":
        """Return the task with its fields laid out in another way."""
        return self.changed({"show": tuple(show)})

    def changed(self, update: Mapping[str, Any]) -> "Task":
        """Return the task with other values, and with nothing that follows from the old ones."""
        made = self.model_copy(update=update)
        for name, value in vars(type(self)).items():
            if isinstance(value, cached_property):
                made.__dict__.pop(name, None)
        made._on_screen = {}  # noqa: SLF001
        return made

    def on_screen(self, count: int) -> "Task":
        """Return the task with its questions about each of so many outputs side by side."""
        if count not in self._on_screen:
            self._on_screen[count] = on_screen(self, count)
        return self._on_screen[count]

    def public(self) -> dict[str, Any]:
        """Return what the page may know, as JSON: no answer, hint or feedback of the tutorial."""
        tutorial = self.tutorial
        return {
            "name": self.name,
            "title": self.title,
            "version": self.version,
            "instructions": self.instructions,
            "pair": self.pair,
            "screen": self._screen(),
            "show": [one.model_dump(mode="json") for one in self.show],
            "widgets": [widget.public() for widget in self.widgets],
            "tutorial": None
            if tutorial is None
            else {
                "pass": tutorial.pass_mark,
                "tries": tutorial.tries,
                "questions": [question.public(name) for name, question in tutorial.named.items()],
            },
        }

    def _screen(self) -> dict[str, Any] | None:
        """Return the letters of a screen, with their fields, the questions, and which are asked once."""
        if not self.side_by_side:
            return None
        full = self.on_screen(len(LETTERS))
        return {
            "outputs": {letter: field_at(letter) for letter in LETTERS},
            "widgets": [widget.public() for widget in full.widgets],
            "once": [widget.id for widget in self.widgets if asked_once(widget)],
        }

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        check_screen(self)
        check_show(self)
        check_widgets(self)
        check_scores(self)
        check_tutorial(self)
        return self


def load_task(source: str | Path) -> Task:
    """Read a task from a file, or one that comes with Steelyard by its name.

    Parameters
    ----------
    source : str or Path
        ``language-quality``, ``answer-correctness``, ``pairwise``, ``direct-assessment``, ``esa``,
        ``mqm``, ``side-by-side``, or the path of a YAML file.

    Returns
    -------
    Task

    Raises
    ------
    InvalidArgumentError
        If there is no such task.
    InvalidDataError
        If the file has a mistake; the message names file, line and key.

    Examples
    --------
    >>> load_task("language-quality").prompts
    ('fluency', 'redundancy', 'overall', 'Edit')
    """
    if source in shipped_tasks():
        with as_file(_EXAMPLES / str(source) / "task.yaml") as path:
            return declared(Task, read_yaml(path))
    path = Path(source)
    if not path.is_file():
        raise InvalidArgumentError(
            f"`task` must be an existing YAML file or one of {', '.join(shipped_tasks())}; "
            f"got {str(source)!r}"
        )
    return declared(Task, read_yaml(path))


def shipped_tasks() -> tuple[str, ...]:
    """Return the names of the tasks that come with Steelyard."""
    return tuple(
        sorted(entry.name for entry in _EXAMPLES.iterdir() if (entry / "task.yaml").is_file())
    )


def score_bounds(task: Task) -> dict[str, tuple[float, float]]:
    """Return the least and greatest score possible under each prompt.

    Parameters
    ----------
    task : Task
        The task.

    Returns
    -------
    dict of prompt to (low, high)
        `high` is infinite for an edit distance by the length of the edited text.

    Examples
    --------
    >>> score_bounds(load_task("language-quality"))["Edit"]
    (0.0, 1.0)
    """
    widgets = {widget.id: widget for widget in task.widgets}
    return {score.prompt: bounds_of(score, widgets[score.source]) for score in task.scores}


def check_content(task: Task, content: Mapping[str, Any]) -> str | None:
    """Say what is wrong with the content of a unit; None if nothing is.

    Parameters
    ----------
    task : Task
        The task that shows it.
    content : mapping
        Values by field.

    Returns
    -------
    str or None
        What is wrong, beginning with the field.
    """
    suggested = task.suggested
    for field in task.fields:
        value = content.get(field)
        if field in suggested:
            problem = suggestion_problem(suggested[field], content, read_suggestions(value))
            if problem is not None:
                return problem
            continue
        if value is None:
            return f"`{field}` must be given: the task {task.name} shows it"
        if field in task.lists:
            if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
                return f"`{field}` must be a list of texts; got {shown(value)}"
        elif not isinstance(value, str):
            is_list = isinstance(value, list) and all(isinstance(text, str) for text in value)
            if field in task.texts or not is_list:
                return f"`{field}` must be text; got {shown(value)}"
    return None
