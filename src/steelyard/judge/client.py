"""Sends requests to an OpenAI-compatible endpoint, again where that may help. Needs httpx and tenacity."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

import httpx
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)

from steelyard.judge.endpoint import Endpoint
from steelyard.judge.failures import EndpointError, Failure, Kind, failure_in, requested_wait
from steelyard.judge.pace import Pace
from steelyard.judge.reply import Reply

__all__ = ["Client"]

_ATTEMPTS = 6
# Full jitter: uniform between 0 and 0.5, 1, 2 ... seconds.
_BACK_OFF = wait_random_exponential(multiplier=0.5, max=30.0)
# A limit that is used up is waited for so long; longer ones may be those of a day.
_LONGEST_REST = 60.0
# Bytes of a reply: thoughts of 100,000 tokens with their alternatives fit in.
_LARGEST = 16_000_000
_CONNECT = 10.0


class Client:
    """Puts questions to an endpoint at a pace, and counts `requests`; an asynchronous context manager.

    `timeout` is the seconds that a reply may take, from the request to its last byte.
    """

    def __init__(self, endpoint: Endpoint, *, timeout: float, pace: Pace, connections: int) -> None:
        self.requests = 0
        self._endpoint = endpoint
        self._address = endpoint.address
        self._timeout = timeout
        self._pace = pace
        self._http = httpx.AsyncClient(
            headers={"Content-Type": "application/json"} | endpoint.headers,
            # a reply as a whole is timed by `asyncio.timeout`: drops of it do not count
            timeout=httpx.Timeout(None, connect=min(timeout, _CONNECT)),
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def reply(self, question: dict[str, Any]) -> Reply:
        """Ask until there is a reply, or asking again would not help.

        A refusal for want of room (429) is no attempt: it slows down all questions of the run, and
        this one is asked again.

        Raises
        ------
        Failure
            If this question has no reply.
        EndpointError
            If no question would have one: the key or the model is refused, the quota is used up,
            the address is wrong, or nobody is there.
        """
        # in ASCII: a text may hold half a character pair, which UTF-8 does not have
        body = json.dumps(question, allow_nan=False).encode("ascii")
        try:
            return await _patiently(lambda: self._paced(body))
        except Failure as failure:
            if failure.kind not in {Kind.ALL, Kind.AWAY}:
                raise
            away = failure.kind is Kind.AWAY
            way_out = ": start the server, or correct `endpoint`" if away else ""
            address = f"{self._endpoint.base}/chat/completions"
            raise EndpointError(f"{address}: {failure}{way_out}") from failure

    async def _paced(self, body: bytes) -> Reply:
        """Make an attempt when it is its turn, and tell all others how it went."""
        while True:
            sent = await self._pace.enter()
            try:
                reply = await self._attempt(body)
            except Failure as failure:
                if failure.kind is Kind.BUSY:
                    self._pace.refused(sent=sent, wait=failure.wait)
                    if not self._pace.is_hopeless:
                        continue
                    gone = (
                        f"{failure}: accepts no request any more: run the same command again later"
                    )
                    raise Failure(gone, Kind.ALL) from failure
                if failure.wait is not None:
                    self._pace.hold(failure.wait)
                elif not failure.may_pass:
                    self._pace.answered()
                raise
            else:
                self._pace.answered()
                return reply
            finally:
                self._pace.leave()

    async def _attempt(self, body: bytes) -> Reply:
        """Send the question once; a `Failure` if no reply comes of it."""
        self.requests += 1
        received = bytearray()
        try:
            async with (
                asyncio.timeout(self._timeout),
                self._http.stream("POST", self._address, content=body) as response,
            ):
                async for piece in response.aiter_bytes():
                    received += piece
                    if len(received) > _LARGEST:
                        raise Failure("reply too large: more than 16 MB")
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            detail = str(error) or "the host does not answer"
            raise Failure(f"cannot be reached ({detail})", Kind.AWAY) from error
        except (TimeoutError, httpx.TimeoutException) as error:
            raise Failure(f"no reply within {self._timeout:g} s", Kind.PASSING) from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise Failure("the connection broke off", Kind.PASSING) from error
        return self._read(response, self._endpoint.without_key(received.decode("utf-8", "replace")))

    def _read(self, response: httpx.Response, text: str) -> Reply:
        """Return the reply in a response; a `Failure` if it is none."""
        try:
            body = json.loads(text)
        except (ValueError, RecursionError) as error:
            if response.is_success:
                raise Failure("malformed JSON", Kind.PASSING) from error
            body = None
        failure = failure_in(
            response.status_code, body, response.headers, key=self._endpoint.key_words
        )
        if failure is not None:
            raise failure
        reply = Reply.of(body)
        rest = requested_wait(response.headers)
        if rest is not None and rest <= _LONGEST_REST:
            self._pace.hold(rest)
        return reply


async def _patiently(once: Callable[[], Awaitable[Reply]]) -> Reply:
    """Do something until it works, or trying again does not help."""

    async def attempt() -> Reply:
        return await once()

    retrying = AsyncRetrying(
        stop=stop_after_attempt(_ATTEMPTS),
        wait=_wait,
        retry=retry_if_exception(lambda error: isinstance(error, Failure) and error.may_pass),
        sleep=asyncio.sleep,
        reraise=True,
    )
    return await retrying(attempt)


def _wait(state: RetryCallState) -> float:
    failure = state.outcome.exception() if state.outcome is not None else None
    named = failure.wait if isinstance(failure, Failure) else None
    return _BACK_OFF(state) if named is None else named
