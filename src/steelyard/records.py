"""The records people bring: an output of a system, and a judgment of an output.

The fields are the columns of the files. A field without a default is required.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, ClassVar, overload

__all__ = [
    "ALSO_BY",
    "DOCUMENTS",
    "DRAW_COLUMNS",
    "DRAW_RECORD",
    "ONLY_PROMPT",
    "PLACE",
    "UNKNOWN_RATER",
    "VERSION",
    "Judgment",
    "Output",
    "names_of",
    "optional_columns",
    "required_columns",
]

# The rater of all judgments where raters are not known, and the prompt where there is one question.
UNKNOWN_RATER = "unknown"
ONLY_PROMPT = "overall"
# The column of judgments that names the earlier campaign they come from; empty for those of today.
VERSION = "#version"

# What a drawn sample records of each output, beside the output itself.
# The design of a draw of whole documents, whose outputs are in clusters.
DOCUMENTS = "documents"
DRAW_COLUMNS = (
    "probability",
    "stratum",
    "stratum_size",
    "share",
    "draw",
    "design",
    "seed",
    "signature",
)
# What a sample that holds each text once records of it: the other systems that wrote it, as a JSON list.
ALSO_BY = "also_by"
# And a spread draw its wave and the place along what the wave was spread by.
PLACE = "place"
# All that a draw may record of an output.
DRAW_RECORD = (*DRAW_COLUMNS, PLACE)


@dataclass(frozen=True, slots=True)
class Output:
    """A system's text for an item; the unit that is judged."""

    key: ClassVar[tuple[str, ...]] = ("item", "system")

    item: str
    system: str
    output: str
    input: str | None = None
    reference: tuple[str, ...] = ()
    # Not one column but any number of them: every other column that holds numbers.
    metrics: Mapping[str, float] = field(default_factory=dict, metadata={"column": False})


@dataclass(frozen=True, slots=True)
class Judgment:
    """One rater's score of one output under one prompt."""

    key: ClassVar[tuple[str, ...]] = ("item", "system", "rater", "prompt")

    item: str
    system: str
    score: float
    # Raters may be unknown, and there may be one question only, which then needs no name.
    rater: str = UNKNOWN_RATER
    prompt: str = ONLY_PROMPT
    seconds: float | None = None
    time: str | None = None
    probability: float | None = None
    # Of a preference: the system that this one was compared with, and which of the two was shown first.
    other_system: str | None = None
    first_system: str | None = None
    # Of its prompt: whether lower scores are better, as of ranks and counted errors.
    lower_is_better: bool | None = None


Record = Output | Judgment


def required_columns(record: type[Record]) -> tuple[str, ...]:
    """Return the columns that a file of such records must have.

    Examples
    --------
    >>> required_columns(Judgment)
    ('item', 'system', 'score')
    """
    return tuple(column.name for column in _columns(record) if not _has_default(column))


def optional_columns(record: type[Record]) -> tuple[str, ...]:
    """Return the columns that a file of such records may have, besides any others.

    Examples
    --------
    >>> optional_columns(Output)
    ('input', 'reference')
    """
    return tuple(column.name for column in _columns(record) if _has_default(column))


def _columns(record: type[Record]) -> tuple[Field[Any], ...]:
    return tuple(entry for entry in fields(record) if entry.metadata.get("column", True))


def _has_default(column: Field[Any]) -> bool:
    return column.default is not MISSING or column.default_factory is not MISSING


@overload
def names_of(given: str | Sequence[str]) -> tuple[str, ...]: ...
@overload
def names_of(given: None) -> None: ...
@overload
def names_of(given: str | Sequence[str] | None) -> tuple[str, ...] | None: ...
def names_of(given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the names that were given; a single text is one name, not its letters.

    Examples
    --------
    >>> names_of("rouge-l"), names_of(["bleu", "chrf"]), names_of(None)
    (('rouge-l',), ('bleu', 'chrf'), None)
    """
    if given is None:
        return None
    return (given,) if isinstance(given, str) else tuple(given)
