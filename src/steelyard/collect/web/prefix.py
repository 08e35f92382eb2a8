"""A campaign below a path of a host: https://example.org/annotate."""

import re
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["PathPrefix"]

# What names our addresses, and the marks around them; answers in other types name none. In a page
# other marks may stand in texts of the campaign, where double ones are escaped.
_MARKS = {b"text/html": b'"', b"text/javascript": b"\"'`", b"application/javascript": b"\"'`"}


class PathPrefix:
    """Serves an application below a path, which it need not know of.

    The path is taken off requests that have it: whether the proxy before us does so is up to it.
    It is put before every address of ours in an answer: where it leads, cookies, pages and
    scripts. Texts of the campaign are safe, because a quotation mark in them is escaped.

    Parameters
    ----------
    app
        What answers the requests.
    prefix
        The path, such as ``/annotate``.
    segments
        The first parts of the application's own paths.
    """

    def __init__(self, app: ASGIApp, *, prefix: str, segments: Iterable[str]) -> None:
        self._app = app
        self._prefix = prefix
        names = b"|".join(sorted(re.escape(one.encode()) for one in segments))
        self._addresses = {
            kind: re.compile(rb"([%b])/(?=(?:%b)[/?%b])" % (marks, names, marks))
            for kind, marks in _MARKS.items()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        if path == self._prefix or path.startswith(f"{self._prefix}/"):
            within = path.removeprefix(self._prefix) or "/"
            scope = {**scope, "path": within, "raw_path": within.encode()}
        start: Message | None = None
        addresses: re.Pattern[bytes] | None = None
        body = bytearray()

        async def rewritten(message: Message) -> None:
            nonlocal start, addresses
            if message["type"] == "http.response.start":
                message["headers"] = [self._header(*one) for one in message["headers"]]
                addresses = self._within(message)
                if addresses is not None:
                    start = message
                    return
            elif start is not None and addresses is not None:
                body.extend(message.get("body", b""))
                if message.get("more_body"):
                    return
                text = addresses.sub(rb"\1" + self._prefix.encode() + b"/", bytes(body))
                headers = [one for one in start["headers"] if one[0] != b"content-length"]
                if body:
                    headers.append((b"content-length", str(len(text)).encode()))
                await send({**start, "headers": headers})
                message = {**message, "body": text}
            await send(message)

        await self._app(scope, receive, rewritten)

    def _header(self, name: bytes, value: bytes) -> tuple[bytes, bytes]:
        prefix = self._prefix.encode()
        if name == b"location" and value.startswith(b"/"):
            return name, prefix + value
        if name == b"set-cookie":
            return name, re.sub(rb"(?i)(;\s*path=)/", rb"\1" + prefix + b"/", value)
        return name, value

    def _within(self, start: Message) -> re.Pattern[bytes] | None:
        """What finds addresses in an answer; None if there are none in its type."""
        for name, value in start["headers"]:
            if name == b"content-type":
                return self._addresses.get(value.partition(b";")[0].strip())
        return None
