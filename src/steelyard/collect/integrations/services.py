"""Services outside that a campaign deals with: how often they are asked, and what becomes of trouble."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.integrations.outgoing import OutgoingError
from steelyard.collect.store import Store
from steelyard.collect.store.settings import keep_service, service

__all__ = ["Outside", "Patience"]

_FIRST_SECONDS = 30.0
_LONGEST_SECONDS = 600.0


@dataclass
class Patience:
    """Waits longer after every failure in a row: half a minute, then twice as long, up to ten minutes.

    Examples
    --------
    >>> patience = Patience()
    >>> patience.failed(0), patience.failed(30_000), patience.is_over(60_000), patience.is_over(90_000)
    (30.0, 60.0, False, True)
    """

    failures: int = 0
    until: int = 0

    def is_over(self, now: int) -> bool:
        """Whether it is time to ask (again)."""
        return now >= self.until

    def failed(self, now: int, *, retry_seconds: float | None = None) -> float:
        """Take note of a failure; return the seconds until the next attempt."""
        seconds = _FIRST_SECONDS * 2.0 ** min(self.failures, 10)
        seconds = min(max(seconds, retry_seconds or 0.0), _LONGEST_SECONDS)
        self.failures += 1
        self.until = now + round(1_000 * seconds)
        return seconds

    def succeeded(self) -> None:
        """Take note of a success."""
        self.failures = 0
        self.until = 0


@dataclass(kw_only=True)
class Outside(ABC):
    """A service outside with which a campaign deals from time to time.

    Whoever inherits says what is to be done; when it fails, the dashboard says so and it is tried
    again. What must be remembered is in the database, under the name of the service.

    Attributes
    ----------
    campaign, store
        What is asked, and where it is kept.
    patience
        When to try again.
    """

    name: ClassVar[str]
    campaign: Campaign
    store: Store
    patience: Patience = field(default_factory=Patience)

    @abstractmethod
    async def act(self, *, now: int) -> str | None:
        """Do what is due; return what somebody else must do, if anything.

        Raises
        ------
        OutgoingError
            If the service did not do what it was asked.
        """

    @abstractmethod
    def regret(self, error: OutgoingError, seconds: float) -> str:
        """Return what the dashboard says of a failure, after which so many seconds are waited."""

    async def tend(self, *, now: int) -> None:
        """Do what is due; trouble is kept for the dashboard, never raised.

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
        try:
            trouble = await self.act(now=now)
        except OutgoingError as error:
            seconds = self.patience.failed(now, retry_seconds=error.retry_seconds)
            trouble = self.regret(error, seconds)
        else:
            self.patience.succeeded()
        if trouble != (await self.known()).get("trouble"):
            await self._keep(trouble=trouble)

    async def known(self) -> Mapping[str, Any]:
        """Return what is remembered (``memory``), and what is wrong (``trouble``)."""
        return await asyncio.to_thread(self.store.read, partial(service, name=self.name))

    async def remember(self, memory: Mapping[str, Any]) -> None:
        """Remember something, besides what is remembered already."""
        before = (await self.known()).get("memory", {})
        fresh = {**before, **memory}
        if fresh != before:
            await self._keep(memory=fresh)

    async def _keep(self, **known: Any) -> None:
        await asyncio.wrap_future(self.store.write(partial(keep_service, name=self.name, **known)))
