"""One worker that computes snapshots for all who look, and for nobody when nobody does."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Callable
from time import monotonic, time_ns
from typing import Any

from steelyard.collect.campaign import Campaign
from steelyard.collect.live.pool import LivePool, read_pool
from steelyard.collect.live.snapshot import snapshot
from steelyard.collect.quality import apply_rules
from steelyard.collect.store import Store
from steelyard.collect.store.overview import newest
from steelyard.errors import SteelyardError

__all__ = ["LiveSnapshots"]

# A snapshot is at most this old when somebody looks ...
_LEAST_SECONDS = 2.0
# ... unless computing it takes longer than a fifth of that: raters come first.
_SHARE = 0.2
# Rates and predictions age even when no judgment comes in.
_GREATEST_SECONDS = 30.0
_HEARTBEAT_SECONDS = 15.0


class LiveSnapshots:
    """Snapshots of one campaign, shared by all who look through one event loop.

    A worker computes them in a thread: at most every two seconds, at most a fifth of the time, only
    while somebody looks, and only when something has changed (or half a minute has passed).

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    store : Store
        Its database.
    now : function, optional
        The time in milliseconds UTC; the system's by default.
    """

    def __init__(
        self, campaign: Campaign, store: Store, *, now: Callable[[], int] | None = None
    ) -> None:
        self._campaign = campaign
        self._store = store
        self._now = now or _milliseconds
        self._pool: LivePool | None = None
        self._latest: dict[str, Any] | None = None
        self._text = ""
        self._number = 0
        self._computed = -_GREATEST_SECONDS
        self._pause = _LEAST_SECONDS
        self._seen: object = None
        self._lookers = 0
        self._worker: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._wanted = asyncio.Event()
        self._lock = asyncio.Lock()
        self._closed = False

    async def latest(self) -> dict[str, Any]:
        """Return a snapshot, computed now unless the last one is fresh enough.

        Raises
        ------
        StoreError
            If the database cannot be read.
        """
        await self._bring_up_to_date()
        assert self._latest is not None
        return self._latest

    async def follow(self) -> AsyncGenerator[dict[str, Any]]:
        """Yield the present snapshot and every new one; ends when `close` is called."""
        async for _ in self._numbers(heartbeat=None):
            assert self._latest is not None
            yield self._latest

    async def events(self) -> AsyncGenerator[bytes]:
        """Yield the same as server-sent events, and a comment when there is nothing to say."""
        # A browser that lost the connection comes back after so many milliseconds.
        yield b"retry: 2000\n\n"
        async for is_new in self._numbers(heartbeat=_HEARTBEAT_SECONDS):
            yield f"event: snapshot\ndata: {self._text}\n\n".encode() if is_new else b": alive\n\n"

    def refresh(self) -> None:
        """Say that something was changed by hand, so that those who look see it at once."""
        self._computed = -_GREATEST_SECONDS
        self._seen = None
        self._pause = 0.0
        self._wanted.set()

    async def close(self) -> None:
        """End all that follow and the worker."""
        self._closed = True
        self._wake()
        if self._worker is not None:
            self._worker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._worker
            self._worker = None

    async def _numbers(self, *, heartbeat: float | None) -> AsyncGenerator[bool]:
        """Yield True for every new snapshot, and False after each `heartbeat` without one."""
        self._lookers += 1
        if self._worker is None and not self._closed:
            self._worker = asyncio.create_task(self._work())
        shown = 0
        try:
            while not self._closed:
                if self._number > shown:
                    shown = self._number
                    yield True
                    continue
                changed = self._changed
                try:
                    await asyncio.wait_for(changed.wait(), heartbeat)
                except TimeoutError:
                    yield False
        finally:
            self._lookers -= 1

    async def _work(self) -> None:
        """Compute while somebody looks."""
        try:
            while self._lookers and not self._closed:
                # The database may be away for a moment; who looks sees the last snapshot.
                with contextlib.suppress(SteelyardError):
                    await self._bring_up_to_date()
                self._wanted.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wanted.wait(), max(self._pause, 0.05))
        finally:
            self._worker = None

    async def _bring_up_to_date(self) -> None:
        async with self._lock:
            age = monotonic() - self._computed
            if self._latest is not None and age < self._pause:
                return
            if self._latest is not None and age < _GREATEST_SECONDS:
                seen = await asyncio.to_thread(self._store.read, newest)
                if seen == self._seen:
                    return
            started = monotonic()
            self._seen, self._latest, self._text = await asyncio.to_thread(self._compute)
            self._computed = monotonic()
            self._pause = max(_LEAST_SECONDS, (self._computed - started) * (1 / _SHARE - 1))
            self._number += 1
            self._wake()

    def _compute(self) -> tuple[object, dict[str, Any], str]:
        if self._pool is None:
            self._pool = read_pool(self._campaign)
        apply_rules(self._campaign, self._store, now=self._now())
        seen = self._store.read(newest)
        made = snapshot(self._campaign, self._store, now=self._now(), pool=self._pool)
        return seen, made, json.dumps(made, allow_nan=False, separators=(",", ":"))

    def _wake(self) -> None:
        """Wake all that wait, each once: those who come later wait for the next event."""
        self._changed.set()
        self._changed = asyncio.Event()


def _milliseconds() -> int:
    return time_ns() // 1_000_000
