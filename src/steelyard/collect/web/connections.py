"""Connections to the server: a request that is too slow or too large ends its connection."""

import asyncio
import sys
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if sys.platform != "win32":
    import resource

__all__ = ["TimedConnection", "allow_many_connections"]

# Files that a process needs besides its connections: the database, logs, the process that computes.
_OTHER_FILES = 128
_MOST_FILES = 65_536


class TimedConnection(HttpToolsProtocol):
    """A connection whose requests arrive in time, or that is closed.

    Without it a client that sends a byte a minute keeps a connection for ever, and a few thousand
    of these keep everybody else out. When there is no room for another connection, the one that has
    been sending its request for the longest is closed first: an honest one takes milliseconds.

    Attributes
    ----------
    header_seconds, request_seconds : float
        Time for the headers of a request, and for all of it. A phone with a bad connection needs
        less than half of that for the largest answer.
    header_bytes : int
        Size of the headers.
    most : int
        Connections at a time.
    """

    header_seconds = 15.0
    request_seconds = 90.0
    header_bytes = 32_768
    most = 0

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request, in a place that was free or that is made free."""
        self.deadline: asyncio.TimerHandle | None = None
        self.since = 0.0
        self._received = 0
        self._before: Any = None
        super().connection_made(transport)
        self._expect()
        if len(self.connections) > (self.most or _room()):
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        if self.deadline is None:
            self._expect()
        self._received += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            self.end_wait()
        elif self.cycle is self._before:
            if self._received > self.header_bytes:
                self._refuse(b"431 Request Header Fields Too Large")
        elif not self.cycle.more_body:
            self.end_wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.end_wait()
        super().connection_lost(exc)

    def _expect(self) -> None:
        self._before, self._received = self.cycle, 0
        self.since = self.loop.time()
        self.deadline = self.loop.call_later(self.header_seconds, self._headers_due)

    def _headers_due(self) -> None:
        if self.cycle is self._before:
            self._refuse(b"408 Request Timeout")
            return
        left = self.request_seconds - self.header_seconds
        self.deadline = self.loop.call_later(left, self._refuse, b"408 Request Timeout")

    def end_wait(self) -> None:
        """Stop the clock: the request is there, or nobody waits for it any more."""
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def _refuse(self, status: bytes) -> None:
        self.end_wait()
        if self.transport.is_closing():
            return
        if self.cycle is self._before or not self.cycle.response_started:
            self.transport.write(
                b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
        self.transport.close()

    def _make_room(self) -> None:
        """Close whoever has been sending for the longest, or is idle; this one if there is none."""
        others = [
            one for one in self.connections if isinstance(one, TimedConnection) and one is not self
        ]
        sending = [one for one in others if one.deadline is not None]
        idle = [one for one in others if one.timeout_keep_alive_task is not None]
        oldest = min(sending, key=lambda one: one.since, default=None)
        found = oldest or next(iter(idle), self)
        found.end_wait()
        found.transport.abort()
        # its place is free at once, not when the loop has come round to it
        self.connections.discard(found)


def allow_many_connections() -> None:
    """Let this process open as many files as it may: each connection is one."""
    if sys.platform != "win32":
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _room() -> int:
    files = _MOST_FILES
    if sys.platform != "win32":
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        files = files if soft == resource.RLIM_INFINITY else soft
    return max(files - _OTHER_FILES, 32)
