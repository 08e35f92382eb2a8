"""The files that a task shows: for raters of the campaign, and for those who look at it."""

from typing import Annotated

from fastapi import APIRouter
from fastapi import Path as Named
from starlette.responses import FileResponse

from steelyard.collect.config.wording import phrase
from steelyard.collect.web.guards import RaterVisit, Viewer
from steelyard.collect.web.refusals import RefusedError, page_refusals
from steelyard.collect.web.site import Site

__all__ = ["router"]

router = APIRouter()

_Name = Annotated[str, Named(pattern=r"^[0-9a-f]{32}\.[a-z0-9]{2,4}$")]


@router.get(
    "/media/{name}", response_class=FileResponse, responses=page_refusals(401, 404, 422, 429)
)
async def file(visit: RaterVisit, name: _Name) -> FileResponse:
    """Return a file, or the part of it that is asked for."""
    return _sent(visit.site, name)


@router.get(
    "/admin/media/{name}", response_class=FileResponse, responses=page_refusals(401, 404, 422, 429)
)
async def looked_at(admin: Viewer, name: _Name) -> FileResponse:
    """Return a file to somebody who looks at the answers."""
    return _sent(admin.site, name)


def _sent(site: Site, name: str) -> FileResponse:
    found = None if site.media is None else site.media.file(name)
    if found is None:
        raise RefusedError(404, phrase("no-page"))
    return FileResponse(found.path, media_type=found.media_type)
