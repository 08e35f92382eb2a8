"""One shape for everything that goes wrong: JSON for the API, a page for people."""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from steelyard.collect.config.wording import phrase
from steelyard.collect.dashboard.observer import ObserverError
from steelyard.collect.store import NotAcceptedError, StoreError
from steelyard.collect.web.headers import route_path
from steelyard.collect.web.site import site_of
from steelyard.collect.web.tokens import InvalidTokenError
from steelyard.errors import SteelyardError

__all__ = ["RefusedError", "add_refusals"]

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


# What the store does not accept, by its word for a program; the others conflict with what is stored.
_STORE = {"not-yours": 403, "not-joined": 401, "not-found": 404}


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


def add_refusals(app: FastAPI) -> None:
    """Turn every error of `app` into the one shape."""
    for kind in (HTTPException, RequestValidationError, RefusedError, SteelyardError, Exception):
        app.add_exception_handler(kind, _answered)


async def _answered(request: Request, error: Exception) -> Response:
    answer = _answer(request, _refusal(request, error))
    if isinstance(error, HTTPException):
        answer.headers.update(error.headers or {})
    return answer


def _refusal(request: Request, error: Exception) -> RefusedError:
    """Return how a request that ended in an error is refused."""
    # the message as it was made: it may know its key
    said = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    match error:
        case RefusedError():
            refused = error
        case HTTPException():
            is_page = error.status_code == 404
            refused = RefusedError(
                error.status_code, phrase("no-page") if is_page else str(error.detail)
            )
        case RequestValidationError():
            refused = _invalid(error)
        case InvalidTokenError():
            refused = RefusedError(401, said, code="invalid-link")
        case NotAcceptedError():
            refused = RefusedError(_STORE.get(error.code, 409), said, code=error.code)
        case StoreError():
            # what a database says may hold addresses and names: it is for the log alone
            site = site_of(request)
            site.log.error("%s", error)
            # whoever looks at the dashboard sees it at once
            site.live.refresh()
            refused = RefusedError(503, phrase("database-silent"), retry_seconds=5)
        case ObserverError():
            refused = RefusedError(503, said, retry_seconds=5)
        case SteelyardError():
            refused = RefusedError(400, said)
        case _:
            # a mistake of ours: the server logs where it happened, and the reader learns nothing of it
            refused = RefusedError(500, phrase("went-wrong"))
    return refused


def _invalid(error: RequestValidationError) -> RefusedError:
    found = error.errors()
    if any(one["type"] == "json_invalid" for one in found):
        return RefusedError(400, "the body must be JSON")
    problems = [(_place(one["loc"]), str(one["msg"])) for one in found[:20]]
    message = "; ".join(f"{place}: {text}" for place, text in problems)
    return RefusedError(422, message, problems=problems)


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
