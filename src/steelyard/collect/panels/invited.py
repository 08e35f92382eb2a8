"""Raters without a panel: invited one by one, or all by one open link."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from steelyard.collect.panels.arriving import Arrival, Outcome, Return, parameter

__all__ = ["Invitation", "Open"]


@dataclass(frozen=True)
class Invitation:
    """Every rater has a link of their own, and one visit."""

    path: str = "/join"
    submits_to: tuple[str, ...] = ()
    framed_by: tuple[str, ...] = ()

    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        """Return the rater whom the link's token names (`rater` in the query)."""
        return Arrival(parameter(query, "rater"), "invitation")

    def way_back(self, parameters: Mapping[str, str], *, outcome: Outcome) -> Return | None:
        """Return None: the page says thank you."""
        del parameters, outcome
        return None

    def link(self, origin: str, token: str) -> str:
        """Return the address for the rater whom `token` names."""
        return f"{origin}{self.path}?{urlencode({'token': token})}"


@dataclass(frozen=True)
class Open:
    """Whoever has the link is a new rater, once in each browser."""

    path: str = "/join/open"
    submits_to: tuple[str, ...] = ()
    framed_by: tuple[str, ...] = ()

    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        """Return the new rater (`rater` in the query, made by the server)."""
        return Arrival(parameter(query, "rater"), "open")

    def way_back(self, parameters: Mapping[str, str], *, outcome: Outcome) -> Return | None:
        """Return None: the page says thank you."""
        del parameters, outcome
        return None

    def link(self, origin: str, token: str) -> str:
        """Return the address for everybody."""
        return f"{origin}{self.path}?{urlencode({'token': token})}"
