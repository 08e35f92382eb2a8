"""One request to an endpoint, and what its failure means. Needs httpx."""

import asyncio
from collections.abc import Mapping
from typing import Any, NoReturn

import httpx

from steelyard.judge.answer import shortened
from steelyard.judge.endpoint import Endpoint, EndpointError
from steelyard.judge.retries import requested_wait
from steelyard.judge.trouble import Trouble

__all__ = ["ExhaustedError", "FailedQuestionError", "PassingError", "Response", "Transport"]

_PASSING = frozenset({408, 409})
_BUSY = 429
_WITH_WAIT = frozenset({503, 529})
# Seconds: who asks for more means "not today".
_LONGEST_WAIT = 600.0
_CONNECT = 10.0

Response = tuple[int, Mapping[str, str], bytes]


class FailedQuestionError(Exception):
    """A question has no reply; the message is the reason."""


class ExhaustedError(FailedQuestionError):
    """All attempts failed, by no fault of the question."""


class PassingError(Exception):
    """An attempt failed, but another may not.

    Attributes
    ----------
    wait : float or None
        Seconds that the endpoint asks to wait.
    connected : bool
        Whether anybody was there.
    is_refusal : bool
        Whether it was refused for want of room (429).
    """

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


class Transport:
    """Sends requests to an endpoint.

    Parameters
    ----------
    endpoint : Endpoint
        Where to.
    connections : int
        Connections kept open.

    Attributes
    ----------
    requests : int
        Requests sent so far.
    """

    def __init__(self, endpoint: Endpoint, *, connections: int) -> None:
        self.requests = 0
        self._endpoint = endpoint
        self._http = httpx.AsyncClient(
            headers=endpoint.headers,
            # a reply as a whole is timed by `asyncio.timeout`: drops of it do not count
            timeout=httpx.Timeout(None, connect=min(endpoint.timeout, _CONNECT)),
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def response(
        self,
        method: str,
        address: str,
        *,
        largest: int,
        body: bytes | None = None,
        form: Mapping[str, Any] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Response:
        """Send a request and return status, headers and content of the response.

        Parameters
        ----------
        method, address : str
            What to do, and where.
        largest : int
            Bytes that a response may have.
        body : bytes, optional
            JSON to send.
        form : mapping, optional
            A form to send: ``data`` and ``files`` as httpx wants them.
        timeout : float, optional
            Seconds until the last byte; by default those of the endpoint.

        Raises
        ------
        PassingError
            If there is none in time, or the connection fails.
        FailedQuestionError
            If it is too large.
        """
        self.requests += 1
        seconds = self._endpoint.timeout if timeout is None else timeout
        sent: dict[str, Any] = dict(form or {})
        if body is not None:
            sent |= {"content": body, "headers": {"Content-Type": "application/json"}}
        content = bytearray()
        try:
            async with (
                asyncio.timeout(seconds),
                self._http.stream(method, address, **sent) as response,
            ):
                async for piece in response.aiter_bytes():
                    content += piece
                    if len(content) > largest:
                        raise FailedQuestionError(
                            f"reply too large: more than {largest // 1_000_000} MB"
                        )
                return response.status_code, response.headers, bytes(content)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            detail = str(error) or "the host does not answer"
            raise PassingError(f"cannot be reached ({detail})", connected=False) from error
        except (TimeoutError, httpx.TimeoutException) as error:
            raise PassingError(f"no reply within {seconds:g} s") from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise PassingError("the connection broke off") from error

    def raise_for(self, trouble: Trouble, headers: Mapping[str, str]) -> NoReturn:
        """Raise what a failure means: for this request, for another attempt, or for all.

        Raises
        ------
        EndpointError
            If every request would fail.
        PassingError
            If another attempt may succeed.
        FailedQuestionError
            If this request is at fault.
        """
        status, address = trouble.status, self._endpoint.address
        if status in {401, 403} and not trouble.is_filtered:
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
            place = headers.get("Location", "an address that it does not name")
            raise EndpointError(
                f"{address}: HTTP {status}, moved to {place}: give that address as `endpoint`"
            )
        if status not in {*_PASSING, _BUSY} and status < 500:
            raise FailedQuestionError(message)
        wait = requested_wait(headers) if status in {*_WITH_WAIT, _BUSY} else None
        if wait is not None and wait > _LONGEST_WAIT:
            raise EndpointError(
                f"{address}: HTTP {status}, asks to wait {wait:,.0f} s: ask again then"
            )
        raise PassingError(message, wait=wait, is_refusal=status == _BUSY)
