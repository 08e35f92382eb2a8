"""Asks many questions at a time. Needs httpx."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from steelyard.judge.cache import Cache
from steelyard.judge.client import Client, FailedQuestionError
from steelyard.judge.endpoint import Endpoint, Sleep
from steelyard.judge.questions import Example, Inquiry
from steelyard.judge.reply import Reply
from steelyard.judge.result import Progress, Usage

__all__ = ["Asked", "ask"]


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


def ask(
    inquiry: Inquiry,
    examples: Mapping[str, Example],
    *,
    endpoint: Endpoint,
    concurrency: int,
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
    cache : Cache
        Where replies are kept.

    Raises
    ------
    EndpointError
        If every question would fail. Those under way are given up.
    """

    async def run() -> Asked:
        # one iterator for all: each worker takes the next question that nobody has taken
        left = iter(examples.items())
        asked = Asked()
        async with Client(endpoint, concurrency=concurrency, sleep=sleep, rng=rng) as client:

            async def work() -> None:
                for key, example in left:
                    try:
                        reply = await client.reply(inquiry.question(example))
                    except FailedQuestionError as error:
                        asked.failures[key] = str(error)
                        asked.usage = replace(asked.usage, asked=asked.usage.asked + 1)
                    else:
                        cache.keep(key, reply)
                        asked.replies[key] = reply
                        asked.usage = _with(asked.usage, reply)
                    asked.usage = replace(asked.usage, requests=client.requests)
                    if progress is not None:
                        progress(asked.usage.asked, len(examples), asked.usage)

            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(concurrency, len(examples))):
                        group.create_task(work())
            except BaseExceptionGroup as errors:
                # one reason stopped them all; the others are its echo
                raise errors.exceptions[0] from None
        return asked

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run())
    # A notebook has a loop of its own, which cannot be entered twice.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(run())).result()


def _with(usage: Usage, reply: Reply) -> Usage:
    return replace(
        usage,
        asked=usage.asked + 1,
        tokens_in=usage.tokens_in + (reply.tokens_in or 0),
        tokens_out=usage.tokens_out + (reply.tokens_out or 0),
        uncounted=usage.uncounted + (reply.tokens_in is None or reply.tokens_out is None),
    )
