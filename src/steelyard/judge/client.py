"""Asks an OpenAI-compatible endpoint, again where that may help. Needs httpx."""

import asyncio
import json
from types import TracebackType
from typing import Any, NoReturn, Self

import httpx
import numpy as np

from steelyard.judge.answer import shortened
from steelyard.judge.endpoint import Endpoint, EndpointError, Sleep
from steelyard.judge.pace import Gate, Pace
from steelyard.judge.reply import MalformedReplyError, Reply
from steelyard.judge.retries import back_off, exhausted_wait, requested_wait, shared_pause
from steelyard.judge.trouble import Trouble

__all__ = ["Client", "FailedQuestionError"]

_PASSING = frozenset({408, 409})
_BUSY = 429
_WITH_WAIT = frozenset({503, 529})
# Seconds: who asks for more means "not today".
_LONGEST_WAIT = 600.0
# A limit that is used up is waited for so long; longer ones may be those of a day.
_LONGEST_REST = 60.0
_CONNECT = 10.0
# Bytes of a reply: thoughts of 100,000 tokens with their alternatives fit in.
_LARGEST = 16_000_000
# Letters of a token, roughly; what it was is counted when the reply is there.
_LETTERS = 4


class FailedQuestionError(Exception):
    """A question has no reply; the message is the reason."""


class _PassingError(Exception):
    """An attempt failed, but another may not."""

    def __init__(
        self,
        reason: str,
        *,
        wait: float | None = None,
        connected: bool = True,
        is_refusal: bool = False,
    ) -> None:
        super().__init__(reason)
        self.wait = wait
        self.connected = connected
        self.is_refusal = is_refusal


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

    Attributes
    ----------
    requests : int
        Requests sent so far.
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
        self.requests = 0
        self._endpoint = endpoint
        self._pace = pace
        self._gate = Gate(pace, sleep=sleep)
        self._sleep = sleep
        self._rng = rng
        self._http = httpx.AsyncClient(
            headers={"Content-Type": "application/json", **endpoint.headers},
            # a reply as a whole is timed by `asyncio.timeout`: drops of it do not count
            timeout=httpx.Timeout(None, connect=min(endpoint.timeout, _CONNECT)),
            limits=httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency),
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
            except _PassingError as error:
                if error.is_refusal:
                    continue
                if attempt == self._endpoint.max_retries:
                    self._give_up(error)
                wait = back_off(attempt, rng=self._rng) if error.wait is None else 0.0
            if wait > 0:
                await self._sleep(wait)
            attempt += 1

    def _give_up(self, error: _PassingError) -> NoReturn:
        if error.connected:
            raise FailedQuestionError(str(error)) from error
        raise EndpointError(
            f"{self._endpoint.address}: {error}: start the server, or correct `endpoint`"
        ) from error

    async def _paced(self, body: bytes) -> Reply:
        """Make an attempt when it is its turn, and tell all others how it went."""
        tokens = len(body) / _LETTERS
        sent = await self._gate.enter(tokens)
        try:
            reply = await self._attempt(body)
        except _PassingError as error:
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
        status, headers, content = await self._response(body)
        if not 200 <= status < 300:
            self._raise_for(Trouble.of(status, content), headers)
        try:
            found = json.loads(self._endpoint.without_key(content.decode("utf-8")))
        except (ValueError, RecursionError) as error:
            raise _PassingError("malformed JSON") from error
        trouble = Trouble.within(found)
        if trouble is not None:
            self._raise_for(trouble, headers)
        try:
            reply = Reply.of(found)
        except MalformedReplyError as error:
            raise FailedQuestionError(f"not a chat completion: {error}") from error
        if reply.is_empty:
            raise _PassingError("empty reply")
        rest = exhausted_wait(headers)
        if rest is not None and rest <= _LONGEST_REST:
            self._pace.hold(asyncio.get_running_loop().time(), rest)
        return reply

    async def _response(self, body: bytes) -> tuple[int, httpx.Headers, bytes]:
        self.requests += 1
        address = self._endpoint.full_address
        content = bytearray()
        try:
            async with (
                asyncio.timeout(self._endpoint.timeout),
                self._http.stream("POST", address, content=body) as response,
            ):
                async for piece in response.aiter_bytes():
                    content += piece
                    if len(content) > _LARGEST:
                        raise FailedQuestionError(
                            f"reply too large: more than {_LARGEST // 1_000_000} MB"
                        )
                return response.status_code, response.headers, bytes(content)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            detail = str(error) or "the host does not answer"
            raise _PassingError(f"cannot be reached ({detail})", connected=False) from error
        except (TimeoutError, httpx.TimeoutException) as error:
            raise _PassingError(f"no reply within {self._endpoint.timeout:g} s") from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise _PassingError("the connection broke off") from error

    def _raise_for(self, trouble: Trouble, headers: httpx.Headers) -> NoReturn:
        status, address = trouble.status, self._endpoint.address
        if status in {401, 403}:
            # what the server says about a key may quote it
            name = self._endpoint.key_name
            key = f"the key in {name}" if name else "no key was sent: give `api_key_env`"
            raise EndpointError(f"{address}: HTTP {status}, access refused ({key})")
        said = shortened(self._endpoint.without_key(trouble.message))
        message = f"HTTP {status}: {said}" if said else f"HTTP {status}"
        if trouble.is_quota:
            raise EndpointError(f"{address}: {message}: the quota is used up: raise it, or wait")
        if status == 404:
            raise EndpointError(f"{address}: {message}: correct `endpoint` or `model`")
        if 300 <= status < 400:
            raise EndpointError(
                f"{address}: HTTP {status}, moved to {headers.get('Location')}: "
                "give that address as `endpoint`"
            )
        if status not in {*_PASSING, _BUSY} and status < 500:
            raise FailedQuestionError(message)
        wait = requested_wait(headers) if status in {*_WITH_WAIT, _BUSY} else None
        if wait is not None and wait > _LONGEST_WAIT:
            raise EndpointError(
                f"{address}: HTTP {status}, asks to wait {wait:,.0f} s: ask again then"
            )
        raise _PassingError(message, wait=wait, is_refusal=status == _BUSY)
