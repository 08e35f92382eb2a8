"""Four simulated systems, each with its own way of going wrong, and a record of what went wrong."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from steelyard.demo.grammar import Domain, Segment, render, segments, visible_slots

__all__ = ["DIFFICULTY_SLOPE", "RATES", "SYSTEMS", "Defects", "Task", "Text", "outputs", "task"]

SYSTEMS = ("copy", "fluent", "loopy", "terse")
_DANGLING = frozenset(
    {"a", "and", "at", "by", "for", "from", "in", "of", "on", "the", "to", "with"}
)


@dataclass(frozen=True, slots=True)
class Defects:
    """What is wrong with a text; everything that the simulated raters react to.

    Attributes
    ----------
    wrong : float
        Sum of the weights of the facts that the text states wrongly.
    missing : float
        Sum of the weights of the details that the text leaves out.
    unsupported : float
        Number of claims that the facts do not support.
    repeated : float
        Words said again, as a share of all words.
    broken : float
        Share of the words lost where the text breaks off in mid-sentence, plus a half if it does.
    """

    wrong: float = 0.0
    missing: float = 0.0
    unsupported: float = 0.0
    repeated: float = 0.0
    broken: float = 0.0


@dataclass(frozen=True, slots=True)
class Rates:
    """How often a system makes each mistake on an item of middling difficulty.

    Attributes
    ----------
    misstate : float
        Rate of a wrong fact in a text; a second one follows at half the rate.
    leave_out : float
        Rate of leaving out each detail.
    embroider : float
        Rate of a claim that the facts do not support.
    break_off : float
        Rate of breaking off in mid-sentence.
    repeat : float
        Rate of repeating a phrase, tried three times a text.
    """

    misstate: float
    leave_out: float
    embroider: float = 0.0
    break_off: float = 0.0
    repeat: float = 0.0


RATES = {
    "copy": Rates(misstate=0.42, leave_out=0.32),
    "fluent": Rates(misstate=0.18, leave_out=0.18, embroider=0.2),
    "loopy": Rates(misstate=0.45, leave_out=0.32, break_off=0.3, repeat=0.4),
    # On top of what `copy` did, which it starts from.
    "terse": Rates(misstate=0.05, leave_out=0.64),
}
# How much the log odds of every mistake rise with an item's difficulty.
DIFFICULTY_SLOPE = 0.5


@dataclass(frozen=True, slots=True)
class Text:
    """A system's text with its defects."""

    text: str
    defects: Defects


@dataclass(frozen=True, slots=True)
class Task:
    """One item: the facts to write up, the reference, and how hard the item is.

    Attributes
    ----------
    domain : Domain
        Kind of text.
    facts : dict
        True value of every slot.
    form : str
        The reference's form.
    wording : tuple of Segment
        That form with its wording chosen.
    absent : frozenset of str
        Details that this item does not have.
    difficulty : float
        Standard normal; it moves the odds of every error of every system.
    """

    domain: Domain
    facts: dict[str, str]
    form: str
    wording: tuple[Segment, ...]
    absent: frozenset[str]
    difficulty: float

    @property
    def input(self) -> str:
        """What the systems are asked: the kind of text and its facts."""
        given = visible_slots(self.wording, self.absent)
        facts = "; ".join(f"{slot}: {self.facts[slot]}" for slot in self.facts if slot in given)
        return f"Write a short {self.domain.name}. {facts}"

    @property
    def reference(self) -> str:
        """The reference text: every fact, stated right."""
        return render(self.wording, self.facts, dropped=self.absent)


def task(domain: Domain, *, rng: np.random.Generator) -> Task:
    """Draw an item of a domain, with two or more of the domain's details."""
    details = rng.permutation(list(domain.details))
    form = domain.references[int(rng.integers(len(domain.references)))]
    return Task(
        domain=domain,
        facts=domain.facts(rng),
        form=form,
        wording=segments(form, rng=rng),
        absent=frozenset(details[int(rng.integers(2, len(details) + 1)) :].tolist()),
        difficulty=float(rng.standard_normal()),
    )


def outputs(item: Task, *, rng: np.random.Generator) -> dict[str, Text]:
    """Write the text of each system for an item.

    ``copy`` keeps the reference's wording and loses details; ``terse`` shortens what ``copy`` wrote, so
    the two are often the same; ``fluent`` says it in other words and embroiders; ``loopy`` repeats
    itself and breaks off.
    """
    domain = item.domain
    draft = _Draft(item, item.wording, {}, item.absent)
    copy, fluent, loopy, terse = (RATES[system] for system in SYSTEMS)
    copied = _careless(draft.reword([item.form], rng=rng), copy, rng=rng)
    rephrased = _careless(draft.reword(domain.paraphrases, rng=rng), fluent, rng=rng)
    rambling = _careless(draft.reword(domain.references, rng=rng), loopy, rng=rng)
    shortened = _careless(copied, terse, rng=rng)
    return {
        "copy": copied.text(),
        "fluent": _embroidered(rephrased, fluent, rng=rng),
        "loopy": _rambling(rambling, loopy, rng=rng),
        "terse": shortened.text(),
    }


@dataclass(frozen=True, slots=True)
class _Draft:
    """A text in the making: its wording, the facts it has wrong and the details it leaves out."""

    item: Task
    wording: tuple[Segment, ...]
    errors: dict[str, str]
    dropped: frozenset[str]

    def chance(self, rate: float, *, rng: np.random.Generator) -> bool:
        """Draw whether a mistake of the given rate happens; hard items multiply its odds."""
        odds = rate / (1 - rate) * np.exp(DIFFICULTY_SLOPE * self.item.difficulty)
        return bool(rng.random() < odds / (1 + odds))

    def reword(self, forms: Sequence[str], *, rng: np.random.Generator) -> "_Draft":
        """Say it in the words of one of the forms."""
        wording = segments(forms[int(rng.integers(len(forms)))], rng=rng)
        return _Draft(self.item, wording, self.errors, self.dropped)

    def misstate(self, rate: float, *, rng: np.random.Generator) -> "_Draft":
        """Get one of the facts wrong, and at half the rate a second."""
        errors = dict(self.errors)
        for chance in (rate, rate / 2):
            if not self.chance(chance, rng=rng):
                break
            slots = visible_slots(self.wording, self.dropped)
            slot = slots[int(rng.integers(len(slots)))]
            taken = self.item.facts | errors
            errors[slot] = self.item.domain.other_value(slot, taken, rng=rng)
        return _Draft(self.item, self.wording, errors, self.dropped)

    def shorten(self, rate: float, *, rng: np.random.Generator) -> "_Draft":
        """Leave out each remaining detail at the given rate."""
        remaining = [detail for detail in self.item.domain.details if detail not in self.dropped]
        lost = {detail for detail in remaining if self.chance(rate, rng=rng)}
        return _Draft(self.item, self.wording, self.errors, self.dropped | lost)

    def text(self) -> Text:
        """Write the draft out. An error in a detail that is left out is no error."""
        details = self.item.domain.details
        lost = self.dropped - self.item.absent
        # Summed in the domain's order, so that equal texts have exactly equal defects.
        missing = sum(weight for name, weight in details.items() if name in lost)
        text = render(self.wording, self.item.facts | self.errors, dropped=self.dropped)
        return Text(text, Defects(wrong=self.wrong(text), missing=missing))

    def wrong(self, text: str) -> float:
        """Return the weight of the wrong facts that `text`, all or part of the draft, shows."""
        shown = set(visible_slots(self.wording, self.dropped)) & self.errors.keys()
        return sum(
            slot.weight
            for name, slot in self.item.domain.slots.items()
            if name in shown
            and re.search(rf"(?<!\w){re.escape(self.errors[name])}(?!\w)", text, re.IGNORECASE)
        )


def _careless(draft: _Draft, rates: Rates, *, rng: np.random.Generator) -> _Draft:
    """Get facts wrong and leave details out."""
    return draft.misstate(rates.misstate, rng=rng).shorten(rates.leave_out, rng=rng)


def _embroidered(draft: _Draft, rates: Rates, *, rng: np.random.Generator) -> Text:
    """Add a claim that the facts do not support."""
    plain = draft.text()
    if not draft.chance(rates.embroider, rng=rng):
        return plain
    claims = draft.item.domain.claims
    claim = claims[int(rng.integers(len(claims)))]
    return Text(f"{plain.text} {claim}", replace(plain.defects, unsupported=1.0))


def _rambling(draft: _Draft, rates: Rates, *, rng: np.random.Generator) -> Text:
    """Break off in mid-sentence and repeat phrases, as small recurrent networks did."""
    plain = draft.text()
    words = plain.text.removesuffix(".").split()
    length = len(words)
    if draft.chance(rates.break_off, rng=rng):
        # After a word that calls for another, somewhere in the second half.
        stops = [i for i in range(length // 2, length - 1) if words[i] in _DANGLING]
        if stops:
            words = words[: stops[int(rng.integers(len(stops)))] + 1]
    kept = len(words)
    remainder = " ".join(words)
    for _ in range(3):
        if draft.chance(rates.repeat, rng=rng):
            size = int(rng.integers(2, 6))
            start = int(rng.integers(max(1, len(words) - size)))
            words[start:start] = [word.rstrip(".,;:") for word in words[start : start + size]]
    defects = replace(
        plain.defects,
        wrong=draft.wrong(remainder),
        repeated=(len(words) - kept) / len(words),
        broken=0.5 + (length - kept) / length if kept < length else 0.0,
    )
    return Text(" ".join(words) + ".", defects)
