"""Headers that tell the browser what these pages may do: almost nothing."""

from collections.abc import Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["SecurityHeaders", "content_security_policy", "route_path"]


def route_path(scope: Scope) -> str:
    """Return the path of a request as routes have it: without that below which the server is."""
    root, path = scope.get("root_path", ""), str(scope["path"])
    return path[len(root) :] if path.startswith(f"{root}/") else path


def content_security_policy(*, submits_to: Sequence[str], framed_by: Sequence[str]) -> str:
    """Return the policy of all pages: our own files and nothing inline.

    Parameters
    ----------
    submits_to
        Origins besides our own to which a form may lead: the panel's.
    framed_by
        Origins whose pages may show ours in a frame.

    Examples
    --------
    >>> policy = content_security_policy(submits_to=(), framed_by=())
    >>> policy.split("; ")[0], policy.split("; ")[-1]
    ("default-src 'none'", "frame-ancestors 'none'")
    """
    kinds = ("script", "style", "img", "media", "font", "connect")
    own = [f"{kind}-src 'self'" for kind in kinds]
    return "; ".join(
        [
            "default-src 'none'",
            *own,
            " ".join(["form-action 'self'", *submits_to]),
            "base-uri 'none'",
            "frame-ancestors " + (" ".join(framed_by) if framed_by else "'none'"),
        ]
    )


# Of files that a campaign brings: a picture may have styles inside, and runs nothing even if it is opened alone.
_OF_FILES = b"default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
_FILES = ("/media/", "/admin/media/")


class SecurityHeaders:
    """Adds the headers to every answer, errors included.

    Parameters
    ----------
    app
        What answers the requests.
    policy
        The content security policy.
    framed
        Whether the policy lets pages of others frame ours.
    """

    def __init__(self, app: ASGIApp, *, policy: str, framed: bool) -> None:
        self._app = app
        self._headers = [
            (b"content-security-policy", policy.encode("ascii")),
            (b"referrer-policy", b"no-referrer"),
            (b"x-content-type-options", b"nosniff"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
        ]
        if not framed:
            self._headers.append((b"x-frame-options", b"DENY"))
        self._of_files = [(b"content-security-policy", _OF_FILES), *self._headers[1:]]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # files of ours may be kept if the browser asks whether they changed
        path = route_path(scope)
        is_file = path.startswith(_FILES)
        is_kept = is_file or path.startswith("/static/")
        kept = b"private, no-cache" if is_file else b"no-cache" if is_kept else b"no-store"
        own = self._of_files if is_file else self._headers

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [one for one in message["headers"] if one[0] != b"cache-control"]
                message["headers"] = [*headers, *own, (b"cache-control", kept)]
            await send(message)

        await self._app(scope, receive, with_headers)
