"""What those who run services ask: is it there, and can it work."""

import shutil
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from steelyard.collect.store import StoreError, settings
from steelyard.collect.web.site import Site, site_of

__all__ = ["router", "troubles"]

router = APIRouter(include_in_schema=False)

# Less room than this, and what raters submit may soon be refused.
_ROOM = 50_000_000


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
    database = str(site.campaign.database)
    is_file = not database.startswith("postgresql")
    if is_file and shutil.disk_usage(Path(database).parent).free < _ROOM:
        trouble.append("disk: nearly full")
    return trouble
