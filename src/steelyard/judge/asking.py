"""Asks many questions at a time. Needs httpx and tenacity."""

import asyncio
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from steelyard.judge.cache import Cache
from steelyard.judge.client import Client
from steelyard.judge.endpoint import Endpoint
from steelyard.judge.failures import Failure
from steelyard.judge.judged import Progress, Usage
from steelyard.judge.pace import Pace
from steelyard.judge.questions import Questions
from steelyard.judge.reply import Reply

__all__ = ["Asking", "ask"]

# Questions that fail one after another, wherever they stand, before no more are asked.
_MOST_IN_A_ROW = 30
# After so many, the next ones are taken from elsewhere: one system's outputs often stand together.
_STRETCH = 5


class Asking:
    """Questions that are asked one after the other until all have a reply or a reason.

    If many in a row fail, the endpoint is at fault and not they: the rest is not asked.

    Attributes
    ----------
    replies : dict of str to Reply
        What came, by key.
    failures : dict of str to str
        Why nothing came.
    usage : Usage
        What was asked and counted.
    """

    def __init__(
        self, questions: Questions, keys: list[str], *, cache: Cache, progress: Progress
    ) -> None:
        self.replies: dict[str, Reply] = {}
        self.failures: dict[str, str] = {}
        self.usage = Usage()
        self._questions = questions
        self._cache = cache
        self._progress = progress
        self._count = len(keys)
        # one queue for all: each worker takes the next question that nobody has taken
        self._left = deque(keys)
        self._failed_in_a_row = 0

    async def work(self, client: Client) -> None:
        """Ask until nothing is left."""
        while self._left:
            if self._failed_in_a_row >= _MOST_IN_A_ROW:
                last = next(reversed(self.failures.values()))
                reason = f"not asked: {self._failed_in_a_row} questions in a row failed: {last}"
                self.failures |= dict.fromkeys(self._left, reason)
                self._left.clear()
                return
            await self._ask(client, self._left.popleft())
            self.usage.asked += 1
            self.usage.requests = client.requests
            self._progress(self.usage.asked, self._count, self.usage)

    async def _ask(self, client: Client, key: str) -> None:
        try:
            reply = await client.reply(self._questions.bodies[key])
        except Failure as failure:
            self.failures[key] = str(failure)
            # once the endpoint has answered, a question that it rejects is itself at fault
            if failure.may_pass or not self.replies:
                self._failed_in_a_row += 1
            if self._failed_in_a_row >= _STRETCH:
                self._left.rotate(-len(self._left) // 3)
            return
        self._failed_in_a_row = 0
        self.replies[key] = reply
        self.usage.count(reply)
        if self._questions.is_answer(reply):
            self._cache.keep(key, reply)


def ask(
    questions: Questions,
    keys: list[str],
    *,
    endpoint: Endpoint,
    concurrency: int,
    requests_per_minute: float | None,
    cache: Cache,
    progress: Progress,
) -> Asking:
    """Ask the questions with these keys, some at a time, and keep each reply when it comes.

    Raises
    ------
    EndpointError
        If every question would fail. Those under way are given up.
    """
    asking = Asking(questions, keys, cache=cache, progress=progress)

    async def run() -> Asking:
        pace = Pace(most=concurrency, requests_per_minute=requests_per_minute)
        timeout = questions.rubric.timeout
        async with Client(endpoint, timeout=timeout, pace=pace, connections=concurrency) as client:
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(concurrency, len(keys))):
                        group.create_task(asking.work(client))
            except BaseExceptionGroup as errors:
                # one reason stopped them all; the others are its echo
                raise errors.exceptions[0] from None
        return asking

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run())
    # a notebook has a loop of its own, which cannot be entered twice
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(run())).result()
