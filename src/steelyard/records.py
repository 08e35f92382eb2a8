"""The records people bring: an output of a system, and a judgment of an output.

The fields are the columns of the files. A field without a default is required.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Judgment", "Output"]


@dataclass(frozen=True, slots=True)
class Output:
    """A system's text for an item; the unit that is judged."""

    item: str
    system: str
    output: str
    input: str | None = None
    reference: tuple[str, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgment:
    """One rater's score of one output under one prompt."""

    item: str
    system: str
    rater: str
    prompt: str
    score: float
    seconds: float | None = None
    time: str | None = None
    probability: float | None = None
