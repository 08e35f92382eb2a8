"""Sends requests to an OpenAI-compatible endpoint, again where that may help. Needs httpx and tenacity."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, NoReturn, Self, TypeVar

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

T = TypeVar("T")


class Client:
    """Puts questions to an endpoint at a pace, and counts `requests`; an asynchronous context manager.

    `timeout` is the seconds that a reply may take, from the request to its last byte.
    """

    def __init__(self, endpoint: Endpoint, *, timeout: float, pace: Pace, connections: int) -> None:
        self.endpoint = endpoint
        self.requests = 0
        self._timeout = timeout
        self._pace = pace
        self._http = httpx.AsyncClient(
            headers=endpoint.headers,
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
            return await patiently(lambda: self._paced(body))
        except Failure as failure:
            if failure.kind in {Kind.ALL, Kind.AWAY}:
                self._end(failure, self.endpoint.base + "/chat/completions")
            raise

    def _end(self, failure: Failure, address: str) -> NoReturn:
        way_out = ": start the server, or correct `endpoint`" if failure.kind is Kind.AWAY else ""
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
        address = self.endpoint.address("chat/completions")
        headers, text = await self.text("POST", address, content=body)
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Failure("malformed JSON", Kind.PASSING) from error
        failure = failure_in(200, parsed, headers, key=self.endpoint.key_words)
        if failure is not None:
            raise failure
        reply = Reply.of(parsed)
        rest = requested_wait(headers)
        if rest is not None and rest <= _LONGEST_REST:
            self._pace.hold(rest)
        return reply

    async def text(
        self,
        method: str,
        address: str,
        *,
        largest: int = _LARGEST,
        timeout: float | None = None,  # noqa: ASYNC109
        **sent: Any,
    ) -> tuple[httpx.Headers, str]:
        """Send one request, and return headers and text of the response; a `Failure` if it is no success.

        What is sent is ``content`` (JSON), or ``data`` and ``files``, as httpx wants them. A response may
        have `largest` bytes.
        """
        self.requests += 1
        seconds = self._timeout if timeout is None else timeout
        if "content" in sent:
            sent["headers"] = {"Content-Type": "application/json"}
        received = bytearray()
        try:
            async with (
                asyncio.timeout(seconds),
                self._http.stream(method, address, **sent) as response,
            ):
                async for piece in response.aiter_bytes():
                    received += piece
                    if len(received) > largest:
                        raise Failure(f"reply too large: more than {largest // 1_000_000} MB")
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            detail = str(error) or "the host does not answer"
            raise Failure(f"cannot be reached ({detail})", Kind.AWAY) from error
        except (TimeoutError, httpx.TimeoutException) as error:
            raise Failure(f"no reply within {seconds:g} s", Kind.PASSING) from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise Failure("the connection broke off", Kind.PASSING) from error
        text = self.endpoint.without_key(received.decode("utf-8", "replace"))
        if not 200 <= response.status_code < 300:
            raise self._failure(response.status_code, text, response.headers)
        return response.headers, text

    def _failure(self, status: int, text: str, headers: httpx.Headers) -> Failure:
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            body = None
        failure = failure_in(status, body, headers, key=self.endpoint.key_words)
        assert failure is not None
        return failure


async def patiently(once: Callable[[], Awaitable[T]]) -> T:
    """Do something until it works, or trying again does not help."""

    async def attempt() -> T:
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
