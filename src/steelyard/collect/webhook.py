"""Tells an address of the user's choice when a campaign stalls or ends."""

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

from steelyard.collect.campaign import Campaign
from steelyard.collect.campaign_parts import Webhook
from steelyard.collect.outgoing import OutgoingError, send_json
from steelyard.collect.services import Patience
from steelyard.collect.store import Store
from steelyard.collect.store.course import Course, course
from steelyard.collect.store.ledger import micro
from steelyard.collect.store.records import iso_time
from steelyard.collect.store.services import Service, keep, service

__all__ = ["Herald"]

_NAME = "webhook"
_ENDS = {
    "stopped": "The campaign was stopped.",
    "goal": "The goal is reached: the campaign is paused.",
    "judged": "Everything is judged.",
    "budget": "The budget is spent.",
}


@dataclass
class Herald:
    """Sends one message for every stall and every end, again until it is taken.

    A message may come twice if the server is killed right after it was taken.

    Attributes
    ----------
    campaign, store
        What is asked, and where it is kept.
    declared
        What the campaign file says of it.
    origin
        Where the dashboard is.
    started
        When this server began, in milliseconds: before that nobody could judge.
    """

    campaign: Campaign
    store: Store
    declared: Webhook
    origin: str
    started: int
    patience: Patience

    @classmethod
    def of(cls, campaign: Campaign, store: Store, *, origin: str, now: int) -> Self | None:
        """Return the herald of a campaign; None if nobody wants to be told."""
        if campaign.webhook is None:
            return None
        return cls(campaign, store, campaign.webhook, origin, now, Patience())

    async def tend(self, *, now: int) -> None:
        """Send what is due; trouble is kept for the dashboard, never raised.

        Parameters
        ----------
        now : int
            Milliseconds.

        Raises
        ------
        StoreError
            If the database cannot be read or written.
        """
        if not self.patience.is_over(now):
            return
        known = await asyncio.to_thread(self.store.read, partial(service, name=_NAME))
        asked = partial(course, price=micro(self.campaign.pay.per_judgment))
        found = await asyncio.to_thread(self.store.read, asked)
        event = self._event(found, now=now)
        told = known.memory.get("told")
        if event == told:
            return
        if event in {"open", "paused"}:
            # whoever paused the campaign knows it, and the news from before still hold
            fresh = Service({"told": None if event == "open" else told})
        else:
            trouble = await self._sent(event, found, now=now)
            fresh = Service({"told": event if trouble is None else None}, trouble)
        if fresh != replace(known, memory={"told": told}):
            await asyncio.wrap_future(self.store.write(partial(keep, name=_NAME, known=fresh)))

    def _event(self, found: Course, *, now: int) -> str:
        """Return how the campaign stands, in one word."""
        if found.end is not None:
            return found.end
        if found.state != "running":
            return "paused"
        since = max(found.last or 0, found.changed, self.started)
        is_stalled = now - since >= self.declared.stall_minutes * 60_000
        return "stalled" if is_stalled else "open"

    async def _sent(self, event: str, found: Course, *, now: int) -> str | None:
        """Send a message; return what went wrong."""
        retry = None
        try:
            reply = await send_json("POST", self.declared.url, self._message(event, found, now=now))
        except OutgoingError as error:
            reason = str(error)
        else:
            if 200 <= reply.status < 300:
                self.patience.succeeded()
                return None
            leads = ", and redirects are not followed" if 300 <= reply.status < 400 else ""
            reason, retry = f"status {reply.status}{leads}", reply.retry_seconds
        seconds = self.patience.failed(now, retry_seconds=retry)
        return (
            f"The webhook did not take a message: {reason}. The campaign goes on; the message is sent "
            f"again in {seconds:.0f} seconds."
        )

    def _message(self, event: str, found: Course, *, now: int) -> dict[str, Any]:
        minutes = self.declared.stall_minutes
        return {
            "event": "stalled" if event == "stalled" else "ended",
            "reason": _ENDS.get(event, f"No judgment has come for {minutes:g} minutes."),
            "title": self.campaign.title,
            "dashboard": f"{self.origin}/admin",
            "time": iso_time(now),
            "state": found.state,
            "judgments": found.judgments,
            "lacking": found.lacking,
            "last_judgment": None if found.last is None else iso_time(found.last),
        }
