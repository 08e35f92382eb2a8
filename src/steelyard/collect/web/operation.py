"""What those who run services ask: is it there, can it work, how much does it do."""

import hmac
import os
import shutil
import sys
import time
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from steelyard.collect.store import StoreError, settings
from steelyard.collect.store.progress import progress
from steelyard.collect.web.refusals import RefusedError
from steelyard.collect.web.site import Site, site_of
from steelyard.collect.web.traffic import quoted
from steelyard.version import __version__

if sys.platform != "win32":
    import resource

__all__ = ["router", "troubles"]

router = APIRouter(include_in_schema=False)

# Less room than this, and what raters submit may soon be refused.
_ROOM = 50_000_000
_TEXT = "text/plain; version=0.0.4; charset=utf-8"
_STARTED = time.time()
_COUNTS = {
    "units": "Units of the draw.",
    "complete": "Units with all judgments wanted.",
    "wanted": "Judgments wanted.",
    "judgments": "Judgments given.",
    "held": "Units that raters hold now.",
    "raters": "Raters who came.",
    "sessions": "Visits of raters.",
}


@router.get("/healthz")
async def health() -> Response:
    """Say that the process answers."""
    return PlainTextResponse("ok\n")


@router.get("/readyz")
async def readiness(request: Request) -> Response:
    """Say whether raters can be served: the database answers and has room."""
    trouble = await troubles(site_of(request))
    return JSONResponse({"ready": not trouble, "trouble": trouble}, 503 if trouble else 200)


async def troubles(site: Site) -> list[str]:
    """Return why raters cannot be served, in a few words; nothing if they can."""
    trouble = []
    try:
        if not await site.read(settings.has_begun):
            trouble.append("database: the campaign has not begun")
    except StoreError as error:
        # the reason may name places: it goes to the log
        site.log.warning("not ready: %s", error)
        trouble.append("database: does not answer")
    free = _free_bytes(site)
    if free is not None and free < _ROOM:
        trouble.append("disk: nearly full")
    return trouble


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Return counts in the text format of Prometheus, to whoever has the token."""
    token = request.app.state.metrics_token
    if token is None:
        raise RefusedError(404, "there is no such page")
    given = request.headers.get("Authorization", "")
    if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        raise RefusedError(401, "send the value of STEELYARD_METRICS_TOKEN as a bearer token")
    lines = [*_process_lines(), *request.app.state.traffic.lines()]
    lines += await _campaign_lines(site_of(request))
    return PlainTextResponse("\n".join(lines) + "\n", media_type=_TEXT)


async def _campaign_lines(site: Site) -> list[str]:
    lines = []
    try:
        found = await site.read(lambda connection: progress(connection, now=site.clock()))
    except StoreError as error:
        site.log.warning("no counts of the campaign: %s", error)
    else:
        for name, words in _COUNTS.items():
            lines += _gauge(f"steelyard_campaign_{name}", words, getattr(found, name))
    return lines + _disk_lines(site)


def _disk_lines(site: Site) -> list[str]:
    free = _free_bytes(site)
    if free is None:
        return []
    database = Path(site.campaign.database)
    size = database.stat().st_size if database.exists() else 0
    return [
        *_gauge("steelyard_disk_free_bytes", "Room beside the database.", free),
        *_gauge("steelyard_database_bytes", "Size of the database.", size),
    ]


def _process_lines() -> list[str]:
    info = f"steelyard_info{{version={quoted(__version__)},process={quoted(str(os.getpid()))}}} 1"
    lines = [
        "# HELP steelyard_info Version, and the process whose requests are counted here.",
        "# TYPE steelyard_info gauge",
        info,
        *_gauge("process_start_time_seconds", "Start, in seconds since 1970.", _STARTED),
        "# HELP process_cpu_seconds_total Time of the processor.",
        "# TYPE process_cpu_seconds_total counter",
        f"process_cpu_seconds_total {time.process_time():.3f}",
    ]
    if sys.platform != "win32":
        # kilobytes, but bytes on macOS
        scale = 1 if sys.platform == "darwin" else 1_024
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
        lines += _gauge("steelyard_process_memory_peak_bytes", "Most memory in use so far.", memory)
    return lines


def _gauge(name: str, words: str, value: float) -> list[str]:
    return [f"# HELP {name} {words}", f"# TYPE {name} gauge", f"{name} {value}"]


def _free_bytes(site: Site) -> int | None:
    """Room beside an SQLite file; None of a database elsewhere."""
    database = str(site.campaign.database)
    if database.startswith("postgresql"):
        return None
    return shutil.disk_usage(Path(database).parent).free
