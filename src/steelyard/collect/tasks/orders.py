"""Orders of outputs by their letters: what must stand before what, and how that is said."""

from collections.abc import Mapping
from itertools import permutations
from typing import Any

from steelyard.collect.config.declared import mistake, shown
from steelyard.collect.tasks.scores import Content
from steelyard.collect.tasks.screen import letters_in

__all__ = ["check_known_order", "known_order", "order_in_words"]


def known_order(numbers: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return which letters must stand before which: those with a smaller number.

    Examples
    --------
    >>> known_order({"A": 2, "B": 1, "C": 2})
    [('B', 'A'), ('B', 'C')]
    """
    return [
        (before, behind)
        for before, behind in permutations(numbers, 2)
        if numbers[before] < numbers[behind]
    ]


def check_known_order(content: Content, accepted: Any) -> None:
    """Raise unless what is known of an order names letters, of which one is before another."""
    letters = letters_in(content)
    if not isinstance(accepted, dict) or not set(accepted) <= set(letters):
        raise mistake(("answer",), f"must name letters that are shown; got {shown(accepted)}")
    for letter, number in accepted.items():
        if type(number) is not int or number < 1:
            raise mistake(("answer", letter), f"must be a whole number from 1; got {shown(number)}")
    if not known_order(accepted):
        raise mistake(
            ("answer",),
            "must have two different numbers: an order is of one output before another",
        )


def order_in_words(numbers: Mapping[str, int], *, alike: str = "") -> str:
    """Return an order, best first; `alike` is said of those at one place.

    Examples
    --------
    >>> order_in_words({"A": 2, "B": 1, "C": 2}, alike=" alike")
    'B, then A and C alike'
    """
    rows: dict[int, list[str]] = {}
    for letter, place in sorted(numbers.items()):
        rows.setdefault(place, []).append(letter)
    return ", then ".join(
        " and ".join(rows[place]) + (alike if len(rows[place]) > 1 else "")
        for place in sorted(rows)
    )
