"""How much anyone may send: bytes in a request, requests in a time."""

import math
from collections.abc import Hashable
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["BodyLimit", "Limits", "RateLimit"]


@dataclass(frozen=True)
class Limits:
    """What the server takes from one sender.

    Attributes
    ----------
    body_bytes : int
        Largest request: an edit of a text of a million letters fits.
    requests_per_second : float
        Of one rater.
    joins_per_minute : float
        Links opened from one address.
    """

    body_bytes: int = 4_194_304
    requests_per_second: float = 20
    joins_per_minute: float = 600


class RateLimit:
    """So many requests in a time from each of many senders.

    A sender may be a burst ahead of its rate and no more (the generic cell rate algorithm: one
    number a sender, the time at which it will have used up nothing).

    Parameters
    ----------
    rate
        Requests in a second.
    burst
        Requests that may come at once.
    senders
        Number of senders to remember; those who have been quiet are forgotten first.

    Examples
    --------
    >>> limit = RateLimit(rate=10, burst=2)
    >>> [limit.wait("r1", now=1_000) for _ in range(3)]
    [0.0, 0.0, 0.1]
    >>> limit.wait("r1", now=1_100)
    0.0
    """

    def __init__(self, *, rate: float, burst: float, senders: int = 20_000) -> None:
        self._interval = 1_000 / rate
        self._ahead = (burst - 1) * self._interval
        self._senders = senders
        self._free: dict[Hashable, float] = {}

    def wait(self, sender: Hashable, *, now: int) -> float:
        """Count a request and return 0, or return the seconds after which to ask again."""
        # a clock that was set back must not lock anybody out for the difference
        free = min(self._free.pop(sender, 0.0), now + self._ahead + self._interval)
        early = free - self._ahead - now
        if early > 1e-6:
            self._free[sender] = free
            return early / 1_000
        if len(self._free) >= self._senders:
            self._forget(now)
        self._free[sender] = max(free, now) + self._interval
        return 0.0

    def _forget(self, now: int) -> None:
        self._free = {sender: free for sender, free in self._free.items() if free > now}
        for sender in list(self._free)[: len(self._free) - self._senders // 2]:
            del self._free[sender]


class BodyLimit:
    """Refuses a body of more than so many bytes, declared or not, with 413.

    Parameters
    ----------
    app
        What answers the requests.
    most
        Bytes that a body may have.
    """

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seen = 0
        declared = _declared(scope)

        async def counted() -> Message:
            nonlocal seen
            # raised where the body is read, so that the usual handler makes the answer
            if declared > self._most:
                raise self._refusal()
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most:
                raise self._refusal()
            return message

        await self._app(scope, counted, send)

    def _refusal(self) -> HTTPException:
        return HTTPException(413, f"a request may have {self._most:,} bytes at most")


def _declared(scope: Scope) -> float:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else math.inf
    return 0
