"""Tells people and programs outside when a campaign stalls or ends."""

import asyncio
from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any

from steelyard.collect.campaign import Campaign
from steelyard.collect.campaign_news import Email, Webhook
from steelyard.collect.mail import send_mail
from steelyard.collect.outgoing import OutgoingError, send_json
from steelyard.collect.services import Outside, secret_word
from steelyard.collect.store import Store
from steelyard.collect.store.course import Course, course
from steelyard.collect.store.ledger import micro
from steelyard.collect.store.records import iso_time

__all__ = ["Herald", "Mailer", "WebhookCaller", "heralds_of", "mail_password"]

_ENDS = {
    "stopped": "The campaign was stopped.",
    "goal": "The goal is reached: the campaign is paused.",
    "judged": "Everything is judged.",
    "budget": "The budget is spent.",
}


@dataclass(kw_only=True)
class Herald(Outside):
    """Sends one message for every stall and every end, again until it is taken.

    A message may come twice if the server is killed right after it was taken.

    Attributes
    ----------
    origin
        Where the dashboard is.
    started
        When this server began, in milliseconds: before that nobody could judge.
    stall_minutes
        Time without a judgment after which a campaign that is open counts as stalled.
    """

    origin: str
    started: int
    stall_minutes: float

    @abstractmethod
    async def send(self, news: dict[str, Any]) -> None:
        """Send a message.

        Raises
        ------
        OutgoingError
            If it was not taken.
        """

    async def act(self, *, now: int) -> str | None:
        """Send what is due."""
        told = (await self.known()).memory.get("told")
        asked = partial(course, price=micro(self.campaign.pay.per_judgment))
        found = await asyncio.to_thread(self.store.read, asked)
        event = self._event(found, now=now)
        if event == "open":
            await self.remember({"told": None})
        elif event not in {told, "paused"}:
            # whoever paused the campaign knows it, and the news from before still hold
            await self.send(self._news(event, found, now=now))
            await self.remember({"told": event})
        return None

    def _event(self, found: Course, *, now: int) -> str:
        """Return how the campaign stands, in one word."""
        if found.end is not None:
            return found.end
        if found.state != "running":
            return "paused"
        since = max(found.last or 0, found.changed, self.started)
        is_stalled = now - since >= self.stall_minutes * 60_000
        return "stalled" if is_stalled else "open"

    def _news(self, event: str, found: Course, *, now: int) -> dict[str, Any]:
        stalled = f"No judgment has come for {self.stall_minutes:g} minutes."
        return {
            "event": "stalled" if event == "stalled" else "ended",
            "reason": _ENDS.get(event, stalled),
            "title": self.campaign.title,
            "dashboard": f"{self.origin}/admin",
            "time": iso_time(now),
            "state": found.state,
            "judgments": found.judgments,
            "lacking": found.lacking,
            "last_judgment": None if found.last is None else iso_time(found.last),
        }


@dataclass(kw_only=True)
class WebhookCaller(Herald):
    """Sends news as JSON to an address."""

    name = "webhook"
    declared: Webhook

    async def send(self, news: dict[str, Any]) -> None:
        """Send a message; an answer other than 2xx is a failure."""
        reply = await send_json("POST", self.declared.url, news)
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


@dataclass(kw_only=True)
class Mailer(Herald):
    """Sends news by e-mail."""

    name = "email"
    declared: Email
    password: str | None

    async def send(self, news: dict[str, Any]) -> None:
        """Send a message in words."""
        last = news["last_judgment"] or "none yet"
        await send_mail(
            self.declared,
            self.password,
            subject=f"{news['title']}: {news['event']}",
            text=(
                f"{news['reason']}\n\nCampaign: {news['title']}\nState: {news['state']}\n"
                f"Judgments: {news['judgments']} given, {news['lacking']} lacking\n"
                f"Last judgment: {last}\nDashboard: {news['dashboard']}\n"
            ),
        )

    def regret(self, error: OutgoingError, seconds: float) -> str:
        """Return what the dashboard says of a failure."""
        return (
            f"The mail server did not take a message: {error}. The campaign goes on; the message is "
            f"sent again in {seconds:.0f} seconds."
        )


def heralds_of(campaign: Campaign, store: Store, *, origin: str, now: int) -> list[Herald]:
    """Return who tells others of a campaign; nobody if nobody wants to be told.

    Raises
    ------
    InvalidDataError
        If the variable with the password of the mail server is not set.
    """
    found: list[Herald] = []
    facts: dict[str, Any] = {
        "campaign": campaign,
        "store": store,
        "origin": origin,
        "started": now,
    }
    hook, mail = campaign.webhook, campaign.email
    if hook is not None:
        found.append(WebhookCaller(**facts, declared=hook, stall_minutes=hook.stall_minutes))
    if mail is not None:
        password = mail_password(campaign)
        minutes = mail.stall_minutes
        found.append(Mailer(**facts, declared=mail, password=password, stall_minutes=minutes))
    return found


def mail_password(campaign: Campaign) -> str | None:
    """Return the password for the mail server; None if it needs none.

    Raises
    ------
    InvalidDataError
        If the variable that should hold it does not.
    """
    if campaign.email is None or campaign.email.password_env is None:
        return None
    key = ("email", "password_env")
    return secret_word(campaign, key, what="password", otherwise="take out email.user")
