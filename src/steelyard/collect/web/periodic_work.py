"""What a campaign does from time to time, also while nobody looks."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field

from steelyard.collect.integrations.webhook import Webhook
from steelyard.collect.store.settings import current
from steelyard.collect.web.site import Site
from steelyard.errors import SteelyardError

__all__ = ["PeriodicWork"]

_SECONDS = 30.0


@dataclass
class PeriodicWork:
    """Applies the rules of quality, looks for the goal, and tells the webhook.

    What goes wrong in one of them is logged, and tried again the next time.

    Attributes
    ----------
    site
        The campaign as it is served.
    webhook
        Whom to tell when the campaign stalls or ends, unless another process does.
    turn
        Held while rules and goal are looked at, which takes a core: campaigns of one server take turns.
    """

    site: Site
    webhook: Webhook | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _task: asyncio.Task[None] | None = field(default=None, init=False)

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._run())

    async def end(self) -> None:
        """End, also in the middle of a request to others."""
        if self._task is not None:
            self._task.cancel()

    async def serve_outside(self) -> None:
        """Tell the webhook what is due, once."""
        if self.webhook is not None:
            await self._tried("the webhook was not told", self.webhook.tend(now=self.site.clock()))

    async def _run(self) -> None:
        while True:
            await self.serve_outside()
            try:
                async with asyncio.timeout(_SECONDS):
                    await self.site.changed.wait()
            except TimeoutError:
                await self._tried("the rules of quality were not applied", self._rules())
            self.site.changed.clear()

    async def _rules(self) -> None:
        found = await self.site.read(current)
        if found is not None:
            # another process may have changed it
            self.site.notice = found.message or ""
        async with self.turn:
            await self.site.live.apply_rules()
            await self.site.live.look_for_goal()

    async def _tried(self, failed: str, duty: Awaitable[None]) -> None:
        try:
            await duty
        except SteelyardError as error:
            self.site.log.warning("%s: %s", failed, error)
