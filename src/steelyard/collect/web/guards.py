"""Who may do what: the checks before every request of a rater or the administrator."""

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, get_type_hints

from fastapi import Depends, Request
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from steelyard.collect.config.wording import phrase
from steelyard.collect.web.refusals import RefusedError
from steelyard.collect.web.site import Role, Site, site_of
from steelyard.collect.web.tokens import InvalidTokenError, Purpose

__all__ = [
    "ADMIN_COOKIE",
    "CSRF_HEADER",
    "RATER_COOKIE",
    "Administrator",
    "Login",
    "QuickRoute",
    "RaterVisit",
    "Viewer",
    "Visit",
    "check_joins",
    "rater_visit",
    "set_cookie",
]

CSRF_HEADER = "X-CSRF-Token"
# Each campaign adds a mark to these names.
RATER_COOKIE, ADMIN_COOKIE = "sy_rater", "sy_admin"

_SAFE = frozenset({"GET", "HEAD"})


@dataclass(frozen=True)
class Visit:
    """Which rater's request this is, in which visit, and the site that it came to."""

    site: Site
    session: str
    rater: str

    @property
    def csrf(self) -> str:
        """What the page must send back with every change."""
        return self.site.keys.csrf(self.session)


@dataclass(frozen=True)
class Login:
    """Whose request this is on the dashboard: the random name of the login, and what it may do."""

    site: Site
    session: str
    role: Role

    @property
    def csrf(self) -> str:
        """What the page must send back with every change."""
        return self.site.keys.csrf(self.session)


def _checked(
    request: Request, cookie: str, purpose: Purpose, *, missing: str
) -> tuple[Site, tuple[str, ...]]:
    """Let a request pass if its cookie is ours, its page was ours, and it is not one of too many."""
    site = site_of(request)
    now = site.clock()
    text = request.cookies.get(site.cookie_name(cookie))
    if text is None:
        raise RefusedError(401, missing)
    try:
        token = site.keys.read(purpose, text, now=now)
    except InvalidTokenError:
        raise RefusedError(401, missing) from None
    session = token.subject[0]
    is_ours = site.keys.csrf_holds(session, request.headers.get(CSRF_HEADER))
    if request.method not in _SAFE and not is_ours:
        raise RefusedError(403, phrase("not-our-page"), code="csrf")
    wait = site.requests.wait(session, now=now)
    if wait:
        raise RefusedError(429, phrase("too-many-requests"), retry_seconds=wait)
    return site, token.subject


async def rater_visit(request: Request) -> Visit:
    """Return which rater's request this is."""
    site, (session, rater) = _checked(
        request, RATER_COOKIE, "rater", missing=phrase("open-link-again")
    )
    return Visit(site, session, rater)


async def _login(request: Request) -> Login:
    missing = "open the admin link that the server printed when it started"
    site, (session, role) = _checked(request, ADMIN_COOKIE, "admin", missing=missing)
    return Login(site, session, "admin" if role == "admin" else "viewer")


RaterVisit = Annotated[Visit, Depends(rater_visit)]
Viewer = Annotated[Login, Depends(_login)]


async def _administrator(login: Viewer) -> Login:
    """Refuse those who may only look."""
    if login.role != "admin":
        raise RefusedError(403, "your link is for looking only: ask whoever runs the campaign")
    return login


Administrator = Annotated[Login, Depends(_administrator)]


async def check_joins(request: Request) -> None:
    """Refuse an address that opens too many links."""
    site = site_of(request)
    address = request.client.host if request.client else "unknown"
    wait = site.joins.wait(address, now=site.clock())
    if wait:
        raise RefusedError(429, phrase("too-many-visits"), retry_seconds=wait)


def set_cookie(answer: Response, site: Site, kind: str, value: str, *, seconds: int) -> None:
    """Set one of the two cookies; scripts never see it, and a panel's frame may send the rater's."""
    is_secure = site.origin.startswith("https://")
    is_framed = kind == RATER_COOKIE and is_secure and bool(site.panel.framed_by)
    parts = [
        f"{site.cookie_name(kind)}={value}",
        f"Path={site.base}/" if kind == RATER_COOKIE else f"Path={site.base}/admin",
        f"Max-Age={seconds}",
        "HttpOnly",
        "SameSite=None" if is_framed else "SameSite=Lax",
    ]
    if is_secure:
        parts.append("Secure")
    if is_framed:
        # browsers that keep no third party's cookies keep one for each embedding site
        parts.append("Partitioned")
    answer.headers.append("set-cookie", "; ".join(parts))


class QuickRoute(APIRoute):
    """A route that raters use with every judgment: it takes a visit and a body as `sent`, and nothing else.

    FastAPI takes longer to find the arguments of a route than these routes take for their work: its way makes a
    judgment cost a server twice the processor time. What their model refuses goes FastAPI's way all the same, which
    makes the refusal.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        try:
            body = await request.body()
        except ClientDisconnect:
            # there is nobody to answer
            return
        sent = None
        if request.headers.get("content-type") == "application/json":
            with suppress(ValidationError):
                sent = self._model.model_validate_json(body)
        if sent is None or request.method not in (self.methods or ()):
            await super().handle(scope, _once_more(body, receive), send)
            return
        reply = to_json(await self.endpoint(await rater_visit(request), sent))
        await Response(reply, media_type="application/json")(scope, receive, send)

    @cached_property
    def _model(self) -> type[BaseModel]:
        model: type[BaseModel] = get_type_hints(self.endpoint)["sent"]
        return model


def _once_more(body: bytes, receive: Receive) -> Receive:
    """Return what hands out a body that was read, and then what follows."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    return received
