"""What a rater sees of a content: the sides of a pair and the outputs of a screen change places."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from steelyard.collect.store.ids import is_swapped, screen_order
from steelyard.collect.tasks.screen import field_at, letters_in

__all__ = ["Scores", "Seen", "each_score", "is_of_screen", "seen", "share_behind"]

# By prompt; of a screen, by the number of the output in the unit and by prompt.
Scores: TypeAlias = Mapping[str, float] | Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Seen:
    """A content as the rater of a lease sees it.

    Attributes
    ----------
    content : dict
        By field.
    swapped : bool
        Whether the sides of a pair have changed places.
    order : tuple of int
        The outputs of a screen in the order of the letters, by their numbers in the unit; empty for other
        contents.
    """

    content: dict[str, Any]
    swapped: bool
    order: tuple[int, ...]


def seen(content: Mapping[str, Any], *, lease: str, pair: bool) -> Seen:
    """Return a content as the rater of a lease sees it, always in the same way."""
    shown = dict(content)
    swapped = pair and is_swapped(lease)
    if swapped:
        shown["first"], shown["second"] = shown["second"], shown["first"]
    letters = letters_in(content)
    order = screen_order(lease, len(letters))
    for letter, number in zip(letters, order, strict=True):
        shown[field_at(letter)] = content[field_at(letters[number - 1])]
    return Seen(shown, swapped, order)


def is_of_screen(scores: Scores) -> bool:
    """Whether scores are those of the outputs on a screen."""
    return any(isinstance(value, Mapping) for value in scores.values())


def each_score(scores: Scores) -> Iterator[tuple[int, str, float]]:
    """Yield the number of the output, the prompt and the score; the number is 0 where a unit is one output.

    Examples
    --------
    >>> list(each_score({"quality": 4.0})), list(each_score({"2": {"quality": 4.0}}))
    ([(0, 'quality', 4.0)], [(2, 'quality', 4.0)])
    """
    for name, value in scores.items():
        if isinstance(value, Mapping):
            yield from ((int(name), prompt, score) for prompt, score in value.items())
        else:
            yield 0, name, value


def share_behind(scores: Any, prompt: str, own: float, sides: Sequence[int]) -> float:
    """Return the share of the other systems on a screen that stand behind one, ties counted half.

    Examples
    --------
    >>> share_behind({"1": {"order": 1.0}, "2": {"order": 0.0}}, "order", 1.0, [1, 1, 2])
    0.75
    """
    others: list[float] = [scores[str(side)][prompt] for side in sides]
    # the system itself is among them, at its own place
    behind = sum((own > other) + (own == other) / 2 for other in others) - 0.5
    return behind / (len(others) - 1)
