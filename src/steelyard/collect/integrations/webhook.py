"""Tells a program outside when a campaign stalls or ends."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import httpx

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.money import micro
from steelyard.collect.policy.stopping import Lacking, lacking_judgments
from steelyard.collect.store import Store
from steelyard.collect.store.records import iso_time
from steelyard.collect.store.settings import keep_service, service
from steelyard.errors import SteelyardError
from steelyard.version import __version__

__all__ = ["Webhook", "WebhookError"]

_NAME = "webhook"
# Without a judgment for so long, a campaign that is open counts as stalled.
_STALL_MINUTES = 60
# From the look-up of the name to the status.
_PATIENCE_SECONDS = 10.0
# After a failure so long is waited, after the next one twice as long, and so on.
_FIRST_SECONDS, _LONGEST_SECONDS = 30.0, 600.0
_ENDS = {
    "stopped": "The campaign was stopped.",
    "goal": "The goal is reached: the campaign is paused.",
    "judged": "Everything is judged.",
    "budget": "The budget is spent.",
}


class WebhookError(SteelyardError, ConnectionError):
    """A message was not taken."""


@dataclass(kw_only=True)
class Webhook:
    """Sends one message as JSON for every stall and every end, again until it is taken.

    A message may come twice if the server is killed right after it was taken.

    Attributes
    ----------
    campaign, store
        What is told of, and where it is kept what was told.
    address
        Where to send it.
    origin
        Where the dashboard is.
    started
        When this server began, in milliseconds: before that nobody could judge.
    """

    campaign: Campaign
    store: Store
    address: str
    origin: str
    started: int
    _failures: int = field(default=0, init=False)
    _until: int = field(default=0, init=False)

    @classmethod
    def of(cls, campaign: Campaign, store: Store, *, origin: str, now: int) -> Self | None:
        """Return who tells others of a campaign; None if nobody wants to be told."""
        if campaign.webhook is None:
            return None
        return cls(
            campaign=campaign, store=store, address=campaign.webhook, origin=origin, started=now
        )

    async def tend(self, *, now: int) -> None:
        """Send what is due; trouble is kept for the dashboard, never raised.

        Raises
        ------
        StoreError
            If the database cannot be read or written.
        """
        if now < self._until:
            return
        known = await self._known()
        told, trouble = known.get("memory", {}).get("told"), None
        try:
            told = await self._told(told, now=now)
            self._failures = 0
        except WebhookError as error:
            seconds = min(_FIRST_SECONDS * 2.0**self._failures, _LONGEST_SECONDS)
            self._failures = min(self._failures + 1, 10)
            self._until = now + round(1_000 * seconds)
            trouble = (
                f"The webhook did not take a message: {error}. The campaign goes on; the message is sent "
                f"again in {seconds:.0f} seconds."
            )
        memory = {"told": told}
        if (memory, trouble) != (known.get("memory", {"told": None}), known.get("trouble")):
            keep = partial(keep_service, name=_NAME, memory=memory, trouble=trouble)
            await asyncio.wrap_future(self.store.write(keep))

    async def _told(self, told: str | None, *, now: int) -> str | None:
        """Send what is due, and return what has been told."""
        asked = partial(lacking_judgments, price=micro(self.campaign.pay.per_judgment))
        found = await asyncio.to_thread(self.store.read, asked)
        event = self._event(found, now=now)
        if event == "open":
            return None
        # whoever paused the campaign knows it, and the news from before still hold
        if event in {told, "paused"}:
            return told
        await self._send(self._news(event, found, now=now))
        return event

    def _event(self, found: Lacking, *, now: int) -> str:
        """Return how the campaign stands, in one word."""
        if found.end is not None:
            return found.end
        if found.state != "running":
            return "paused"
        since = max(found.last or 0, found.changed, self.started)
        is_stalled = now - since >= _STALL_MINUTES * 60_000
        return "stalled" if is_stalled else "open"

    def _news(self, event: str, found: Lacking, *, now: int) -> dict[str, Any]:
        return {
            "event": "stalled" if event == "stalled" else "ended",
            "reason": _ENDS.get(event, f"No judgment has come for {_STALL_MINUTES} minutes."),
            "title": self.campaign.title,
            "dashboard": f"{self.origin}/admin",
            "time": iso_time(now),
            "state": found.state,
            "judgments": found.judgments,
            "lacking": found.lacking,
            "last_judgment": None if found.last is None else iso_time(found.last),
        }

    async def _send(self, news: Mapping[str, Any]) -> None:
        """Send a message; an answer other than 2xx is a failure, and no redirect is followed.

        Raises
        ------
        WebhookError
            If it was not taken. The message does not name the address, which may hold a secret.
        """
        headers = {"User-Agent": f"steelyard/{__version__}"}
        try:
            async with (
                asyncio.timeout(_PATIENCE_SECONDS),
                httpx.AsyncClient(trust_env=False, timeout=_PATIENCE_SECONDS) as client,
                client.stream("POST", self.address, json=dict(news), headers=headers) as reply,
            ):
                status = reply.status_code
        except TimeoutError:
            raise WebhookError(f"no answer within {_PATIENCE_SECONDS:g} seconds") from None
        except (httpx.HTTPError, OSError) as error:
            raise WebhookError(f"no connection ({type(error).__name__})") from None
        if not 200 <= status < 300:
            leads = ", and redirects are not followed" if 300 <= status < 400 else ""
            raise WebhookError(f"status {status}{leads}")

    async def _known(self) -> Mapping[str, Any]:
        return await asyncio.to_thread(self.store.read, partial(service, name=_NAME))
