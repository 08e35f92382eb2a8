"""Several campaigns behind one address, each below its name; the trouble of one stays its own."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router

from steelyard.collect.web.headers import SecurityHeaders, content_security_policy
from steelyard.collect.web.operation import troubles

__all__ = ["several"]

_log = logging.getLogger("steelyard.collect")


def several(apps: Mapping[str, FastAPI], lost: Collection[str]) -> Router:
    """Return the application that leads every request to the campaign that it is for.

    Parameters
    ----------
    apps : mapping of str to FastAPI
        What `create_app` made, by the name of the campaign.
    lost : collection of str
        Names of campaigns that could not be opened: who comes to them is asked to come back.
    """
    turn = asyncio.Lock()
    routes: list[BaseRoute] = []
    for name, app in apps.items():
        app.state.periodic_work.turn = turn
        # a proxy may or may not take off the path of a public URL
        places = dict.fromkeys((app.state.site.base, f"/{name}"))
        routes += [Mount(place, app) for place in places]
    routes.append(Mount("/", _front(apps, lost)))

    @asynccontextmanager
    async def lifespan(_app: Any) -> AsyncIterator[dict[str, Any]]:
        ends: list[Callable[[], Awaitable[None]]] = []

        async def end() -> None:
            for one in ends:
                await one()

        async with AsyncExitStack() as stack:
            for app in apps.values():
                state = await stack.enter_async_context(app.router.lifespan_context(app))
                ends.append(dict(state or {})["end_streams"])
            yield {"end_streams": end}

    # a redirect would lead to the host that the request names
    return Router(routes, redirect_slashes=False, lifespan=lifespan)


def _front(apps: Mapping[str, FastAPI], lost: Collection[str]) -> Starlette:
    """Return what answers where no campaign is."""

    async def readiness(_request: Request) -> Response:
        """Say whether there is a campaign that can work; which ones cannot is in the log."""
        ready = {name: not await troubles(app.state.site) for name, app in apps.items()}
        for name in (name for name, holds in ready.items() if not holds):
            _log.warning("campaign %s is not ready", name)
        counts = {"campaigns": len(ready) + len(lost), "ready_campaigns": sum(ready.values())}
        return JSONResponse(
            {"ready": any(ready.values()), **counts}, 200 if any(ready.values()) else 503
        )

    routes = [
        Route("/", _said("To take part, open the link that you were given.")),
        Route("/healthz", _said("ok")),
        Route("/readyz", readiness),
    ]
    closed = _said(
        "This campaign is closed for the moment. Open your link again later.",
        status=503,
        headers={"Retry-After": "60"},
    )
    routes += [Route(f"/{name}/{{rest:path}}", closed) for name in lost]
    nothing = _said("There is no such page. Open the link that you were given.", status=404)
    front = Starlette(routes=[*routes, Route("/{rest:path}", nothing)])
    policy = content_security_policy(submits_to=(), framed_by=())
    front.add_middleware(SecurityHeaders, policy=policy, framed=False)
    return front


def _said(
    words: str, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers every request with these words."""

    async def answer(_request: Request) -> Response:
        return PlainTextResponse(f"{words}\n", status, headers)

    return answer
