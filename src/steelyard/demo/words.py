"""What facts are drawn from: invented places and people, dates, numbers, sums of money."""

import datetime as dt
import re
from collections.abc import Callable, Sequence

import numpy as np

__all__ = ["Draw", "count", "date", "money", "number", "ordinal", "pick", "price"]

Draw = Callable[[np.random.Generator], str]

_TOWNS = (
    "Aldermoor", "Ashcombe", "Branscott", "Brightwater", "Carrow Bay", "Coldstone", "Dunmere",
    "Easthaven", "Elsworth", "Farringdale", "Garrowby", "Hallam Bridge", "Inverlea", "Jarnley",
    "Kelsby", "Lynford", "Marlow Heath", "Millbridge", "Northwold", "Oakhampton", "Penhallow",
    "Quarrington", "Ravensfield", "Saltmarsh", "Stanmoor", "Tidewell", "Upper Wexley", "Varnham",
    "Westerleigh Cross", "Yarrowgate",
)  # fmt: skip
_FIRST_NAMES = (
    "Amira", "Beatrice", "Carlos", "Deepa", "Edwin", "Fiona", "Grace", "Hassan", "Ines", "Joseph",
    "Kaito", "Leila", "Martin", "Nadia", "Oscar", "Priya", "Rachel", "Samuel", "Teresa", "Viktor",
    "Wanjiru", "Yusuf",
)  # fmt: skip
_LAST_NAMES = (
    "Abbott", "Banerjee", "Castellan", "Dawson", "Eriksen", "Fairbairn", "Gupta", "Holloway",
    "Ibrahim", "Jensen", "Kowalski", "Lindqvist", "Moreau", "Nakamura", "Okafor", "Pemberton",
    "Quinn", "Rossi", "Sandoval", "Thackeray", "Underhill", "Whitlock",
)  # fmt: skip
_COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine")
_ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
# Spelt out, because strftime speaks the language of the machine.
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_YEAR = 2018
_PLACEHOLDER = re.compile(r"[*@#]")


def pick(*options: str) -> Draw:
    """Draw one of the options, with a town for ``*``, a person for ``@``, a digit for ``#``."""

    def fill(mark: str, rng: np.random.Generator) -> str:
        if mark == "*":
            return _one_of(_TOWNS, rng)
        if mark == "@":
            return f"{_one_of(_FIRST_NAMES, rng)} {_one_of(_LAST_NAMES, rng)}"
        return str(rng.integers(10))

    def draw(rng: np.random.Generator) -> str:
        option = _one_of(options, rng)
        return _PLACEHOLDER.sub(lambda match: fill(match[0], rng), option)

    return draw


def number(low: int, high: int, step: int = 1) -> Draw:
    """Draw a number from `low` to `high` in figures, with a comma at the thousands."""

    def draw(rng: np.random.Generator) -> str:
        return f"{low + step * int(rng.integers((high - low) // step + 1)):,}"

    return draw


def count(low: int, high: int) -> Draw:
    """Draw a number from two to nine in words."""
    return pick(*_COUNTS[low - 2 : high - 1])


def ordinal(low: int, high: int) -> Draw:
    """Draw an ordinal below 100: in words up to the tenth, in figures above."""

    def draw(rng: np.random.Generator) -> str:
        value = int(rng.integers(low, high + 1))
        if value <= 10:
            return _ORDINALS[value - 2]
        ending = "th" if value < 20 else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
        return f"{value}{ending}"

    return draw


def date(first_month: int, last_month: int) -> Draw:
    """Draw a day of 2018, with its weekday, in the given months."""
    start = dt.date(_YEAR, first_month, 1)
    days = (dt.date(_YEAR, last_month, 28) - start).days

    def draw(rng: np.random.Generator) -> str:
        day = start + dt.timedelta(days=int(rng.integers(days + 1)))
        return f"{_WEEKDAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]}"

    return draw


def price(low: int, high: int) -> Draw:
    """Draw a price in pounds, half of them with 50 pence."""

    def draw(rng: np.random.Generator) -> str:
        return f"£{int(rng.integers(low, high + 1))}{_one_of(('', '.50'), rng)}"

    return draw


def money(low: int, high: int, unit: str) -> Draw:
    """Draw a sum of pounds: `unit` is ``million`` (in tenths) or ``,000``."""

    def draw(rng: np.random.Generator) -> str:
        if unit == "million":
            tenths = int(rng.integers(low * 10, high * 10 + 1))
            return f"£{tenths / 10:g} million"
        return f"£{int(rng.integers(low, high + 1))}{unit}"

    return draw


def _one_of(options: Sequence[str], rng: np.random.Generator) -> str:
    return options[int(rng.integers(len(options)))]
