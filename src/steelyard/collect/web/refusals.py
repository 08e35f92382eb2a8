"""One shape for everything that goes wrong: JSON for the API, a page for people."""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from steelyard.collect.config.wording import phrase
from steelyard.collect.dashboard.observer import ObserverError
from steelyard.collect.store import (
    AlreadySubmittedError,
    NotYoursError,
    StoreError,
    TooManyReportsError,
    UnknownLeaseError,
    UnknownRaterError,
    UnknownSessionError,
)
from steelyard.collect.web.headers import route_path
from steelyard.collect.web.site import site_of
from steelyard.collect.web.tokens import InvalidTokenError
from steelyard.errors import SteelyardError

__all__ = ["Refusal", "RefusedError", "add_refusals", "page_refusals", "refusals"]

_CODES = {
    400: "bad-request",
    401: "not-joined",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    409: "conflict",
    413: "too-large",
    422: "invalid",
    429: "too-many-requests",
    500: "failed",
    503: "unavailable",
}
_TITLED = frozenset({400, 401, 403, 404, 429, 503})
_API = ("/api/", "/admin/api/", "/admin/export/", "/admin/events")


_STORE: tuple[tuple[type[StoreError], int, str], ...] = (
    (NotYoursError, 403, "not-yours"),
    (UnknownLeaseError, 409, "lease-lost"),
    (AlreadySubmittedError, 409, "already-submitted"),
    (TooManyReportsError, 409, "too-many-reports"),
    (UnknownSessionError, 401, "not-joined"),
    (UnknownRaterError, 404, "not-found"),
)


class Problem(BaseModel):
    """What is wrong with one widget's answer or one part of a request."""

    widget: str | None
    message: str


class Explanation(BaseModel):
    """What went wrong, for a program and for a person."""

    code: str
    message: str
    problems: list[Problem] | None = None


class Refusal(BaseModel):
    """The body of every error."""

    error: Explanation


class RefusedError(Exception):
    """A request that is refused.

    Parameters
    ----------
    status
        The HTTP status.
    message
        One sentence for a person.
    code
        A word for a program; by default that of the status.
    problems
        Pairs of a widget and what is wrong with its answer.
    retry_seconds
        When it may be tried again.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        problems: Sequence[tuple[str | None, str]] = (),
        retry_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code or _CODES.get(status, "refused")
        self.problems = problems
        self.retry_seconds = retry_seconds


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the description of these answers for the API's own description."""
    return {
        status: {"model": Refusal, "description": _CODES[status].replace("-", " ")}
        for status in statuses
    }


def page_refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the same for pages, which say it in words."""
    page = {"text/html": {"schema": {"type": "string"}}}
    return {
        status: {"description": _CODES[status].replace("-", " "), "content": page}
        for status in statuses
    }


def add_refusals(app: FastAPI) -> None:
    """Turn every error of `app` into the one shape."""
    app.add_exception_handler(RefusedError, _on_refused)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(InvalidTokenError, _on_token)
    app.add_exception_handler(SteelyardError, _on_ours)
    app.add_exception_handler(StoreError, _on_store)
    app.add_exception_handler(ObserverError, _on_observer)
    app.add_exception_handler(Exception, _on_mistake)


async def _on_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return _answer(request, error)


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = phrase("no-page") if error.status_code == 404 else str(error.detail)
    answer = _answer(request, RefusedError(error.status_code, detail))
    for name, value in (error.headers or {}).items():
        answer.headers[name] = value
    return answer


async def _on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if any(one["type"] == "json_invalid" for one in found):
        return _answer(request, RefusedError(400, "the body must be JSON"))
    problems = [(_place(one["loc"]), str(one["msg"])) for one in found[:20]]
    message = "; ".join(f"{place}: {text}" for place, text in problems)
    return _answer(request, RefusedError(422, message, problems=problems))


async def _on_token(request: Request, error: Exception) -> Response:
    return _answer(request, RefusedError(401, _said(error), code="invalid-link"))


async def _on_ours(request: Request, error: Exception) -> Response:
    return _answer(request, RefusedError(400, _said(error)))


async def _on_store(request: Request, error: Exception) -> Response:
    for kind, status, code in _STORE:
        if isinstance(error, kind):
            return _answer(request, RefusedError(status, _said(error), code=code))
    # what a database says may hold addresses and names: it is for the log alone
    site = site_of(request)
    site.log.error("%s", error)
    # whoever looks at the dashboard sees it at once
    site.live.refresh()
    return _answer(request, RefusedError(503, phrase("database-silent"), retry_seconds=5))


async def _on_observer(request: Request, error: Exception) -> Response:
    return _answer(request, RefusedError(503, str(error), retry_seconds=5))


async def _on_mistake(request: Request, error: Exception) -> Response:
    # a mistake of ours: the server logs where it happened, and the reader learns nothing of it
    del error
    return _answer(request, RefusedError(500, phrase("went-wrong")))


def _said(error: Exception) -> str:
    """Return the message of an error as it was made: it may know its key."""
    return error.args[0] if error.args and isinstance(error.args[0], str) else str(error)


def _place(location: Sequence[Any]) -> str:
    # what was sent may be the name: only its beginning is worth repeating
    return ".".join(str(part)[:40] for part in location[1:]) or str(location[0])


def _answer(request: Request, error: RefusedError) -> Response:
    headers = {}
    say = site_of(request).campaign.wording
    message = say.of(error.message)
    if error.retry_seconds is not None:
        headers["Retry-After"] = str(max(1, round(error.retry_seconds)))
    if route_path(request.scope).startswith(_API):
        body: dict[str, Any] = {"code": error.code, "message": message}
        if error.problems:
            body["problems"] = [
                {"widget": widget, "message": say.of(words)} for widget, words in error.problems
            ]
        return JSONResponse({"error": body}, error.status, headers)
    title = say(f"refused-title-{error.status}" if error.status in _TITLED else "refused-title")
    page = site_of(request).message_page(title, message, status=error.status)
    page.headers.update(headers)
    return page
