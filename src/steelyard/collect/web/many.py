"""Several campaigns behind one address, each below its name; the trouble of one stays its own."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from steelyard.collect.web.headers import SecurityHeaders, content_security_policy
from steelyard.collect.web.operation import troubles

__all__ = ["Campaigns"]

_log = logging.getLogger("steelyard.collect")


class Campaigns:
    """Leads every request to the campaign that it is for.

    Parameters
    ----------
    apps : mapping of str to FastAPI
        What `create_app` made, by the name of the campaign.
    lost : collection of str
        Names of campaigns that could not be opened: who comes to them is asked to come back.
    """

    def __init__(self, apps: Mapping[str, FastAPI], lost: Collection[str]) -> None:
        self._apps = dict(apps)
        turn = asyncio.Lock()
        for app in apps.values():
            app.state.periodic_work.turn = turn
        self._lost = set(lost)
        self._paths = {name: urlsplit(app.state.site.origin).path for name, app in apps.items()}
        # A proxy may or may not take off the path of a public URL.
        self._prefixes = {f"/{name}": name for name in (*apps, *lost)}
        self._prefixes |= {path: name for name, path in self._paths.items()}
        routes = [
            Route("/", _front),
            Route("/healthz", _health),
            Route("/readyz", self._readiness),
            Route("/{rest:path}", _nothing),
        ]
        own = Starlette(routes=routes, lifespan=self._lifespan)
        own.add_middleware(
            SecurityHeaders,
            policy=content_security_policy(submits_to=(), framed_by=()),
            framed=False,
        )
        self._own: ASGIApp = own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        name, within = self._within(scope["path"]) if scope["type"] == "http" else (None, "")
        if name is None:
            await self._own(scope, receive, send)
        elif name in self._lost:
            await _closed(scope, receive, send)
        else:
            # Whole: the campaign takes its path off itself, once. If it came without, that of one
            # called `media` or `work` would be taken off its own pages.
            whole = self._paths[name] + within
            inner = {**scope, "path": whole, "raw_path": whole.encode()}
            await self._apps[name](inner, receive, send)

    def _within(self, path: str) -> tuple[str | None, str]:
        """Return which campaign an address is of, and the address within it."""
        for prefix, name in self._prefixes.items():
            if path == prefix or path.startswith(f"{prefix}/"):
                return name, path.removeprefix(prefix) or "/"
        return None, path

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[dict[str, Any]]:
        ends: list[Callable[[], Awaitable[None]]] = []

        async def end() -> None:
            for one in ends:
                await one()

        async with AsyncExitStack() as stack:
            for app in self._apps.values():
                state = await stack.enter_async_context(app.router.lifespan_context(app))
                ends.append(dict(state or {})["end_streams"])
            yield {"end_streams": end}

    async def _readiness(self, _request: Request) -> Response:
        """Say whether there is a campaign that can work; which ones cannot is in the log."""
        ready = {name: not await troubles(app.state.site) for name, app in self._apps.items()}
        for name in (name for name, holds in ready.items() if not holds):
            _log.warning("campaign %s is not ready", name)
        counts = {"campaigns": len(ready) + len(self._lost), "ready_campaigns": sum(ready.values())}
        return JSONResponse(
            {"ready": any(ready.values()), **counts}, 200 if any(ready.values()) else 503
        )


async def _front(_request: Request) -> Response:
    return PlainTextResponse("To take part, open the link that you were given.\n")


async def _health(_request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _nothing(_request: Request) -> Response:
    return PlainTextResponse("There is no such page. Open the link that you were given.\n", 404)


async def _closed(scope: Scope, receive: Receive, send: Send) -> None:
    answer = PlainTextResponse(
        "This campaign is closed for the moment. Open your link again later.\n",
        503,
        {"Retry-After": "60"},
    )
    await answer(scope, receive, send)
