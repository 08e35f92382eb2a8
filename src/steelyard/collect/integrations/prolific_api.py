"""A study at Prolific, by way of its API."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from steelyard.collect.integrations.outgoing import OutgoingError, Reply, send_json

__all__ = ["ProlificApi", "Study"]

_LONGEST = 200
_REASONS = {
    401: "the token is not valid",
    403: "the token may not do this",
    404: "there is no such study, or the token may not see it",
    429: "too many requests",
}


@dataclass(frozen=True)
class Study:
    """A study as Prolific knows it.

    Attributes
    ----------
    status : str
        ``UNPUBLISHED``, ``ACTIVE``, ``PAUSED``, ``AWAITING REVIEW``, ``COMPLETED`` and others.
    places, taken : int
        Places in all, and those that somebody has or had.
    codes : frozenset of str or None
        The codes that it accepts; None if the answer has none.
    """

    status: str
    places: int
    taken: int
    codes: frozenset[str] | None = None

    @property
    def free(self) -> int:
        """Places that nobody has."""
        return max(0, self.places - self.taken)


@dataclass(frozen=True)
class ProlificApi:
    """Reads and changes one study.

    Attributes
    ----------
    address : str
        Where the API is.
    study : str
        Id of the study.
    token : str
        Lets us in; stands in no message.

    References
    ----------
    Prolific, "API reference": ``GET`` and ``PATCH /api/v1/studies/{id}/``, ``POST
    /api/v1/studies/{id}/transition/`` with ``PAUSE`` or ``START``; header ``Authorization: Token ...``.
    """

    address: str
    study: str
    token: str = field(repr=False)

    async def read(self) -> Study:
        """Return the study as it is now."""
        return _study(await self._ask("GET"))

    async def add_places(self, places: int) -> Study:
        """Let the study have so many places in all."""
        return _study(await self._ask("PATCH", {"total_available_places": places}))

    async def change(self, action: Literal["PAUSE", "START"]) -> None:
        """Pause the study, or go on with it."""
        await self._ask("POST", {"action": action}, part="transition/")

    async def _ask(
        self, method: str, body: Mapping[str, Any] | None = None, *, part: str = ""
    ) -> Reply:
        url = f"{self.address.rstrip('/')}/api/v1/studies/{self.study}/{part}"
        reply = await send_json(method, url, body, headers={"Authorization": f"Token {self.token}"})
        if not 200 <= reply.status < 300:
            words = _REASONS.get(reply.status) or self._said(reply) or "no reason was given"
            raise OutgoingError(
                f"{words} (status {reply.status})", retry_seconds=reply.retry_seconds
            )
        return reply

    def _said(self, reply: Reply) -> str:
        """Return why a request was refused, on one line and without the token."""
        if 300 <= reply.status < 400:
            return "it leads elsewhere, and redirects are not followed"
        text = reply.body[: 10 * _LONGEST].decode(errors="replace").replace(self.token, "[...]")
        return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_LONGEST]


def _study(reply: Reply) -> Study:
    said = reply.json()
    try:
        codes = said.get("completion_codes")
        return Study(
            status=str(said["status"]),
            places=int(said["total_available_places"]),
            taken=int(said.get("places_taken") or 0),
            codes=frozenset(str(one["code"]) for one in codes) if codes else None,
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        raise OutgoingError("the answer does not describe a study") from None
