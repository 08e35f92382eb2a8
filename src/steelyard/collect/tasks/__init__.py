"""Tasks: declared in a file, shown to raters, and turned into judgments."""

from steelyard.collect.tasks.answers import (
    Problem,
    check_answer,
    derive_scores,
    visible_widgets,
)
from steelyard.collect.tasks.gold import GoldItem, grade_gold, read_gold
from steelyard.collect.tasks.scores import Content, Score
from steelyard.collect.tasks.task import (
    Shown,
    Task,
    check_content,
    load_task,
    score_bounds,
    shipped_tasks,
)
from steelyard.collect.tasks.tutorial import Question, Tutorial, grade
from steelyard.collect.tasks.values import is_storable
from steelyard.collect.tasks.widgets import Widget

__all__ = [
    "Content",
    "GoldItem",
    "Problem",
    "Question",
    "Score",
    "Shown",
    "Task",
    "Tutorial",
    "Widget",
    "check_answer",
    "check_content",
    "derive_scores",
    "grade",
    "grade_gold",
    "is_storable",
    "load_task",
    "read_gold",
    "score_bounds",
    "shipped_tasks",
    "visible_widgets",
]
