"""Who comes from a panel, and how they go back."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from steelyard.errors import InvalidArgumentError

__all__ = ["Arrival", "Outcome", "Panel", "Return", "parameter"]

Outcome: TypeAlias = Literal["complete", "screened-out", "excluded", "no-consent"]

_LONGEST = 200
# How panels write what they fill in: {{%NAME%}}, {name}, ${name}, %NAME%, [NAME], <name>, or dots for any.
_PLACEHOLDER = re.compile(r"\$?\{.*\}|%+[^%]*%+|\[.*\]|<.*>|\.{2,}|…|_{2,}|-+|\?+")


@dataclass(frozen=True)
class Arrival:
    """Who came.

    Attributes
    ----------
    rater, session
        The panel's names of the rater and of this visit.
    parameters
        What the panel needs back at the end.
    """

    rater: str
    session: str
    parameters: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Return:
    """The way back to the panel: a link, or a form to send.

    Attributes
    ----------
    method, url, fields
        How, where and with what.
    label
        What the button says.
    """

    method: Literal["GET", "POST"]
    url: str
    label: str
    fields: dict[str, str] = field(default_factory=dict)


class Panel(Protocol):
    """A source of raters."""

    @property
    def path(self) -> str:
        """Where its link leads."""

    @property
    def submits_to(self) -> tuple[str, ...]:
        """Origins to which a page may send a form."""

    @property
    def framed_by(self) -> tuple[str, ...]:
        """Origins that may show our pages in a frame."""

    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        """Return who came, or None if somebody only looks at a preview."""

    def way_back(self, parameters: Mapping[str, str], *, outcome: Outcome) -> Return | None:
        """Return the way back to the panel, if it has one for this outcome."""

    def link(self, origin: str, token: str) -> str:
        """Return the address to give out."""


def parameter(query: Mapping[str, str], name: str) -> str:
    """Return a parameter of the link that a rater came by.

    Raises
    ------
    InvalidArgumentError
        If it is missing, no id, or a placeholder that the panel left as it was.
    """
    value = query.get(name, "").strip()
    if value == name or _PLACEHOLDER.fullmatch(value):
        # or all who come would be one rater
        raise InvalidArgumentError(
            f"`{name}` was not filled in by the panel: it holds the placeholder {value[:40]}; whoever "
            "runs the study must put the panel's own placeholder there"
        )
    if not value or len(value) > _LONGEST or not value.isprintable():
        raise InvalidArgumentError(
            f"`{name}` must stand in the link, with 1 to {_LONGEST} printable characters: open the "
            "link as the panel gave it"
        )
    return value
