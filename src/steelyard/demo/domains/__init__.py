"""The kinds of text in the built-in campaign, one file each.

Every sentence, place, person and firm in them is invented, but for composers and their works.
"""

import tomllib
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from steelyard.demo.grammar import Domain, Slot
from steelyard.demo.words import Draw, count, date, money, number, ordinal, pick, price

__all__ = ["read_domains"]

_NUMERIC: dict[str, Callable[..., Draw]] = {
    "count": count,
    "date": date,
    "money": money,
    "number": number,
    "ordinal": ordinal,
    "price": price,
}


def read_domains() -> tuple[Domain, ...]:
    """Read every domain, in alphabetical order of its file."""
    paths = sorted(files(__name__).iterdir(), key=lambda path: path.name)
    return tuple(
        _domain(tomllib.loads(path.read_text(encoding="utf-8")))
        for path in paths
        if path.name.endswith(".toml")
    )


def _domain(table: dict[str, Any]) -> Domain:
    return Domain(
        name=table["name"],
        slots={name: Slot(_draw(entry), entry["weight"]) for name, entry in table["slots"].items()},
        details=table["details"],
        references=_forms(table["references"]),
        paraphrases=_forms(table["paraphrases"]),
        claims=tuple(table["claims"]),
    )


def _draw(entry: dict[str, Any]) -> Draw:
    if "pick" in entry:
        return pick(*entry["pick"])
    kind = next(key for key in entry if key != "weight")
    return _NUMERIC[kind](**entry[kind])


def _forms(lines: list[str]) -> tuple[str, ...]:
    """Undo the line breaks that keep the files readable."""
    return tuple(" ".join(form.split()) for form in lines)
