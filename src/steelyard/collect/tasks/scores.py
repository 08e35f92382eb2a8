"""Scores: the judgments that an answer amounts to."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from rapidfuzz.distance import Levenshtein

from steelyard.collect.config.declared import Declared, mistake
from steelyard.collect.tasks.conditions import is_answered
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

__all__ = ["RULES", "Content", "Score", "bounds_of", "edit_distance", "score_of"]

# What is shown; a field that suggests errors holds a list of objects.
Content = Mapping[str, Any]
Rule = Literal["value", "edit-distance", "any", "mean", "preference", "rank", "weights", "mqm"]

# The widgets that a rule can be applied to.
RULES: Mapping[str, tuple[type[Widget], ...]] = {
    "value": (Likert, Slider),
    "edit-distance": (PostEdit,),
    "any": (Passages, Gate),
    "mean": (Passages,),
    "preference": (Preference,),
    "rank": (Ranking,),
    "weights": (Spans,),
    "mqm": (Spans,),
}
_PREFERENCES = {"first": 1.0, "tie": 0.5, "second": 0.0}


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


class Score(Declared):
    """How the judgment under one prompt follows from the answer of one widget.

    Attributes
    ----------
    prompt : str
        Name of the prompt.
    rule : str
        ``value``: the number chosen; ``edit-distance``: see `edit_distance`; ``any``: 1 if a
        passage has a verdict in `of`, or the option of a gate is, else 0; ``mean``: share of
        passages with a verdict in `of` among those with a verdict in `among`; ``preference``: 1 for
        the first output, 0 for the second, 1/2 for a tie; ``rank``: the share of the other outputs on the
        screen that stand behind this one, those at the same place counted half; ``weights``: sum of the weights of the
        errors marked; ``mqm``: minus that sum, so that higher is better.
    source : str
        Id of the widget; the key is ``from``.
    of : tuple of str
        Verdicts or options that count; of a ranking on a screen, the letter of the output.
    among : tuple of str or None
        Verdicts that a mean is over; None: all.
    otherwise : float or None
        The score when the widget is hidden or left empty, or a mean is over no passage. None: there
        is no judgment then.
    """

    gone = {  # noqa: RUF012 - a class variable of `Declared`
        "unit": "an edit distance counts words; take it out",
        "length": "an edit distance is over the longer text; take it out",
    }

    prompt: Annotated[str, Field(min_length=1, max_length=100)]
    rule: Rule
    source: str = Field(alias="from")
    of: Annotated[tuple[str, ...], BeforeValidator(_several)] = Field(strict=False, default=())
    among: Annotated[tuple[str, ...], BeforeValidator(_several)] | None = Field(
        strict=False, default=None
    )
    otherwise: float | None = None

    @property
    def lower_is_better(self) -> bool:
        """Whether it is lower for better outputs: it counts edits or errors."""
        return self.rule in {"edit-distance", "weights"}

    @model_validator(mode="after")
    def _has_the_keys_of_its_rule(self) -> Self:
        given = self.model_fields_set
        allowed = {"any": {"of"}, "mean": {"of", "among"}}
        for key in ("of", "among"):
            if key in given and key not in allowed.get(self.rule, ()):
                raise mistake((key,), f"has no meaning for the rule {self.rule}: leave it out")
        if self.rule in {"any", "mean"} and not self.of:
            raise mistake(("of",), f"must be given: the rule {self.rule} counts it")
        if self.among is not None and not set(self.of) <= set(self.among):
            raise mistake(("among",), "must contain what `of` names")
        return self


def score_of(
    score: Score, widget: Widget, content: Content, value: Any, *, swapped: bool = False
) -> float | None:
    """Return the score of a valid answer of a widget that is shown; None if there is none.

    Parameters
    ----------
    score : Score
        The rule.
    widget : Widget
        The widget it is applied to.
    content : mapping
        What was shown.
    value : object
        The answer; None if there is none.
    swapped : bool
        Whether the two outputs of a pair were displayed in the other order.

    Returns
    -------
    float or None
    """
    if isinstance(widget, Spans):
        # no error marked is an answer too
        points = math.fsum(widget.weight(error) for error in value or ())
        return (-points or 0.0) if score.rule == "mqm" else points
    if not is_answered(value):
        return score.otherwise
    if isinstance(widget, Passages):
        return _share(score, [entry["verdict"] for entry in value])
    if isinstance(widget, Preference | Ranking):
        points = _PREFERENCES[value] if widget.kind == "preference" else _share_behind(value, score)
        return 1 - points if swapped else points
    if isinstance(widget, PostEdit):
        original = content[widget.field]
        assert isinstance(original, str)
        return edit_distance(original, value)
    return float(value in score.of) if isinstance(widget, Gate) else float(value)


def _share_behind(places: Mapping[str, int], score: Score) -> float:
    """Return the share of the other outputs that a ranking puts behind one, ties counted half."""
    own = places[score.of[0]]
    behind = sum((own < other) + (own == other) / 2 for other in places.values()) - 0.5
    return behind / (len(places) - 1)


def _share(score: Score, verdicts: Sequence[str]) -> float | None:
    if score.rule == "any":
        return float(any(verdict in score.of for verdict in verdicts))
    counted = [verdict for verdict in verdicts if score.among is None or verdict in score.among]
    if not counted:
        return score.otherwise
    return sum(verdict in score.of for verdict in counted) / len(counted)


def bounds_of(score: Score, widget: Widget) -> tuple[float, float]:
    """Return the least and greatest score that an answer can have, `otherwise` included."""
    if isinstance(widget, Likert):
        values = [level.value for level in widget.levels]
        low, high = min(values), max(values)
    elif isinstance(widget, Slider):
        low, high = widget.min, widget.max
    elif isinstance(widget, Spans):
        points = widget.most * widget.heaviest
        low, high = (-points, 0.0) if score.rule == "mqm" else (0.0, points)
    else:
        low, high = 0.0, 1.0
    if score.otherwise is None:
        return low, high
    return min(low, score.otherwise), max(high, score.otherwise)


def edit_distance(original: str, edited: str) -> float:
    """Return the share of a text that an editor changed.

    The fewest words inserted, deleted or substituted to turn one text into the other, over the length
    of the longer text: the metric ``edit`` of Steelyard between the two. Words are lowercased and stand
    between whitespace.

    Examples
    --------
    >>> edit_distance("The the cat sat", "The cat sat down")
    0.5
    """
    before, after = original.lower().split(), edited.lower().split()
    whole = max(len(before), len(after))
    return Levenshtein.distance(before, after) / whole if whole else 0.0
