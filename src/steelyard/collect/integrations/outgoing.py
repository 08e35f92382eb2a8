"""One request to a service outside: bounded in time and size, and never led elsewhere."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from steelyard.errors import SteelyardError
from steelyard.version import __version__

__all__ = ["OutgoingError", "Reply", "send_json", "web_address"]

# From the look-up of the name to the last byte of the answer.
_SECONDS = 10.0
_MOST_BYTES = 1_000_000


class OutgoingError(SteelyardError, ConnectionError):
    """A service outside did not do what it was asked.

    Attributes
    ----------
    retry_seconds : float or None
        When the service wants to be asked again, if it said so.
    """

    def __init__(self, message: str, *, retry_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_seconds = retry_seconds


@dataclass(frozen=True)
class Reply:
    """What a service answered.

    Attributes
    ----------
    status : int
        Of HTTP.
    body : bytes
        All of it.
    retry_seconds : float or None
        What ``Retry-After`` says.
    """

    status: int
    body: bytes
    retry_seconds: float | None = None

    def json(self) -> Any:
        """Return what the answer says.

        Raises
        ------
        OutgoingError
            If it is not JSON.
        """
        try:
            return json.loads(self.body)
        except ValueError:
            raise OutgoingError("the answer is not JSON") from None


def web_address(url: str) -> str | None:
    """Return what is wrong with the address of a service; None if nothing is.

    Examples
    --------
    >>> web_address("https://hooks.example.org/a?b=c")
    >>> web_address("ftp://example.org")
    'must be like https://example.org/path, in plain letters'
    """
    form = "must be like https://example.org/path, in plain letters"
    if not url.isascii() or not url.isprintable() or " " in url:
        return form
    try:
        place = urlsplit(url)
        unusable = place.port == 0 or place.username is not None
    except ValueError:
        return form
    if place.scheme not in {"http", "https"} or not place.hostname or place.fragment or unusable:
        return form
    return None


async def send_json(
    method: str,
    url: str,
    body: Mapping[str, Any] | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    seconds: float = _SECONDS,
) -> Reply:
    """Send a request with JSON and return the answer, whatever its status; no redirect is followed.

    Parameters
    ----------
    method, url : str
        What to do and where; the address as `web_address` takes it.
    body : mapping, optional
        What to send.
    headers : mapping, optional
        Headers besides those of every request.
    seconds : float
        How long all of it may take.

    Raises
    ------
    OutgoingError
        If there was no whole answer in time, or it is too large. The message names neither the
        address nor the headers, which may hold secrets.
    """
    try:
        async with asyncio.timeout(seconds):
            return await _exchanged(method, url, body, headers or {})
    except TimeoutError:
        raise OutgoingError(f"no answer within {seconds:g} seconds") from None
    except httpx.ConnectError as error:
        if "certificate" in str(error).lower() or "ssl" in str(error).lower():
            raise OutgoingError("no secure connection: its certificate is not valid") from None
        raise OutgoingError("no connection") from None
    except httpx.RemoteProtocolError as error:
        is_cut = "without" in str(error) or "disconnect" in str(error) or "incomplete" in str(error)
        if is_cut:
            raise OutgoingError("the connection was closed before the answer was whole") from None
        raise OutgoingError("the answer is not HTTP") from None
    except OutgoingError:
        raise
    except (httpx.HTTPError, OSError) as error:
        raise OutgoingError(f"no connection ({type(error).__name__})") from None


async def _exchanged(
    method: str, url: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
) -> Reply:
    own = {"User-Agent": f"steelyard/{__version__}", "Accept": "application/json"}
    client = httpx.AsyncClient(follow_redirects=False, trust_env=False, timeout=None)  # noqa: S113
    async with client, client.stream(method, url, json=body, headers=own | dict(headers)) as got:
        read = bytearray()
        async for piece in got.aiter_bytes():
            read += piece
            if len(read) > _MOST_BYTES:
                raise OutgoingError(f"the answer is larger than {_MOST_BYTES:,} bytes")
        said = got.headers.get("Retry-After", "").strip()
        return Reply(got.status_code, bytes(read), float(said) if said.isdecimal() else None)
