"""A small template language: texts with facts, free wording and details that can be left out.

A form is a string with three kinds of marks, none of which nest but facts inside the others:

- ``{slot}``: the place of a fact;
- ``<one|another>``: a choice of wording, which says the same either way;
- ``[label:text]``: a detail, without which the sentence around it still stands.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.demo.words import Draw

__all__ = ["Domain", "Segment", "Slot", "render", "segments", "visible_slots"]

_CHOICE = re.compile(r"<([^>]*)>")
_DETAIL = re.compile(r"\[(\w+):([^\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"\b([Aa])\(n\) (\w+)")
_SENTENCE_START = re.compile(r"(^|[.?!] )([a-z])")
# Words whose first letter misleads about their first sound.
_CONSONANT_SOUND = re.compile(r"(?:uni|use|usu|eu|one|once)", re.IGNORECASE)
_VOWEL_SOUND = re.compile(r"(?:[aeiou]|hour|honest|heir|8|11\b|18\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Slot:
    """A kind of fact.

    Attributes
    ----------
    draw : callable
        Makes a value from a random generator.
    weight : float
        How grave it is to state it wrongly; 1 for what the text is about.
    """

    draw: Draw
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Domain:
    """Texts of one kind: their facts and the ways of putting them into words.

    Attributes
    ----------
    name : str
        What the text is, as the task names it.
    slots : mapping
        The facts, in the order in which the task lists them.
    details : mapping
        The details that can be left out, with how grave it is to do so.
    references, paraphrases : tuple of str
        Forms. A paraphrase gives the same facts in other words and another order.
    claims : tuple of str
        Plausible sentences that the facts do not support.
    """

    name: str
    slots: Mapping[str, Slot]
    details: Mapping[str, float]
    references: tuple[str, ...]
    paraphrases: tuple[str, ...]
    claims: tuple[str, ...]

    def facts(self, rng: np.random.Generator) -> dict[str, str]:
        """Draw a value for every slot, no two alike."""
        facts: dict[str, str] = {}
        for name in self.slots:
            facts[name] = self.other_value(name, facts, rng=rng)
        return facts

    def other_value(self, slot: str, facts: Mapping[str, str], *, rng: np.random.Generator) -> str:
        """Draw a value for `slot` that no fact has."""
        taken = set(facts.values())
        value = self.slots[slot].draw(rng)
        while value in taken:
            value = self.slots[slot].draw(rng)
        return value


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a form whose wording is chosen; `detail` names it if it can be left out."""

    text: str
    detail: str | None = None


def segments(form: str, *, rng: np.random.Generator) -> tuple[Segment, ...]:
    """Choose the wording of a form and cut it into segments."""

    def choose(match: re.Match[str]) -> str:
        options = match[1].split("|")
        return options[int(rng.integers(len(options)))]

    worded = _CHOICE.sub(choose, form)
    parts: list[Segment] = []
    end = 0
    for match in _DETAIL.finditer(worded):
        parts += [Segment(worded[end : match.start()]), Segment(match[2], match[1])]
        end = match.end()
    parts.append(Segment(worded[end:]))
    return tuple(part for part in parts if part.text)


def visible_slots(parts: Sequence[Segment], dropped: Collection[str] = ()) -> list[str]:
    """List the slots, in order, that the text shows once the `dropped` details are left out."""
    return [
        slot for part in parts if part.detail not in dropped for slot in _SLOT.findall(part.text)
    ]


def render(
    parts: Sequence[Segment], facts: Mapping[str, str], *, dropped: Collection[str] = ()
) -> str:
    """Write the text out: facts in place, articles agreed, spaces and capitals as they should be.

    Examples
    --------
    >>> parts = [Segment("a(n) {what} fell"), Segment(" in {where}", "where"), Segment(".")]
    >>> render(parts, {"what": "apple", "where": "Kent"})
    'An apple fell in Kent.'
    >>> render(parts, {"what": "pear", "where": "Kent"}, dropped={"where"})
    'A pear fell.'
    """
    template = "".join(part.text for part in parts if part.detail not in dropped)
    text = _SLOT.sub(lambda match: facts[match[1]], template)
    text = " ".join(text.split()).replace(" .", ".").replace(" ,", ",")
    text = _ARTICLE.sub(lambda match: f"{match[1]}{_ending(match[2])} {match[2]}", text)
    return _SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), text)


def _ending(word: str) -> str:
    """Return what turns "a" into the article of `word`."""
    vowel = _VOWEL_SOUND.match(word) and not _CONSONANT_SOUND.match(word)
    return "n" if vowel else ""
