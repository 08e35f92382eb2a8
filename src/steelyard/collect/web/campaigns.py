"""The campaigns of a server: each below its name, and the trouble of one stays its own."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, Router

from steelyard.collect.config.campaign import Campaign, load_campaign
from steelyard.collect.store import Store
from steelyard.collect.web.app import create_app, first_units
from steelyard.collect.web.headers import SecurityHeaders, content_security_policy
from steelyard.collect.web.operation import troubles
from steelyard.errors import InvalidArgumentError, SteelyardError

__all__ = ["Served", "campaign_files", "opened_campaigns", "read_campaigns", "several"]

_FILE = "campaign.yaml"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]*")
# What the server itself answers.
_TAKEN = frozenset({"healthz", "readyz", "static"})
_log = logging.getLogger("steelyard.collect")


@dataclass
class Served:
    """A campaign that is served, or why it is not.

    Attributes
    ----------
    path
        Its file.
    name
        The part of the address that it is below; empty if it is alone.
    campaign, app
        What it is, and what answers its requests; None if it could not be opened.
    links
        Where people go: ``raters``, ``admin`` (whoever has it may do everything) and ``viewer`` (who only looks).
    as_markdown
        Fields that are laid out as markdown because they look like it.
    trouble
        Why it could not be opened.
    """

    path: Path
    name: str = ""
    campaign: Campaign | None = None
    app: FastAPI | None = None
    links: Mapping[str, str] = field(default_factory=dict)
    as_markdown: tuple[str, ...] = ()
    trouble: str | None = None


def campaign_files(given: Sequence[Path]) -> list[Served]:
    """Return the campaigns of files and folders, not yet read.

    A folder stands for the ``campaign.yaml`` in it; one without stands for those of its own folders,
    in the order of their names. One campaign alone has no name. Otherwise a campaign has the name
    of its file, or of its folder if the file is called ``campaign.yaml``.

    Raises
    ------
    InvalidArgumentError
        If there is none in a folder, two have the same name, or a name cannot stand in an address.
    """
    if len(given) == 1 and (not given[0].is_dir() or (given[0] / _FILE).is_file()):
        return [Served(given[0] / _FILE if given[0].is_dir() else given[0])]
    named: dict[str, Served] = {}
    for path in (file for each in given for file in _files(each)):
        name = path.absolute().parent.name if path.name == _FILE else path.stem
        if not _NAME.fullmatch(name) or name in _TAKEN:
            raise InvalidArgumentError(
                f"{path} cannot be served under the name {name!r}: rename it, with letters, digits, dots and dashes"
            )
        if name in named:
            raise InvalidArgumentError(
                f"{named[name].path} and {path} would both be served under {name!r}: rename one"
            )
        named[name] = Served(path, name)
    return list(named.values())


def _files(given: Path) -> list[Path]:
    if not given.is_dir():
        return [given]
    if (given / _FILE).is_file():
        return [given / _FILE]
    found = sorted(given.glob(f"*/{_FILE}"))
    if not found:
        raise InvalidArgumentError(
            f"{given} holds no campaign: there must be a {_FILE} in it, or in folders within it"
        )
    return found


def read_campaigns(given: Sequence[Path], *, processes: int = 1) -> list[Served]:
    """Read campaign files; of several, one that is not right says why.

    Raises
    ------
    SteelyardError
        If there is only one, and it is not right.
    """
    found = campaign_files(given)
    for one in found:
        with _own_trouble(one, alone=len(found) == 1):
            one.campaign = _read(one, found, processes=processes)
    return found


@contextmanager
def opened_campaigns(
    served: Sequence[Served], *, origin: str, keeper: bool = True
) -> Iterator[Sequence[Served]]:
    """Open campaigns; of several, one that cannot be opened says why and is left out.

    Raises
    ------
    SteelyardError
        If there is only one, and it cannot be opened.
    InvalidArgumentError
        If none of several can be.
    """
    with ExitStack() as stack:
        for one in served:
            if one.campaign is not None:
                with _own_trouble(one, alone=len(served) == 1):
                    _open(one, one.campaign, stack, origin=origin, keeper=keeper)
        if not any(one.app for one in served):
            raise InvalidArgumentError(
                f"none of the {len(served)} campaigns can be served; the first: {served[0].trouble}"
            )
        yield served


@contextmanager
def _own_trouble(served: Served, *, alone: bool) -> Iterator[None]:
    try:
        yield
    except SteelyardError as error:
        if alone:
            raise
        served.campaign, served.trouble = None, str(error)


def _read(served: Served, others: Sequence[Served], *, processes: int) -> Campaign:
    campaign = load_campaign(served.path)
    if processes > 1 and not str(campaign.database).startswith("postgresql"):
        raise InvalidArgumentError(
            f"`--processes` above 1 needs `database: postgresql://...` in {served.path.name}: an SQLite "
            "file has one writer"
        )
    for one in others:
        if one.campaign is not None and one.campaign.database == campaign.database:
            raise campaign.error(
                ("database",), f"is that of {one.name}, too: name another in one of them"
            )
    return campaign


def _open(
    served: Served, campaign: Campaign, stack: ExitStack, *, origin: str, keeper: bool
) -> None:
    units = first_units(campaign)
    with ExitStack() as own:
        store = own.enter_context(Store.open(campaign.database))
        served.app = create_app(
            campaign, store, units=units, origin=origin, name=served.name, keeper=keeper
        )
        stack.push(own.pop_all())
    site = served.app.state.site
    served.links = {
        "raters": site.rater_link(),
        "admin": site.admin_link(),
        "viewer": site.admin_link("viewer"),
    }
    served.as_markdown = site.as_markdown


def several(served: Sequence[Served]) -> Router:
    """Return the application that leads every request to the campaign that it is for."""
    turn = asyncio.Lock()
    apps = {one.name: one.app for one in served if one.app is not None}
    routes = []
    for name, app in apps.items():
        app.state.periodic_work.turn = turn
        # a proxy may or may not take off the path of a public URL
        routes += [Mount(place, app) for place in dict.fromkeys((app.state.site.base, f"/{name}"))]
    lost = [one.name for one in served if one.app is None]

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
    return Router(
        [*routes, Mount("/", _front(apps, lost))], redirect_slashes=False, lifespan=lifespan
    )


def _front(apps: Mapping[str, FastAPI], lost: Sequence[str]) -> Starlette:
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

    closed = _said(
        "This campaign is closed for the moment. Open your link again later.",
        status=503,
        headers={"Retry-After": "60"},
    )
    nothing = _said("There is no such page. Open the link that you were given.", status=404)
    front = Starlette(
        routes=[
            Route("/", _said("To take part, open the link that you were given.")),
            Route("/healthz", _said("ok")),
            Route("/readyz", readiness),
            *(Route(f"/{name}/{{rest:path}}", closed) for name in lost),
            Route("/{rest:path}", nothing),
        ]
    )
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
