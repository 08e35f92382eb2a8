"""Asks many questions at a time. Needs httpx."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from steelyard.judge.cache import Cache
from steelyard.judge.client import Client, ExhaustedError, FailedQuestionError
from steelyard.judge.endpoint import Endpoint, Sleep
from steelyard.judge.pace import Limits, Pace
from steelyard.judge.questions import Example, Inquiry
from steelyard.judge.reply import Reply
from steelyard.judge.result import Progress, Usage

__all__ = ["Asked", "ask", "completed"]

# Seconds between two looks at what another run is asking.
_LOOK = 0.5
# Questions that fail one after another, wherever they stand, before no more are asked.
_MOST_IN_A_ROW = 30
# After so many, the next ones are taken from elsewhere: one system's outputs often stand together.
_STRETCH = 5


@dataclass(slots=True)
class Asked:
    """What came of a number of questions, by their keys.

    Attributes
    ----------
    replies : dict
        The replies.
    failures : dict
        Why there is none.
    usage : Usage
        What was asked and counted.
    """

    replies: dict[str, Reply] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)

    def count(self, **more: int) -> None:
        """Add to what was asked and counted."""
        grown = {name: getattr(self.usage, name) + count for name, count in more.items()}
        self.usage = replace(self.usage, **grown)

    def count_reply(self, reply: Reply) -> None:
        """Count a question that has a reply, and its tokens."""
        self.count(
            asked=1,
            tokens_in=reply.tokens_in or 0,
            tokens_out=reply.tokens_out or 0,
            uncounted=int(reply.tokens_in is None or reply.tokens_out is None),
        )


def ask(
    inquiry: Inquiry,
    examples: Mapping[str, Example],
    *,
    endpoint: Endpoint,
    concurrency: int,
    limits: Limits,
    cache: Cache,
    progress: Progress | None,
    sleep: Sleep,
    rng: np.random.Generator,
) -> Asked:
    """Ask about examples, some at a time, and keep each reply when it comes.

    Parameters
    ----------
    inquiry : Inquiry
        What is asked.
    examples : mapping
        What it is asked about, by key.
    endpoint, concurrency, progress, sleep, rng
        As for `steelyard.judge.judge`.
    limits : Limits
        What the endpoint allows, as far as it is known.
    cache : Cache
        Where replies are kept.

    Raises
    ------
    EndpointError
        If every question would fail. Those under way are given up.
    """
    asker = _Asker(inquiry, examples, cache=cache, progress=progress, sleep=sleep)

    async def run() -> Asked:
        pace = Pace(most=concurrency, rng=rng, limits=limits)
        async with Client(
            endpoint, concurrency=concurrency, pace=pace, sleep=sleep, rng=rng
        ) as client:
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(concurrency, len(examples))):
                        group.create_task(asker.work(client))
            except BaseExceptionGroup as errors:
                # one reason stopped them all; the others are its echo
                raise errors.exceptions[0] from None
        return asker.asked

    return completed(run)


def completed(run: Callable[[], Coroutine[Any, Any, Asked]]) -> Asked:
    """Run something that waits, also where a loop is running already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run())
    # A notebook has a loop of its own, which cannot be entered twice.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(run())).result()


class _Asker:
    """Takes questions one after the other until all have a reply or a reason.

    If many in a row fail, the endpoint is at fault and not they: the rest is not asked.
    """

    def __init__(
        self,
        inquiry: Inquiry,
        examples: Mapping[str, Example],
        *,
        cache: Cache,
        progress: Progress | None,
        sleep: Sleep,
    ) -> None:
        self.asked = Asked()
        self._inquiry = inquiry
        self._examples = examples
        self._cache = cache
        self._progress = progress
        self._sleep = sleep
        # one queue for all: each worker takes the next question that nobody has taken
        self._left = deque(examples)
        self._elsewhere: deque[str] = deque()
        self._failed_in_a_row = 0

    async def work(self, client: Client) -> None:
        """Ask until nothing is left; what another run is asking comes last."""
        while self._left or self._elsewhere:
            if self._failed_in_a_row >= _MOST_IN_A_ROW:
                self._leave_the_rest()
                return
            if not self._left:
                key = self._elsewhere.popleft()
                await self._sleep(_LOOK)
            else:
                key = self._left.popleft()
            if not self._cache.claim(key):
                self._elsewhere.append(key)
                continue
            # another run may have asked it since this one looked
            kept = self._cache.replies([key]).get(key)
            if kept is None:
                await self._ask(client, key)
            else:
                self._cache.release(key)
                self.asked.replies[key] = kept
                self.asked.count(from_cache=1)
            if self._progress is not None:
                done = self.asked.usage.asked + self.asked.usage.from_cache
                self._progress(done, len(self._examples), self.asked.usage)

    async def _ask(self, client: Client, key: str) -> None:
        try:
            reply = await client.reply(self._inquiry.question(self._examples[key]))
        except FailedQuestionError as error:
            self._cache.release(key)
            self.asked.failures[key] = str(error)
            self.asked.count(asked=1)
            # once the endpoint has answered, a question that it rejects is itself at fault
            if isinstance(error, ExhaustedError) or not self.asked.replies:
                self._failed_in_a_row += 1
            if self._failed_in_a_row >= _STRETCH:
                self._left.rotate(-len(self._left) // 3)
        else:
            self._failed_in_a_row = 0
            if self._inquiry.is_kept(reply):
                self.asked.replies[key] = self._cache.keep(key, reply)
            else:
                self._cache.release(key)
                self.asked.replies[key] = reply
            self.asked.count_reply(reply)
        self.asked.usage = replace(self.asked.usage, requests=client.requests)

    def _leave_the_rest(self) -> None:
        """Ask nothing more: what is left would fail too, and can be asked another time."""
        last = next(reversed(self.asked.failures.values()))
        reason = f"not asked: {self._failed_in_a_row} questions in a row failed: {last}"
        self.asked.failures |= dict.fromkeys([*self._left, *self._elsewhere], reason)
        self._left.clear()
        self._elsewhere.clear()
