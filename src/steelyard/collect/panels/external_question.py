"""Raters from marketplaces that speak the ExternalQuestion protocol."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from steelyard.collect.panels.arriving import Arrival, Outcome, Return, parameter
from steelyard.errors import InvalidArgumentError

__all__ = ["ExternalQuestion"]

_NO_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"


@dataclass(frozen=True)
class ExternalQuestion:
    """Raters who see our pages in a frame of their marketplace and submit to it.

    Attributes
    ----------
    origins
        Where a form may be sent and who may frame our pages; nothing that a link says is
        followed unless it stands here.

    References
    ----------
    Amazon Mechanical Turk API Reference, "ExternalQuestion": assignmentId, hitId, workerId and
    turkSubmitTo; a form with assignmentId and one more field to ``/mturk/externalSubmit``.
    """

    origins: tuple[str, ...]
    path: str = "/join/external"

    @property
    def submits_to(self) -> tuple[str, ...]:
        """Origins to which the page may send its form."""
        return self.origins

    @property
    def framed_by(self) -> tuple[str, ...]:
        """Origins that may show our pages in a frame."""
        return self.origins

    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        """Return the worker and the assignment; None while the work is only previewed."""
        assignment = parameter(query, "assignmentId")
        if assignment == _NO_ASSIGNMENT:
            return None
        place = urlsplit(parameter(query, "turkSubmitTo"))
        origin = f"{place.scheme}://{place.netloc}".lower()
        if origin not in self.origins:
            raise InvalidArgumentError(
                f"`turkSubmitTo` must be one of {', '.join(self.origins)}; got {origin}: name its "
                "host under panel.hosts in the campaign file"
            )
        kept = {
            "assignmentId": assignment,
            "hitId": parameter(query, "hitId"),
            "origin": origin,
        }
        return Arrival(parameter(query, "workerId"), assignment, kept)

    def way_back(self, parameters: Mapping[str, str], *, outcome: Outcome) -> Return | None:
        """Return the form that submits the assignment.

        Examples
        --------
        >>> panel = ExternalQuestion(("https://www.mturk.com",))
        >>> kept = {"assignmentId": "A1", "origin": "https://www.mturk.com"}
        >>> panel.way_back(kept, outcome="complete").url
        'https://www.mturk.com/mturk/externalSubmit'
        """
        fields = {"assignmentId": parameters["assignmentId"], "outcome": outcome}
        address = f"{parameters['origin']}/mturk/externalSubmit"
        return Return("POST", address, "Submit", fields)

    def link(self, origin: str, token: str) -> str:
        """Return the address of the ExternalURL."""
        return f"{origin}{self.path}?{urlencode({'token': token})}"
