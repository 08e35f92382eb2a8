"""What a rater sees of a content: the sides of a pair and the outputs of a screen change places."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeAlias

from steelyard.collect.tasks.screen import field_at, letters_in

__all__ = [
    "Scores",
    "ShownContent",
    "each_score",
    "is_of_screen",
    "is_swapped",
    "screen_order",
    "share_behind",
    "shown_content",
]

# By prompt; of a screen, by the number of the output in the unit and by prompt.
Scores: TypeAlias = Mapping[str, float] | Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class ShownContent:
    """A content as the rater of a lease sees it; it never changes.

    Attributes
    ----------
    rater : str
        The only one who may answer.
    content : dict
        By field.
    swapped : bool
        Whether the sides of a pair have changed places.
    order : tuple of int
        The outputs of a screen in the order of the letters, by their numbers in the unit; empty for other
        contents.
    """

    rater: str
    content: dict[str, Any]
    swapped: bool
    order: tuple[int, ...]


def shown_content(
    content: Mapping[str, Any], *, rater: str, lease: str, pair: bool
) -> ShownContent:
    """Return a content as the rater of a lease sees it, always in the same way."""
    shown = dict(content)
    swapped = pair and is_swapped(lease)
    if swapped:
        shown["first"], shown["second"] = shown["second"], shown["first"]
    letters = letters_in(content)
    order = screen_order(lease, len(letters))
    for letter, number in zip(letters, order, strict=True):
        shown[field_at(letter)] = content[field_at(letters[number - 1])]
    return ShownContent(rater, shown, swapped, order)


def is_swapped(lease: str) -> bool:
    """Whether the two sides of a pair change places before this lease's rater.

    Examples
    --------
    >>> sum(is_swapped(str(number)) for number in range(1000))
    502
    """
    return sha256(b"side" + lease.encode()).digest()[0] % 2 == 1


def screen_order(lease: str, count: int) -> tuple[int, ...]:
    """Return the numbers of the outputs on a screen, in the order in which this lease's rater sees them.

    Examples
    --------
    >>> screen_order("one", 3), screen_order("two", 3)
    ((2, 1, 3), (3, 2, 1))
    """
    lots = [sha256(f"place {number} {lease}".encode()).digest() for number in range(1, count + 1)]
    return tuple(sorted(range(1, count + 1), key=lambda number: lots[number - 1]))


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
