"""Who may do what: the checks before every request of a rater or the administrator."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.openapi.models import APIKey
from fastapi.security.base import SecurityBase
from starlette.responses import HTMLResponse

from steelyard.collect.config.wording import phrase
from steelyard.collect.web.cookies import ADMIN_COOKIE, RATER_COOKIE
from steelyard.collect.web.refusals import RefusedError, page_refusals, refusals
from steelyard.collect.web.site import Site, site_of
from steelyard.collect.web.tokens import InvalidTokenError, Purpose

__all__ = [
    "CSRF_HEADER",
    "Administrator",
    "RaterVisit",
    "Viewer",
    "Visit",
    "change",
    "check_joins",
    "coming_in",
    "rater_visit",
]

CSRF_HEADER = "X-CSRF-Token"

_SAFE = frozenset({"GET", "HEAD"})


@dataclass(frozen=True)
class Visit:
    """Whose request this is.

    Attributes
    ----------
    site
        The site it came to.
    session, rater
        The rater's visit and the rater; on the dashboard, the random name of the login and its role.
    """

    site: Site
    session: str
    rater: str

    @property
    def csrf(self) -> str:
        """What the page must send back with every change."""
        return self.site.keys.csrf(self.session)


class _Guard(SecurityBase):
    """Lets a request pass if its cookie is ours, its page was ours, and it is not one of too many."""

    def __init__(self, cookie: str, purpose: Purpose, *, missing: str) -> None:
        self.model = APIKey.model_validate({"in": "cookie", "name": cookie})
        self.scheme_name = purpose
        self._cookie = cookie
        self._purpose: Purpose = purpose
        self._missing = missing

    async def __call__(self, request: Request) -> Visit:
        """Return whose request this is."""
        site = site_of(request)
        now = site.clock()
        text = request.cookies.get(site.cookie_name(self._cookie))
        if text is None:
            raise RefusedError(401, self._missing)
        try:
            token = site.keys.read(self._purpose, text, now=now)
        except InvalidTokenError:
            raise RefusedError(401, self._missing) from None
        session, rater = token.subject
        if request.method not in _SAFE:
            word = request.headers.get(CSRF_HEADER)
            if not site.keys.csrf_holds(session, word):
                raise RefusedError(403, phrase("not-our-page"), code="csrf")
        wait = site.requests.wait(session, now=now)
        if wait:
            raise RefusedError(429, phrase("too-many-requests"), retry_seconds=wait)
        return Visit(site, session, rater)


rater_visit = _Guard(RATER_COOKIE, "rater", missing=phrase("open-link-again"))
RaterVisit = Annotated[Visit, Depends(rater_visit)]
_dashboard = _Guard(
    ADMIN_COOKIE,
    "admin",
    missing="open the admin link that the server printed when it started",
)
Viewer = Annotated[Visit, Depends(_dashboard)]


async def _administrator(visit: Viewer) -> Visit:
    """Refuse those who may only look."""
    if visit.rater != "admin":
        raise RefusedError(403, "your link is for looking only: ask whoever runs the campaign")
    return visit


Administrator = Annotated[Visit, Depends(_administrator)]


def coming_in() -> dict[str, Any]:
    """Return the description of a route that makes a link a cookie."""
    return {
        "dependencies": [Depends(check_joins)],
        "response_class": HTMLResponse,
        "status_code": 303,
        "responses": page_refusals(400, 401, 403, 404, 422, 429),
    }


def change(*statuses: int) -> dict[str, Any]:
    """Return the description of a route that changes something and may be refused so."""
    word = {
        "name": CSRF_HEADER,
        "in": "header",
        "required": True,
        "schema": {"type": "string"},
        "description": "The word of the page, bound to the session.",
    }
    return {
        # read from the request itself: declared as a parameter it would cost every request
        "openapi_extra": {"parameters": [word]},
        "responses": refusals(400, 401, 403, 413, 422, 429, *statuses),
    }


async def check_joins(request: Request) -> None:
    """Refuse an address that opens too many links."""
    site = site_of(request)
    address = request.client.host if request.client else "unknown"
    wait = site.joins.wait(address, now=site.clock())
    if wait:
        raise RefusedError(429, phrase("too-many-visits"), retry_seconds=wait)
