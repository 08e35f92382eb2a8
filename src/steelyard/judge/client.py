"""Asks an OpenAI-compatible endpoint, again where that may help. Needs httpx."""

import asyncio
import json
from types import TracebackType
from typing import Any, Self

import httpx
import numpy as np

from steelyard.judge.answer import shortened
from steelyard.judge.endpoint import Endpoint, EndpointError, Sleep
from steelyard.judge.reply import MalformedReplyError, Reply
from steelyard.judge.retries import back_off, requested_wait

__all__ = ["Client", "FailedQuestionError"]

_PASSING = frozenset({408, 409, 429})
_WITH_WAIT = frozenset({429, 503})
# Seconds: who asks for more means "not today".
_LONGEST_WAIT = 600.0
_CONNECT = 10.0


class FailedQuestionError(Exception):
    """A question has no reply; the message is the reason."""


class _PassingError(Exception):
    """An attempt failed, but another may not."""

    def __init__(self, reason: str, *, wait: float | None = None, connected: bool = True) -> None:
        super().__init__(reason)
        self.wait = wait
        self.connected = connected


class Client:
    """Puts questions to an endpoint; an asynchronous context manager.

    Parameters
    ----------
    endpoint : Endpoint
        Where to ask.
    concurrency : int
        Connections kept open.
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
        self, endpoint: Endpoint, *, concurrency: int, sleep: Sleep, rng: np.random.Generator
    ) -> None:
        self.requests = 0
        self._endpoint = endpoint
        self._sleep = sleep
        self._rng = rng
        headers = {"Content-Type": "application/json"}
        if endpoint.key is not None:
            headers["Authorization"] = f"Bearer {endpoint.key}"
        self._http = httpx.AsyncClient(
            headers=headers,
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

        Parameters
        ----------
        question : dict
            The body of the request.

        Raises
        ------
        FailedQuestionError
            If this question has no reply.
        EndpointError
            If no question would have one: the key or the model is refused, the address is wrong,
            or nobody is there.
        """
        # in ASCII: a text may hold half a character pair, which UTF-8 does not have
        body = json.dumps(question, allow_nan=False).encode("ascii")
        attempt = 0
        while True:
            try:
                return await self._attempt(body)
            except _PassingError as error:
                if attempt == self._endpoint.max_retries:
                    if not error.connected:
                        raise EndpointError(
                            f"{self._endpoint.address}: {error}: start the server, or correct "
                            "`endpoint`"
                        ) from error
                    raise FailedQuestionError(str(error)) from error
                wait = back_off(attempt, rng=self._rng) + (error.wait or 0.0)
            await self._sleep(wait)
            attempt += 1

    async def _attempt(self, body: bytes) -> Reply:
        response = await self._response(body)
        if not response.is_success:
            self._raise_for(response)
        try:
            found = json.loads(self._endpoint.without_key(response.content.decode("utf-8")))
        except (ValueError, RecursionError) as error:
            raise _PassingError("malformed JSON") from error
        try:
            return Reply.of(found)
        except MalformedReplyError as error:
            raise FailedQuestionError(f"not a chat completion: {error}") from error

    async def _response(self, body: bytes) -> httpx.Response:
        self.requests += 1
        try:
            async with asyncio.timeout(self._endpoint.timeout):
                return await self._http.post(self._endpoint.address, content=body)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            detail = str(error) or "the host does not answer"
            raise _PassingError(f"cannot be reached ({detail})", connected=False) from error
        except (TimeoutError, httpx.TimeoutException) as error:
            raise _PassingError(f"no reply within {self._endpoint.timeout:g} s") from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise _PassingError("the connection broke off") from error

    def _raise_for(self, response: httpx.Response) -> None:
        status, address = response.status_code, self._endpoint.address
        if status in {401, 403}:
            # what the server says about a key may quote it
            name = self._endpoint.key_name
            key = f"the key in {name}" if name else "no key was sent: give `api_key_env`"
            raise EndpointError(f"{address}: HTTP {status}, access refused ({key})")
        message = self._message(response)
        if status == 404:
            raise EndpointError(f"{address}: HTTP 404{message}: correct `endpoint` or `model`")
        if response.is_redirect:
            raise EndpointError(
                f"{address}: HTTP {status}, moved to {response.headers.get('Location')}: "
                "give that address as `endpoint`"
            )
        if status not in _PASSING and status < 500:
            raise FailedQuestionError(f"HTTP {status}{message}")
        wait = None
        if status in _WITH_WAIT:
            headers = response.headers
            wait = requested_wait(headers.get("Retry-After"), date=headers.get("Date"))
        if wait is not None and wait > _LONGEST_WAIT:
            raise EndpointError(
                f"{address}: HTTP {status}, asks to wait {wait:,.0f} s: ask again then"
            )
        raise _PassingError(f"HTTP {status}{message}", wait=wait)

    def _message(self, response: httpx.Response) -> str:
        """What the server says about a failure, in the shape of OpenAI's errors, or nothing."""
        try:
            found = json.loads(response.content)
        except (ValueError, RecursionError):
            return ""
        error = found.get("error", found) if isinstance(found, dict) else None
        message = error.get("message") if isinstance(error, dict) else error
        if not isinstance(message, str) or not message.strip():
            return ""
        return f": {shortened(self._endpoint.without_key(message))}"
