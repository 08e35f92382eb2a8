"""What is to be said about some systems: each thing once, with the systems that it is about."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from steelyard.questions.answer import enumeration
from steelyard.questions.estimates import Estimate
from steelyard.report.findings import PromptFindings, SystemFindings

__all__ = ["Remark", "comparison_notes", "estimates_of", "grouped", "notes", "remark_on"]

# More systems than this are counted; the page shows all of them to whoever points there.
_NAMED = 4


@dataclass(frozen=True)
class Remark:
    """Something to be said about some systems, or about all if `about` is empty.

    Attributes
    ----------
    about, text : str
        The systems, of many the first only, and what there is to say.
    everyone : str
        All the systems, where `about` names some of them only.
    """

    about: str
    text: str
    everyone: str = ""


def remark_on(systems: Sequence[str], text: str) -> Remark:
    """Return a remark on these systems, of many the first by name."""
    if len(systems) <= _NAMED:
        return Remark(enumeration(systems), text)
    shown = [*systems[: _NAMED - 1], f"{len(systems) - _NAMED + 1} more"]
    return Remark(enumeration(shown), text, everyone=enumeration(systems))


def grouped(findings: PromptFindings, said: Iterable[tuple[str, str]]) -> list[Remark]:
    """Say each thing once, with the systems that it is about."""
    about: dict[str, list[str]] = {}
    for system, text in said:
        systems = about.setdefault(text, [])
        if system not in systems:
            systems.append(system)
    everyone = {one.system for one in findings.systems}
    return [
        Remark("", text) if everyone <= set(systems) else remark_on(systems, text)
        for text, systems in about.items()
    ]


def notes(findings: PromptFindings, warnings: Mapping[str, Sequence[str]]) -> list[Remark]:
    """Return the notes of all estimates and diagnoses, without what was said as a warning."""
    return _without_openings(grouped(findings, _notes(findings, warnings)))


def comparison_notes(findings: PromptFindings, notes: Sequence[str]) -> tuple[str, ...]:
    """Return the notes on a comparison that are not said of the estimates already."""
    said = set(findings.remarks)
    for one in findings.systems:
        said |= {f"{one.system}: {note}" for found in estimates_of(one) for note in found.notes}
        said.add(f"{one.system} is left out: {one.gap}")
    return tuple(note for note in notes if note not in said)


def estimates_of(one: SystemFindings) -> Iterator[Estimate]:
    """Return a system's estimate, if it has one."""
    if one.estimate is not None:
        yield one.estimate


def _notes(
    findings: PromptFindings, warnings: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str]]:
    everyone = [one.system for one in findings.systems]
    yield from ((system, remark) for remark in findings.remarks for system in everyone)
    for one in findings.systems:
        said = warnings.get(one.system, ())
        for found in estimates_of(one):
            yield from ((one.system, note) for note in found.notes if note not in said)
    if findings.diagnosis is not None:
        yield from ((system, note) for note in findings.diagnosis.notes for system in everyone)


def _without_openings(said: list[Remark]) -> list[Remark]:
    """Leave out notes that are but the opening of another."""
    return [
        one
        for one in said
        if not any(other.text.startswith(one.text) for other in said if other is not one)
    ]
