"""Keeps as many places of a study at Prolific open as the campaign needs, and pauses it otherwise."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Self

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.integrations.outgoing import OutgoingError, Reply, send_json
from steelyard.collect.integrations.panels import ProlificPanel, ProlificPlaces
from steelyard.collect.integrations.prolific_demand import wanted_visits
from steelyard.collect.integrations.services import Outside
from steelyard.collect.money import micro
from steelyard.collect.store import Store

__all__ = ["API", "ProlificApi", "Recruiter", "Study", "prolific_token"]

API = "https://api.prolific.com"
_TOKEN = "PROLIFIC_TOKEN"  # noqa: S105 - the name of a variable
_LONGEST = 200
_REASONS = {
    401: "the token is not valid",
    403: "the token may not do this",
    404: "there is no such study, or the token may not see it",
    429: "too many requests",
}
# All places are taken, or somebody ended the study.
_OVER = frozenset({"AWAITING REVIEW", "COMPLETED"})
# With any other status, Prolific is at work on the study.
_KNOWN = frozenset({"ACTIVE", "PAUSED", *_OVER})


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
    study : str
        Id of the study.
    token : str
        Lets us in; stands in no message.

    References
    ----------
    Prolific, "API reference": ``GET`` and ``PATCH /api/v1/studies/{id}/``, ``POST
    /api/v1/studies/{id}/transition/`` with ``PAUSE`` or ``START``; header ``Authorization: Token ...``.
    """

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
        url = f"{API}/api/v1/studies/{self.study}/{part}"
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


@dataclass(kw_only=True)
class Recruiter(Outside):
    """Brings a study in line with what the campaign needs, again and again.

    What is done follows from how study and campaign stand now, so that nothing is lost when a
    request fails or the server starts anew. A study that somebody paused or ended at Prolific
    stays so: only a pause of our own is ended by us. Nothing is ever published.

    Attributes
    ----------
    panel, declared
        What the campaign file says of Prolific.
    api
        The study.
    """

    name = "prolific"
    panel: ProlificPanel
    declared: ProlificPlaces
    api: ProlificApi

    @classmethod
    def of(cls, campaign: Campaign, store: Store) -> Self | None:
        """Return the recruiter of a campaign; None if its places are filled by hand.

        Raises
        ------
        InvalidDataError
            If the variable with the token is not set.
        """
        panel, token = campaign.panel, prolific_token(campaign)
        if token is None or not isinstance(panel, ProlificPanel) or panel.places is None:
            return None
        declared = panel.places
        api = ProlificApi(declared.study, token)
        return cls(campaign=campaign, store=store, panel=panel, declared=declared, api=api)

    def regret(self, error: OutgoingError, seconds: float) -> str:
        """Return what the dashboard says of a failure."""
        return (
            f"Prolific did not do what it was asked: {error}. The campaign goes on; places are "
            f"looked at again in {seconds:.0f} seconds, or fill and pause them by hand."
        )

    async def act(self, *, now: int) -> str | None:
        """Look at the study and do what is due."""
        study = await self.api.read()
        wanted = await asyncio.to_thread(
            self.store.read,
            partial(
                wanted_visits,
                per_visit=self.campaign.visit_judgments or 1,
                price=micro(self.campaign.pay.per_judgment),
                lease_ms=round(self.campaign.lease_minutes * 60_000),
                now=now,
            ),
        )
        told = [await self._acted(study, wanted), self._unknown_codes(study)]
        return " ".join(one for one in told if one) or None

    async def _acted(self, study: Study, wanted: int) -> str | None:
        """Do what is due; return what somebody must do at Prolific instead of us."""
        if not wanted:
            if study.status == "ACTIVE":
                # kept before: a pause that nobody remembers would last for ever
                await self.remember({"paused": True})
                await self.api.change("PAUSE")
            return None
        ours = bool((await self.known()).get("memory", {}).get("paused"))
        by_hand = _by_hand(study, ours=ours)
        if by_hand is not None or study.status not in _KNOWN:
            return by_hand
        study = await self._filled(study, wanted)
        if study.status == "PAUSED" and study.free:
            await self.api.change("START")
            await self.remember({"paused": False})
        elif ours and study.status == "ACTIVE":
            await self.remember({"paused": False})
        if study.free:
            return None
        return (
            f"All {study.places} places of the study are taken, judgments are lacking, and panel.places.most "
            "allows no more places: raise it in the campaign file and start the server again."
        )

    async def _filled(self, study: Study, wanted: int) -> Study:
        open_places = min(wanted, self.declared.at_once)
        places = min(study.taken + open_places, self.declared.most)
        return study if places <= study.places else await self.api.add_places(places)

    def _unknown_codes(self, study: Study) -> str | None:
        """Return which codes of the campaign file the study does not know."""
        if study.codes is None:
            return None
        named = {
            name: getattr(self.panel, name) for name in ("complete", "screen_out", "no_consent")
        }
        missing = [name for name, code in named.items() if code and code not in study.codes]
        if not missing:
            return None
        return (
            f"The study at Prolific does not know {', '.join(f'panel.{name}' for name in missing)} of the campaign "
            "file: give it that code there, or raters cannot go back."
        )


def prolific_token(campaign: Campaign) -> str | None:
    """Return the token for Prolific; None if places are filled by hand.

    Raises
    ------
    InvalidDataError
        If the variable that should hold it does not.
    """
    if not isinstance(campaign.panel, ProlificPanel) or campaign.panel.places is None:
        return None
    token = os.environ.get(_TOKEN, "").strip()
    if not token or not token.isascii() or not token.isprintable():
        raise campaign.error(
            ("panel", "places"),
            f"needs the environment variable {_TOKEN}, which holds no token: set it, or take out "
            "panel.places to fill places by hand",
        )
    return token


def _by_hand(study: Study, *, ours: bool) -> str | None:
    """Return what somebody must do at Prolific before the study brings raters."""
    if study.status == "PAUSED" and not ours:
        return "The study is paused at Prolific, and not by this server: start it there."
    if study.status in _OVER and study.free:
        return "The study was ended at Prolific: go on with it there, or stop the campaign."
    if study.status == "UNPUBLISHED":
        return "The study is not published at Prolific: publish it there."
    return None
