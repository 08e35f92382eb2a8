"""What the page is made of."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from matplotlib.figure import Figure

from steelyard.paper.modes import Modes
from steelyard.report.tables import Table

__all__ = [
    "Block",
    "ClaimTable",
    "ClaimVerdict",
    "Drawing",
    "Examples",
    "Folded",
    "Numbers",
    "PageSection",
    "PaperClaim",
    "Paragraph",
    "Points",
    "file_name",
]

ClaimVerdict = Literal["same", "near", "differs", "biased"]


@dataclass(frozen=True)
class PaperClaim:
    """A number of the paper, what came out, and what is right.

    Attributes
    ----------
    where : str
        PageSection, table or figure of the paper.
    what : str
        What the number is.
    printed, reproduced, corrected : str
        The number as printed, as it came out by the authors' rule, and free of bias; empty where
        there is none.
    verdict : {"same", "near", "differs", "biased"}
        Same to the printed digits; near, within Monte Carlo error or rounding; differs; or it came
        out, but estimates something else than it says.
    note : str
        Why.
    """

    where: str
    what: str
    printed: str
    reproduced: str
    corrected: str
    verdict: ClaimVerdict
    note: str = ""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; `kind` is its class in the style sheet."""

    template: ClassVar[str] = "text"
    text: str
    kind: str = ""


@dataclass(frozen=True)
class Points:
    """A list of remarks."""

    template: ClassVar[str] = "points"
    points: Sequence[str]


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure: also a file of this name."""

    template: ClassVar[str] = "drawing"
    name: str
    label: str
    figure: Figure
    caption: str


@dataclass(frozen=True)
class Numbers:
    """A table of numbers."""

    template: ClassVar[str] = "numbers"
    table: Table


@dataclass(frozen=True)
class ClaimTable:
    """Numbers of the paper with verdicts."""

    template: ClassVar[str] = "claims"
    claims: Sequence[PaperClaim]


@dataclass(frozen=True)
class Examples:
    """Texts in each mode of agreement."""

    template: ClassVar[str] = "examples"
    modes: Modes
    titles: Sequence[str]


@dataclass(frozen=True, eq=False)
class Folded:
    """Blocks that are shown when asked for."""

    template: ClassVar[str] = "folded"
    summary: str
    blocks: Sequence["Block"]


Block = Paragraph | Points | Drawing | Numbers | ClaimTable | Examples | Folded


@dataclass(frozen=True, eq=False)
class PageSection:
    """A part of the page, after a part of the paper."""

    anchor: str
    kicker: str
    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)


def file_name(*parts: str) -> str:
    """Return a name for a file, of letters, digits and hyphens.

    Examples
    --------
    >>> file_name("figure-5", "cnndm", "clear & short")
    'figure-5-cnndm-clear-short'
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", "-".join(parts)).strip("-")
