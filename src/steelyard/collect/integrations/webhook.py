"""Tells a program outside when a campaign stalls or ends."""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.integrations.outgoing import OutgoingError, send_json
from steelyard.collect.integrations.services import Outside
from steelyard.collect.money import micro
from steelyard.collect.policy.stopping import Lacking, lacking_judgments
from steelyard.collect.store import Store
from steelyard.collect.store.records import iso_time

__all__ = ["WebhookCaller"]

# Without a judgment for so long, a campaign that is open counts as stalled.
_STALL_MINUTES = 60
_ENDS = {
    "stopped": "The campaign was stopped.",
    "goal": "The goal is reached: the campaign is paused.",
    "judged": "Everything is judged.",
    "budget": "The budget is spent.",
}


@dataclass(kw_only=True)
class WebhookCaller(Outside):
    """Sends one message as JSON for every stall and every end, again until it is taken.

    A message may come twice if the server is killed right after it was taken.

    Attributes
    ----------
    address
        Where to send it.
    origin
        Where the dashboard is.
    started
        When this server began, in milliseconds: before that nobody could judge.
    """

    name = "webhook"
    address: str
    origin: str
    started: int

    @classmethod
    def of(cls, campaign: Campaign, store: Store, *, origin: str, now: int) -> Self | None:
        """Return who tells others of a campaign; None if nobody wants to be told."""
        if campaign.webhook is None:
            return None
        return cls(
            campaign=campaign, store=store, address=campaign.webhook, origin=origin, started=now
        )

    async def act(self, *, now: int) -> str | None:
        """Send what is due."""
        told = (await self.known()).get("memory", {}).get("told")
        asked = partial(lacking_judgments, price=micro(self.campaign.pay.per_judgment))
        found = await asyncio.to_thread(self.store.read, asked)
        event = self._event(found, now=now)
        if event == "open":
            await self.remember({"told": None})
        elif event not in {told, "paused"}:
            # whoever paused the campaign knows it, and the news from before still hold
            await self.send(self._news(event, found, now=now))
            await self.remember({"told": event})
        return None

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

    async def send(self, news: dict[str, Any]) -> None:
        """Send a message; an answer other than 2xx is a failure.

        Raises
        ------
        OutgoingError
            If it was not taken.
        """
        reply = await send_json("POST", self.address, news)
        if 200 <= reply.status < 300:
            return
        leads = ", and redirects are not followed" if 300 <= reply.status < 400 else ""
        raise OutgoingError(f"status {reply.status}{leads}", retry_seconds=reply.retry_seconds)

    def regret(self, error: OutgoingError, seconds: float) -> str:
        """Return what the dashboard says of a failure."""
        return (
            f"The webhook did not take a message: {error}. The campaign goes on; the message is sent "
            f"again in {seconds:.0f} seconds."
        )
