"""One request to a service outside: bounded in time and size, and never led elsewhere."""

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httptools

from steelyard.errors import SteelyardError
from steelyard.version import __version__

__all__ = ["LOOPBACK", "OutgoingError", "Reply", "send_json", "web_address"]

# From the look-up of the name to the last byte of the answer.
_SECONDS = 10.0
_MOST_BYTES = 1_000_000
_PIECE = 65_536
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


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


def web_address(url: str, *, secret: bool = False) -> str | None:
    """Return what is wrong with the address of a service; None if nothing is.

    Parameters
    ----------
    url : str
        The address.
    secret : bool
        Whether a token is sent there: then it must be https, or on this machine.

    Examples
    --------
    >>> web_address("https://hooks.example.org/a?b=c")
    >>> web_address("http://example.org", secret=True)
    'must begin with https://, because a token is sent there'
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
    if secret and place.scheme != "https" and place.hostname not in LOOPBACK:
        return "must begin with https://, because a token is sent there"
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
    except ssl.SSLError:
        raise OutgoingError("no secure connection: its certificate is not valid") from None
    except OSError as error:
        if isinstance(error, OutgoingError):
            raise
        raise OutgoingError(f"no connection ({error.strerror or 'unknown reason'})") from None


async def _exchanged(
    method: str, url: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
) -> Reply:
    place = urlsplit(url)
    secure = place.scheme == "https"
    assert place.hostname is not None
    reader, writer = await asyncio.open_connection(
        place.hostname,
        place.port or (443 if secure else 80),
        ssl=ssl.create_default_context() if secure else None,
    )
    try:
        writer.write(_request(method, url, body, headers))
        await writer.drain()
        return await _answered(reader)
    finally:
        # not waited for: the other side need not agree
        writer.close()


def _request(
    method: str, url: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
) -> bytes:
    place = urlsplit(url)
    sent = b"" if body is None else json.dumps(body).encode()
    target = (place.path or "/") + (f"?{place.query}" if place.query else "")
    lines = {
        "Host": place.netloc,
        "User-Agent": f"steelyard/{__version__}",
        "Accept": "application/json",
        "Connection": "close",
        "Content-Length": str(len(sent)),
        **({} if body is None else {"Content-Type": "application/json"}),
        **headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + sent


@dataclass
class _Reading:
    """An answer as it comes in; its methods are called by the parser."""

    headers: dict[bytes, bytes] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    has_head: bool = False
    is_whole: bool = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        self.has_head = True

    def on_body(self, piece: bytes) -> None:
        self.body.extend(piece)

    def on_message_complete(self) -> None:
        self.is_whole = True


async def _answered(reader: asyncio.StreamReader) -> Reply:
    reading, size = _Reading(), 0
    parser = httptools.HttpResponseParser(reading)
    while not reading.is_whole:
        piece = await reader.read(_PIECE)
        size += len(piece)
        if size > _MOST_BYTES:
            raise OutgoingError(f"the answer is larger than {_MOST_BYTES:,} bytes")
        if not piece:
            if not reading.has_head or b"content-length" in reading.headers:
                raise OutgoingError("the connection was closed before the answer was whole")
            break
        try:
            parser.feed_data(piece)
        except httptools.HttpParserError:
            raise OutgoingError("the answer is not HTTP") from None
    said = reading.headers.get(b"retry-after", b"").decode("latin-1").strip()
    return Reply(
        parser.get_status_code(), bytes(reading.body), float(said) if said.isdecimal() else None
    )
