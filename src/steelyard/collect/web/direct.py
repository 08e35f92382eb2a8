"""A short way to the routes that raters use with every judgment."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NoReturn, get_type_hints

from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from steelyard.collect.web.guards import Visit, rater_visit
from steelyard.collect.web.headers import route_path
from steelyard.collect.web.messages import Reply

__all__ = ["Direct"]

_ERROR = "steelyard.error"


class Direct:
    """Answers a few routes without what FastAPI does for every request.

    FastAPI takes longer to find a route and its arguments than the route itself takes: without this a
    judgment costs a server 1.8 to 2.2 times the processor time (`python -m benchmarks.collect --quick`,
    column cpu ms). So the few routes that come with every judgment are looked up by their path, their body is read by its
    model, and the same guard stands before them. They stay declared as all others are, and whatever
    is out of the ordinary (no JSON, a body that the model refuses or that comes in pieces) goes the
    long way, so that every refusal is made in one place.

    Parameters
    ----------
    app
        The long way.
    routes
        The routes: each takes the visit of a rater and a body as `sent`, and returns a reply.
    handlers
        Who answers which error, as in the long way.
    """

    def __init__(
        self, app: ASGIApp, *, routes: Iterable[APIRoute], handlers: Mapping[Any, Any]
    ) -> None:
        self._app = app
        self._ways = {
            (method, route.path): _Way(route) for route in routes for method in route.methods or ()
        }
        # what nobody has foreseen is for the server's own handler, further out
        foreseen = {kind: one for kind, one in handlers.items() if kind not in {500, Exception}}
        self._refused = ExceptionMiddleware(_raise, handlers=foreseen)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        way = None
        if scope["type"] == "http":
            way = self._ways.get((scope["method"], route_path(scope)))
        if way is None:
            await self._app(scope, receive, send)
            return
        try:
            message = await receive()
            sent = way.body(scope, message)
            if sent is None:
                await self._app(scope, _again(message, receive), send)
                return
            scope["route"] = way.route
            answer = await way.endpoint(await rater_visit(Request(scope)), sent)
        except Exception as error:  # noqa: BLE001 - handed to whoever answers it, or raised again
            await self._refused({**scope, _ERROR: error}, receive, send)
            return
        body = to_json(answer)
        length = (b"content-length", b"%d" % len(body))
        headers = [(b"content-type", b"application/json"), length]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class _Way:
    """One route."""

    def __init__(self, route: APIRoute) -> None:
        self.route = route
        self.endpoint: Callable[[Visit, Any], Awaitable[Reply]] = route.endpoint
        self._model: type[BaseModel] = get_type_hints(route.endpoint)["sent"]

    def body(self, scope: Scope, message: Message) -> BaseModel | None:
        """Return what was sent; None if that is for the long way to see."""
        if message["type"] != "http.request" or message.get("more_body"):
            return None
        if (b"content-type", b"application/json") not in scope["headers"]:
            return None
        try:
            return self._model.model_validate_json(message.get("body", b""))
        except ValidationError:
            return None


def _again(first: Message, receive: Receive) -> Receive:
    """Return what hands out a message that was received once more, and then what follows."""
    waiting = [first]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    return received


async def _raise(scope: Scope, _receive: Receive, _send: Send) -> NoReturn:
    error: Exception = scope[_ERROR]
    raise error
