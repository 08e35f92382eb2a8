"""The web application of one campaign."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from steelyard.collect.config.campaign import Campaign, check_metrics
from steelyard.collect.dashboard import routes as dashboard
from steelyard.collect.dashboard.live_snapshots import LiveSnapshots
from steelyard.collect.integrations.webhook import Webhook
from steelyard.collect.policy.budget import Budget
from steelyard.collect.sampling.added_systems import added_units, begun_with
from steelyard.collect.sampling.draw import units_of
from steelyard.collect.sampling.unit import Unit
from steelyard.collect.store import Reader, Store, StoreError, settings
from steelyard.collect.store.queue import drawn, stored_contents
from steelyard.collect.tasks import read_gold
from steelyard.collect.tasks.gold import unordered
from steelyard.collect.web import answering, before_work, joining, operation, working
from steelyard.collect.web.headers import SecurityHeaders, content_security_policy
from steelyard.collect.web.limits import BodyLimit, Limits, RateLimit
from steelyard.collect.web.media import MediaFolder
from steelyard.collect.web.periodic_work import PeriodicWork
from steelyard.collect.web.presentation import LOOKED_AT, detected
from steelyard.collect.web.refusals import add_refusals
from steelyard.collect.web.site import Clock, Site, system_clock
from steelyard.collect.web.tokens import Keys
from steelyard.tables import read_outputs
from steelyard.version import __version__

__all__ = ["create_app", "first_units", "prepared", "public_origin"]

_STATIC = Path(__file__).parent.parent / "static"
# Below a host: a path of plain words.
_PATH = re.compile(r"(?:/[A-Za-z0-9._~-]+)*")
# A page asks for several things at once when it opens.
_BURST_SECONDS = 2


def create_app(
    campaign: Campaign,
    store: Store,
    *,
    units: Sequence[Unit] | None = None,
    origin: str = "http://127.0.0.1:8000",
    name: str = "",
    clock: Clock = system_clock,
    keeper: bool = True,
    limits: Limits | None = None,
) -> FastAPI:
    """Return the application that serves a campaign from its database.

    Parameters
    ----------
    campaign
        What is asked of whom.
    store
        Where the answers are kept; made ready for the campaign if it is new.
    units
        What `first_units` returned, when it is at hand.
    origin
        Where links lead, unless the campaign has a public URL.
    name
        The path below that at which it is served among others; empty if it is alone.
    clock
        The time in milliseconds UTC.
    keeper
        Whether this process tells the webhook; one of several does.
    limits
        What is taken from one sender.

    Raises
    ------
    StoreError
        If the database holds another campaign.
    """
    limits = limits or Limits()
    origin = f"{public_origin(campaign) or origin}/{name}".rstrip("/")
    site = _site(campaign, store, origin=origin, clock=clock, units=units, limits=limits)
    app = FastAPI(
        title="Steelyard annotation server",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        # it would lead to the host that the request names
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    # among others, who leads requests here says it
    app.root_path = "" if name else site.base
    app.state.site = site
    webhook = Webhook.of(campaign, store, origin=origin, now=clock()) if keeper else None
    app.state.periodic_work = PeriodicWork(site, webhook)
    # routes are tried in this order: what raters ask for all the time comes first
    for quick in (working.quick, answering.router):
        app.include_router(quick)
    for part in (working, before_work, joining, dashboard, operation):
        app.include_router(part.router)
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    add_refusals(app)
    app.add_middleware(BodyLimit, most=limits.body_bytes)
    app.add_middleware(
        SecurityHeaders,
        policy=content_security_policy(
            submits_to=site.panel.submits_to, framed_by=site.panel.framed_by
        ),
        framed=bool(site.panel.framed_by),
    )
    return app


def _site(
    campaign: Campaign,
    store: Store,
    *,
    origin: str,
    clock: Clock,
    units: Sequence[Unit] | None,
    limits: Limits,
) -> Site:
    """Make the database ready for a campaign and return what requests need of both."""
    chosen = prepared(campaign, store, now=clock(), units=units)
    task, as_markdown = detected(
        campaign.task, store.read(partial(stored_contents, most=LOOKED_AT))
    )
    campaign = campaign.with_task(task)
    gold = [] if campaign.gold is None else read_gold(campaign.gold.file, task)
    per_second, per_minute = limits.requests_per_second, limits.joins_per_minute
    return Site(
        campaign=campaign,
        store=store,
        keys=Keys(chosen.secret, chosen.fingerprint),
        live=LiveSnapshots(campaign, store, now=clock),
        origin=origin,
        clock=clock,
        requests=RateLimit(rate=per_second, burst=_BURST_SECONDS * per_second),
        joins=RateLimit(rate=per_minute / 60, burst=per_minute),
        budget=Budget.of(campaign),
        checks={unordered(one.content): one for one in gold if one.feedback},
        notice=chosen.message or "",
        media=None if campaign.media is None else MediaFolder(campaign.media, chosen.secret),
        as_markdown=as_markdown,
    )


def public_origin(campaign: Campaign) -> str | None:
    """Return where raters reach the server, with the path if there is one, if the campaign says so.

    Raises
    ------
    InvalidDataError
        If it is more than a host and a path.
    """
    if campaign.public_url is None:
        return None
    place = urlsplit(campaign.public_url)
    path = place.path.rstrip("/")
    if place.query or place.fragment or not _PATH.fullmatch(path):
        raise campaign.error(
            ("public_url",),
            "must be a host, perhaps with a path, as in https://example.org/annotate; got "
            f"{campaign.public_url!r}",
        )
    return f"{place.scheme}://{place.netloc}{path}"


def first_units(campaign: Campaign) -> list[Unit] | None:
    """Return what a campaign begins with; None if it has begun, as far as can be seen.

    Nothing is made: a campaign that cannot begin leaves no database behind.

    Raises
    ------
    InvalidDataError
        If the campaign's files are not right.
    """
    if Reader.is_there(campaign.database):
        with Reader.open(campaign.database) as reader:
            try:
                if reader.read(settings.has_begun):
                    return None
            except StoreError:
                # `Store.open` will say what is wrong with it.
                return None
    return units_of(campaign)


def prepared(
    campaign: Campaign, store: Store, *, now: int, units: Sequence[Unit] | None = None
) -> settings.Settings:
    """Begin the campaign in a new database, or see that an old one is its own."""
    # Drawing takes a while: not inside the writer, and not without need. The metrics are looked for
    # at every start, because they may be others than before.
    facts = settings.Facts.of(campaign)
    there = store.read(settings.current)
    added: Sequence[Unit] | None = None
    if there is None:
        units = units_of(campaign) if units is None else units
    else:
        added = _grown_by(campaign, store, there)
        check_metrics(campaign, read_outputs(campaign.outputs).metrics)
        if added is not None:
            facts = replace(facts, fingerprint=there.fingerprint)
    return store.write(
        lambda connection: settings.initialise(
            connection, facts=facts, units=units or (), now=now, added=added or ()
        )
    ).result()


def _grown_by(campaign: Campaign, store: Store, there: settings.Settings) -> list[Unit] | None:
    """Return what systems that were added bring; None if the campaign is not one that has grown."""
    if there.fingerprint == campaign.fingerprint:
        return None
    size = begun_with(campaign, there.fingerprint)
    if size is None:
        return None
    return added_units(campaign, store.read(drawn), size=size)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
    site: Site = app.state.site
    periodic_work: PeriodicWork = app.state.periodic_work
    periodic_work.start()

    async def end() -> None:
        await periodic_work.end()
        await site.live.close()

    try:
        # the server ends the streams before it waits for requests to end
        yield {"end_streams": end}
    finally:
        await end()
