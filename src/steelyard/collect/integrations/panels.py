"""Where raters come from and where they go back to: invitations, panels, open local use."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, Self, TypeAlias
from urllib.parse import quote, urlencode, urlsplit

from pydantic import Field, model_validator

from steelyard.collect.config.declared import Declared, mistake
from steelyard.collect.config.wording import phrase
from steelyard.errors import InvalidArgumentError

__all__ = [
    "AnyPanel",
    "Arrival",
    "ExternalQuestionPanel",
    "GenericPanel",
    "InvitationPanel",
    "OpenPanel",
    "Outcome",
    "Panel",
    "ProlificPanel",
    "Return",
]

Outcome: TypeAlias = Literal["complete", "screened-out", "excluded", "no-consent"]
Text = Annotated[str, Field(min_length=1)]

_LONGEST = 200
# How panels write what they fill in: {{%NAME%}}, {name}, ${name}, %NAME%, [NAME], <name>, or dots for any.
_PLACEHOLDER = re.compile(r"\$?\{.*\}|%+[^%]*%+|\[.*\]|<.*>|\.{2,}|…|_{2,}|-+|\?+")
_FILLED = re.compile(r"\{([^{}]*)\}")
_PROLIFIC = "https://app.prolific.com"
_NO_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"


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


class Panel(Declared):
    """A source of raters, as the campaign file names it."""

    kind: str
    path: ClassVar[str]

    @property
    def submits_to(self) -> tuple[str, ...]:
        """Origins to which a page may send a form."""
        return ()

    @property
    def framed_by(self) -> tuple[str, ...]:
        """Origins that may show our pages in a frame."""
        return ()

    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        """Return who came, or None if somebody only looks at a preview."""
        return Arrival(_parameter(query, "rater"), self.kind)

    def way_back(self, parameters: Mapping[str, str], *, outcome: Outcome) -> Return | None:
        """Return the way back to the panel; None if the page says thank you and no more."""
        del parameters, outcome
        return None

    def link(self, origin: str, token: str) -> str:
        """Return the address to give out."""
        return f"{origin}{self.path}?{urlencode({'token': token})}"


class InvitationPanel(Panel):
    """Raters with a link of their own, whom its token names (`rater` in the query)."""

    kind: Literal["invitation"] = "invitation"
    path: ClassVar[str] = "/join"


class OpenPanel(Panel):
    """Anybody with the link, once in each browser; for trying out, and for people in one room."""

    kind: Literal["open"] = "open"
    path: ClassVar[str] = "/join/open"


class _PanelWithEnds(Panel):
    """A panel to which raters go back, by a code or an address for each way a visit can end.

    Attributes
    ----------
    complete : str or None
        For a visit that was completed.
    screen_out : str or None
        For one that ended with the screening, with the tutorial or by a rule.
    no_consent : str or None
        For one without consent; by default `screen_out`.
    """

    complete: Text | None = None
    screen_out: Text | None = None
    no_consent: Text | None = None

    def _end(self, outcome: Outcome) -> str | None:
        if outcome == "complete":
            return self.complete
        return (self.no_consent if outcome == "no-consent" else None) or self.screen_out


class ProlificPanel(_PanelWithEnds):
    """Prolific: a rater goes back with a code.

    References
    ----------
    Prolific, "Setting up your study": the parameters PROLIFIC_PID, STUDY_ID and SESSION_ID, and
    the address ``/submissions/complete?cc=CODE``.
    """

    gone = {  # noqa: RUF012
        "completion_code": "it is called `complete`",
        "screen_out_code": "it is called `screen_out`",
        "no_consent_code": "it is called `no_consent`",
        "excluded_code": "whom a rule excludes goes back with `screen_out`",
        "places": "set the number of places, and pause the study, at Prolific; take it out",
    }

    kind: Literal["prolific"] = "prolific"
    path: ClassVar[str] = "/join/prolific"
    complete: Text

    @property
    def submits_to(self) -> tuple[str, ...]:
        """Prolific."""
        return (_PROLIFIC,)

    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        """Return the participant and the submission."""
        study = _parameter(query, "STUDY_ID")
        visit = _parameter(query, "SESSION_ID")
        return Arrival(_parameter(query, "PROLIFIC_PID"), visit, {"STUDY_ID": study})

    def way_back(self, parameters: Mapping[str, str], *, outcome: Outcome) -> Return | None:
        """Return the address that tells Prolific the code.

        Examples
        --------
        >>> ProlificPanel(complete="C1A2").way_back({}, outcome="complete").url
        'https://app.prolific.com/submissions/complete?cc=C1A2'
        """
        del parameters
        code = self._end(outcome)
        if code is None:
            return None
        url = f"{_PROLIFIC}/submissions/complete?{urlencode({'cc': code})}"
        return Return("GET", url, phrase("back-to-prolific"))

    def link(self, origin: str, token: str) -> str:
        """Return the study's address, with the placeholders that Prolific fills in."""
        names = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
        filled = "".join(f"&{name}={{{{%{name}%}}}}" for name in names)
        return super().link(origin, token) + filled


class ExternalQuestionPanel(Panel):
    """Raters from marketplaces that speak the ExternalQuestion protocol.

    They see our pages in a frame of their marketplace and submit to it.

    Attributes
    ----------
    hosts : tuple of str
        Where a form may be sent and who may frame our pages; nothing that a link says is followed
        unless it stands here.

    References
    ----------
    Amazon Mechanical Turk API Reference, "ExternalQuestion": assignmentId, hitId, workerId and
    turkSubmitTo; a form with assignmentId and one more field to ``/mturk/externalSubmit``.
    """

    kind: Literal["external-question"] = "external-question"
    path: ClassVar[str] = "/join/external"
    hosts: tuple[Text, ...] = Field(
        strict=False,
        min_length=1,
        default=("www.mturk.com", "workersandbox.mturk.com", "worker.mturk.com"),
    )

    @property
    def submits_to(self) -> tuple[str, ...]:
        """The hosts."""
        return tuple(
            (host if "://" in host else f"https://{host}").rstrip("/").lower()
            for host in self.hosts
        )

    @property
    def framed_by(self) -> tuple[str, ...]:
        """The hosts."""
        return self.submits_to

    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        """Return the worker and the assignment; None while the work is only previewed."""
        assignment = _parameter(query, "assignmentId")
        if assignment == _NO_ASSIGNMENT:
            return None
        origin = _origin(_parameter(query, "turkSubmitTo")).lower()
        if origin not in self.submits_to:
            raise InvalidArgumentError(
                f"`turkSubmitTo` must be one of {', '.join(self.submits_to)}; got {origin}: name its "
                "host under panel.hosts in the campaign file"
            )
        kept = {
            "assignmentId": assignment,
            "hitId": _parameter(query, "hitId"),
            "origin": origin,
        }
        return Arrival(_parameter(query, "workerId"), assignment, kept)

    def way_back(self, parameters: Mapping[str, str], *, outcome: Outcome) -> Return | None:
        """Return the form that submits the assignment.

        Examples
        --------
        >>> kept = {"assignmentId": "A1", "origin": "https://www.mturk.com"}
        >>> ExternalQuestionPanel().way_back(kept, outcome="complete").url
        'https://www.mturk.com/mturk/externalSubmit'
        """
        fields = {"assignmentId": parameters["assignmentId"], "outcome": outcome}
        address = f"{parameters['origin']}/mturk/externalSubmit"
        return Return("POST", address, phrase("submit"), fields)


class GenericPanel(_PanelWithEnds):
    """Any panel that adds ids to a link and is returned to by one.

    Attributes
    ----------
    rater, session : str
        Names of the parameters that hold the panel's ids; without one for the visit, a rater has one.

    Notes
    -----
    ``{name}`` in an address of the way back stands for a parameter of the link.
    """

    gone = {  # noqa: RUF012
        "return": "it is called `complete`",
        "excluded": "whom a rule excludes goes to `screen_out`",
    }

    kind: Literal["generic"] = "generic"
    path: ClassVar[str] = "/join/panel"
    rater: Text
    session: Text | None = None

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Self:
        for key in ("complete", "screen_out", "no_consent"):
            address = getattr(self, key)
            place = urlsplit(address or _PROLIFIC)
            names_host = place.hostname and "{" not in place.netloc
            if place.scheme not in {"http", "https"} or not names_host:
                raise mistake(
                    (key,),
                    f"must begin with https:// and a host, before any {{parameter}}; got {address!r}",
                )
        return self

    @property
    def submits_to(self) -> tuple[str, ...]:
        """Origins of the addresses."""
        return tuple(dict.fromkeys(map(_origin, self._addresses)))

    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        """Return the rater and the visit, and all that the way back will need."""
        kept = {name: _parameter(query, name) for name in self._kept}
        visit = "panel" if self.session is None else _parameter(query, self.session)
        return Arrival(_parameter(query, self.rater), visit, kept)

    def way_back(self, parameters: Mapping[str, str], *, outcome: Outcome) -> Return | None:
        """Return the address with every parameter in its place, encoded.

        Examples
        --------
        >>> panel = GenericPanel(rater="pid", complete="https://panel.example/done?id={pid}")
        >>> panel.way_back({"pid": "a&b"}, outcome="complete").url
        'https://panel.example/done?id=a%26b'
        """
        template = self._end(outcome)
        if template is None:
            return None
        url = _FILLED.sub(lambda place: quote(parameters[place[1]], safe=""), template)
        return Return("GET", url, phrase("back-to-panel"))

    def link(self, origin: str, token: str) -> str:
        """Return the address, with the parameters that the panel must fill in."""
        names = [self.rater, *([self.session] if self.session else []), *self._kept]
        filled = "".join(f"&{quote(name)}=..." for name in dict.fromkeys(names))
        return super().link(origin, token) + filled

    @property
    def _kept(self) -> list[str]:
        return list(dict.fromkeys(_FILLED.findall("".join(self._addresses))))

    @property
    def _addresses(self) -> list[str]:
        return [one for one in (self.complete, self.screen_out, self.no_consent) if one]


AnyPanel = Annotated[
    InvitationPanel | OpenPanel | ProlificPanel | ExternalQuestionPanel | GenericPanel,
    Field(discriminator="kind"),
]


def _parameter(query: Mapping[str, str], name: str) -> str:
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


def _origin(address: str) -> str:
    place = urlsplit(address)
    return f"{place.scheme}://{place.netloc}"
