"""One worker that has snapshots computed for all who look, and for nobody when nobody does."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from time import monotonic, process_time, time_ns
from typing import Any

from sqlalchemy import Connection

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.dashboard.observer import Observer, View
from steelyard.collect.dashboard.snapshot import snapshot
from steelyard.collect.policy.exclusion import due, due_for, exclude, has_rules
from steelyard.collect.policy.stopping import let_go, pause_at_goal
from steelyard.collect.store import Store
from steelyard.collect.store.progress import newest
from steelyard.collect.store.settings import current
from steelyard.errors import SteelyardError

__all__ = ["LiveSnapshots"]

# A snapshot is at most this old when somebody looks ...
_LEAST_SECONDS = 2.0
# ... unless computing it takes longer than a fifth of that, of one core: raters come first.
_SHARE = 0.2
# Rates and predictions age even when no judgment comes in.
_GREATEST_SECONDS = 30.0
_HEARTBEAT_SECONDS = 15.0


class LiveSnapshots:
    """Snapshots of one campaign, shared by all who look through one event loop.

    They are computed by the `observer`: at most every two seconds, at most a
    fifth of the time of one core, only while somebody looks, and only when something has changed
    (or half a minute has passed). What goes wrong there is tried again. All methods that compute raise StoreError if the
    database cannot be read or written, and ObserverError if the observer failed.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    store : Store
        Its database.
    now : function, optional
        The time in milliseconds UTC; the system's by default.

    Attributes
    ----------
    observer : Observer
        What reads the whole campaign; it may be asked other things too.
    """

    def __init__(
        self, campaign: Campaign, store: Store, *, now: Callable[[], int] | None = None
    ) -> None:
        self.observer = Observer(campaign, store)
        self.has_rules = has_rules(campaign)
        self._races = campaign.goal is not None and campaign.goal.decide is not None
        self._campaign = campaign
        self._store = store
        self._now = now or _milliseconds
        self._text = ""
        self._number = 0
        self._stale = True
        self._computed = 0.0
        self._pause = _LEAST_SECONDS
        self._seen: int | None = None
        self._ruled: int | None = None
        self._lookers = 0
        self._worker: asyncio.Task[None] | None = None
        self._asked: set[asyncio.Task[dict[str, Any]]] = set()
        self._changed = asyncio.Event()
        self._wanted = asyncio.Event()
        self._lock = asyncio.Lock()
        self._closed = False

    async def latest(self) -> dict[str, Any]:
        """Return a snapshot, computed now unless the last one is fresh enough."""
        await self._bring_up_to_date()
        found: dict[str, Any] = json.loads(self._text)
        return found

    async def latest_within(self, seconds: float) -> dict[str, Any] | None:
        """Return a snapshot if it is there in time; else None, and it comes as an event.

        The first one takes long on a machine that is busy: the process that computes it has to
        start, and raters come first.
        """
        asked = asyncio.create_task(self.latest())
        self._asked.add(asked)
        asked.add_done_callback(self._answered)
        done, _ = await asyncio.wait({asked}, timeout=seconds)
        return asked.result() if done else None

    def _answered(self, asked: asyncio.Task[dict[str, Any]]) -> None:
        self._asked.discard(asked)
        if not asked.cancelled():
            asked.exception()  # whoever waited was told, or has the events

    async def events(self) -> AsyncGenerator[bytes]:
        """Yield the present snapshot and every new one; ends when `close` is called.

        They are server-sent events, with a comment when there is nothing to say.
        """
        # A browser that lost the connection comes back after so many milliseconds.
        yield b"retry: 2000\n\n"
        self._lookers += 1
        if self._worker is None and not self._closed:
            self._worker = asyncio.create_task(self._work())
        shown = 0
        try:
            while not self._closed:
                if self._number > shown:
                    shown = self._number
                    yield f"event: snapshot\ndata: {self._text}\n\n".encode()
                    continue
                try:
                    await asyncio.wait_for(self._changed.wait(), _HEARTBEAT_SECONDS)
                except TimeoutError:
                    yield b": alive\n\n"
        finally:
            self._lookers -= 1

    def refresh(self) -> None:
        """Say that something was changed by hand, so that those who look see it at once."""
        self._stale = True
        self._wanted.set()

    async def apply_rules(self) -> None:
        """Exclude whom the rules of quality exclude, as is done before every snapshot."""
        if not self.has_rules:
            return
        async with self._lock:
            found = await asyncio.to_thread(self._store.read, newest)
            if found != self._ruled:
                await self._exclude(await self.observer.ask(_due))
                self._ruled = found

    async def apply_own_rules(self, rater: str) -> None:
        """Exclude a rater if that rater's work alone breaks a rule: soon, in the middle of a visit."""
        if self.has_rules:
            asked = partial(due_for, campaign=self._campaign, rater=rater)
            await self._exclude(await asyncio.to_thread(self._store.read, asked))

    async def look_for_goal(self) -> None:
        """Let systems go that are out of a race, and pause the campaign if its goal is reached.

        That is done with every snapshot.
        """
        found = await asyncio.to_thread(self._store.read, current)
        if self._seen == await asyncio.to_thread(self._store.read, newest):
            # a campaign in which nothing happens lets the observer rest
            return
        has_goal = found is not None and (self._races or found.half_width is not None)
        if found is not None and has_goal and found.state == "running":
            await self._bring_up_to_date()

    async def close(self) -> None:
        """End all that follow, the worker and the observer."""
        self._closed = True
        self._wake()
        if self._worker is not None:
            self._worker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._worker
            self._worker = None
        await self.observer.close()

    async def _work(self) -> None:
        """Compute while somebody looks."""
        try:
            while self._lookers and not self._closed:
                self._wanted.clear()
                # The database may be away for a moment; who looks sees the last snapshot.
                with contextlib.suppress(SteelyardError):
                    await self._bring_up_to_date()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wanted.wait(), self._pause)
        finally:
            self._worker = None

    async def _bring_up_to_date(self) -> None:
        async with self._lock:
            age = monotonic() - self._computed
            if not self._stale and age < self._pause:
                return
            seen = None if self._stale or age > _GREATEST_SECONDS else self._seen
            found = await self._news(seen)
            if found.text is None:
                return
            self._ruled = found.newest
            self._text = found.text
            self._computed = monotonic()
            self._pause = max(_LEAST_SECONDS, found.seconds * (1 / _SHARE - 1))
            self._number += 1
            self._wake()
            await self._settle(found)
            # what could not be written is found again the next time
            self._seen = found.newest

    async def _news(self, seen: int | None) -> "_News":
        # What is changed by hand from here on may be missing in the answer.
        self._stale = False
        try:
            while True:
                question = partial(_news, seen=seen, now=self._now(), failure=self._store.failure)
                found = await self.observer.ask(question)
                if not found.due:
                    return found
                await self._exclude(found.due)
        except BaseException:
            self._stale = True
            raise

    async def _exclude(self, raters: Mapping[str, str]) -> None:
        if raters:
            await asyncio.to_thread(exclude, self._store, raters, now=self._now())

    async def _settle(self, found: "_News") -> None:
        """Give out no more of systems that need none, and pause at the goal."""
        due: list[Callable[[Connection], object]] = []
        if found.let_go is not None:
            due.append(partial(let_go, systems=found.let_go, now=self._now()))
        if found.reached:
            due.append(partial(pause_at_goal, half_width=found.half_width, now=self._now()))
        for operation in due:
            if await asyncio.wrap_future(self._store.write(operation)):
                self.refresh()

    def _wake(self) -> None:
        """Wake all that wait, each once: those who come later wait for the next event."""
        self._changed.set()
        self._changed = asyncio.Event()


@dataclass(frozen=True)
class _News:
    """What an observer found.

    Attributes
    ----------
    newest : int
        How new the newest is.
    due : dict of str to str
        Raters whom a rule excludes: to be excluded before a snapshot is made.
    text : str or None
        A snapshot as JSON; None if nothing is new, or somebody is due.
    seconds : float
        Of a core that it took.
    reached : bool
        Whether the goal is reached.
    half_width : float or None
        The half-width of the goal; None where it decides which system is better.
    let_go : tuple of str or None
        Systems that need no more judgments; None if there is no race.
    """

    newest: int
    due: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    seconds: float = 0.0
    reached: bool = False
    half_width: float | None = None
    let_go: tuple[str, ...] | None = None


def _news(view: View, *, seen: int | None, now: int, failure: str | None) -> _News:
    """Make a snapshot, unless there is nothing that was not seen; this runs in the observer."""
    started = process_time()
    found = view.store.read(newest)
    if found == seen:
        return _News(found)
    raters = _due(view)
    if raters:
        return _News(found, due=raters)
    made = snapshot(
        view.campaign, view.store, now=now, pool=view.pool, work=view.work, failure=failure
    )
    text = json.dumps(made, allow_nan=False, separators=(",", ":"))
    return _News(
        found,
        text=text,
        seconds=process_time() - started,
        reached=made["pace"]["reached"],
        half_width=made["goal"]["half_width"],
        let_go=tuple(made["enough"]) if made["goal"]["decide"] else None,
    )


def _due(view: View) -> dict[str, str]:
    return due(view.campaign, view.store, view.work)


def _milliseconds() -> int:
    return time_ns() // 1_000_000
