"""Raters from any panel that can put an id into a link."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode, urlsplit

from steelyard.collect.panels.arriving import Arrival, Outcome, Return, parameter

__all__ = ["Generic", "leads_somewhere"]

_PLACE = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Generic:
    """Raters of any panel that can put their id into a link.

    Attributes
    ----------
    rater, session
        Names of the parameters with the panel's ids; without one for the visit, a rater has one.
    complete, screened_out, excluded, no_consent
        Addresses of the way back; ``{name}`` stands for a parameter of the link.
    """

    rater: str
    session: str | None = None
    complete: str | None = None
    screened_out: str | None = None
    excluded: str | None = None
    no_consent: str | None = None
    path: str = "/join/panel"
    framed_by: tuple[str, ...] = ()

    @property
    def submits_to(self) -> tuple[str, ...]:
        """Origins of the addresses."""
        return tuple(dict.fromkeys(_origin(one) for one in self._addresses()))

    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        """Return the rater and the visit, and all that the way back will need."""
        kept = {name: parameter(query, name) for name in self._kept()}
        visit = "panel" if self.session is None else parameter(query, self.session)
        return Arrival(parameter(query, self.rater), visit, kept)

    def way_back(self, parameters: Mapping[str, str], *, outcome: Outcome) -> Return | None:
        """Return the address with every parameter in its place, encoded.

        Examples
        --------
        >>> panel = Generic("pid", complete="https://panel.example/done?id={pid}")
        >>> panel.way_back({"pid": "a&b"}, outcome="complete").url
        'https://panel.example/done?id=a%26b'
        """
        templates = {
            "complete": self.complete,
            "excluded": self.excluded or self.screened_out,
            "no-consent": self.no_consent or self.screened_out,
        }
        template = templates.get(outcome, self.screened_out)
        if template is None:
            return None
        url = _PLACE.sub(lambda place: quote(parameters[place[1]], safe=""), template)
        return Return("GET", url, "Back to the panel")

    def link(self, origin: str, token: str) -> str:
        """Return the address, with the parameters that the panel must fill in."""
        names = dict.fromkeys(
            [self.rater, *([self.session] if self.session else []), *self._kept()]
        )
        filled = "".join(f"&{quote(name)}=..." for name in names)
        return f"{origin}{self.path}?{urlencode({'token': token})}{filled}"

    def _kept(self) -> Iterable[str]:
        return dict.fromkeys(_PLACE.findall("".join(self._addresses())))

    def _addresses(self) -> list[str]:
        named = (self.complete, self.screened_out, self.excluded, self.no_consent)
        return [one for one in named if one]


def leads_somewhere(template: str) -> bool:
    """Tell whether an address names its host before any parameter."""
    place = urlsplit(template)
    return place.scheme in {"http", "https"} and bool(place.hostname) and "{" not in place.netloc


def _origin(template: str) -> str:
    place = urlsplit(template)
    return f"{place.scheme}://{place.netloc}"
