"""Asks an OpenAI-compatible endpoint, again where that may help. Needs httpx."""

import asyncio
import json
from types import TracebackType
from typing import Any, NoReturn, Self

import numpy as np

from steelyard.judge.endpoint import Endpoint, EndpointError, Sleep
from steelyard.judge.pace import Gate, Pace
from steelyard.judge.reply import MalformedReplyError, Reply
from steelyard.judge.retries import back_off, exhausted_wait, shared_pause
from steelyard.judge.transport import (
    ExhaustedError,
    FailedQuestionError,
    PassingError,
    Transport,
)
from steelyard.judge.trouble import Trouble

__all__ = ["Client", "ExhaustedError", "FailedQuestionError"]

# A limit that is used up is waited for so long; longer ones may be those of a day.
_LONGEST_REST = 60.0
# Bytes of a reply: thoughts of 100,000 tokens with their alternatives fit in.
_LARGEST = 16_000_000
# Letters of a token, roughly; what it was is counted when the reply is there.
_LETTERS = 4


class Client:
    """Puts questions to an endpoint; an asynchronous context manager.

    Parameters
    ----------
    endpoint : Endpoint
        Where to ask.
    concurrency : int
        Connections kept open.
    pace : Pace
        When a request may be sent.
    sleep : callable
        Waits some seconds.
    rng : Generator
        Draws the waits.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        concurrency: int,
        pace: Pace,
        sleep: Sleep,
        rng: np.random.Generator,
    ) -> None:
        self._endpoint = endpoint
        self._pace = pace
        self._gate = Gate(pace, sleep=sleep)
        self._sleep = sleep
        self._rng = rng
        self._transport = Transport(endpoint, connections=concurrency)

    @property
    def requests(self) -> int:
        """Requests sent so far."""
        return self._transport.requests

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._transport.close()

    async def reply(self, question: dict[str, Any]) -> Reply:
        """Ask until there is a reply, or asking again would not help.

        A refusal for want of room (429) is no attempt: it slows down all questions of the run, and
        this one is asked again.

        Parameters
        ----------
        question : dict
            The body of the request.

        Raises
        ------
        FailedQuestionError
            If this question has no reply.
        EndpointError
            If no question would have one: the key or the model is refused, the quota is used up,
            the address is wrong, or nobody is there.
        """
        # in ASCII: a text may hold half a character pair, which UTF-8 does not have
        body = json.dumps(question, allow_nan=False).encode("ascii")
        attempt = 0
        while True:
            try:
                return await self._paced(body)
            except PassingError as error:
                if error.is_refusal:
                    continue
                if attempt == self._endpoint.max_retries:
                    self._give_up(error)
                wait = back_off(attempt, rng=self._rng) if error.wait is None else 0.0
            if wait > 0:
                await self._sleep(wait)
            attempt += 1

    def _give_up(self, error: PassingError) -> NoReturn:
        if error.connected:
            raise ExhaustedError(str(error)) from error
        raise EndpointError(
            f"{self._endpoint.address}: {error}: start the server, or correct `endpoint`"
        ) from error

    async def _paced(self, body: bytes) -> Reply:
        """Make an attempt when it is its turn, and tell all others how it went."""
        tokens = len(body) / _LETTERS
        sent = await self._gate.enter(tokens)
        try:
            reply = await self._attempt(body)
        except PassingError as error:
            now = asyncio.get_running_loop().time()
            if error.is_refusal:
                self._pace.refused(now, sent=sent, wait=error.wait)
                if self._pace.is_hopeless:
                    raise EndpointError(
                        f"{self._endpoint.address}: {error}: accepts no request any more: run the "
                        "same command again later"
                    ) from error
            elif error.wait is not None:
                self._pace.hold(now, shared_pause(0, error.wait, rng=self._rng))
            raise
        except FailedQuestionError:
            self._pace.answered()
            raise
        else:
            used = (reply.tokens_in or 0) + (reply.tokens_out or 0)
            self._pace.answered(more_tokens=used - tokens if used else 0.0)
            return reply
        finally:
            self._gate.leave()

    async def _attempt(self, body: bytes) -> Reply:
        status, headers, content = await self._transport.response(
            "POST", self._endpoint.full_address, body=body, largest=_LARGEST
        )
        if not 200 <= status < 300:
            self._transport.raise_for(Trouble.of(status, content), headers)
        try:
            found = json.loads(self._endpoint.without_key(content.decode("utf-8")))
        except (ValueError, RecursionError) as error:
            raise PassingError("malformed JSON") from error
        trouble = Trouble.within(found)
        if trouble is not None:
            self._transport.raise_for(trouble, headers)
        try:
            reply = Reply.of(found)
        except MalformedReplyError as error:
            raise PassingError(f"not a chat completion: {error}") from error
        if reply.is_empty:
            raise PassingError("empty reply")
        rest = exhausted_wait(headers)
        if rest is not None and rest <= _LONGEST_REST:
            self._pace.hold(asyncio.get_running_loop().time(), rest)
        return reply
