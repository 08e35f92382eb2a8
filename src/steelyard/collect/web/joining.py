"""How raters come in: each link becomes a cookie, and its token leaves the address bar."""

import secrets
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy import Connection
from starlette.responses import HTMLResponse, RedirectResponse, Response

from steelyard.collect.config.wording import phrase
from steelyard.collect.integrations.panels import Arrival, InvitationPanel, Panel
from steelyard.collect.store import invitations, rater_answers, raters
from steelyard.collect.web.guards import RATER_COOKIE, check_joins, set_cookie
from steelyard.collect.web.refusals import RefusedError
from steelyard.collect.web.site import Site, site_of
from steelyard.collect.web.tokens import InvalidTokenError, Purpose

__all__ = ["router"]

router = APIRouter()
_coming_in = APIRouter(dependencies=[Depends(check_joins)])

_Token = Annotated[str, Query(max_length=1024, description="Signed by this server.")]
_Given = Annotated[str, Query(max_length=200)]


@router.get("/", response_class=HTMLResponse)
async def front(request: Request) -> Response:
    """Say what this is, and nothing more."""
    site = site_of(request)
    return site.message_page(phrase("welcome"), phrase("open-your-link"))


@_coming_in.get("/join")
async def join_invited(request: Request, token: _Token) -> Response:
    """Let in the rater whom an invitation names."""
    site = site_of(request)
    (rater,) = site.keys.read("invitation", token, now=site.clock()).subject
    if await site.read(partial(invitations.is_revoked, name=rater)):
        raise RefusedError(403, phrase("invitation-withdrawn"))
    return await _enter(site, "invitation", InvitationPanel().arrival({"rater": rater}))


@_coming_in.get("/join/open")
async def join_open(request: Request, token: _Token) -> Response:
    """Let in whoever has the link: as a new rater, or as the one this browser was before."""
    site = site_of(request)
    panel = _panel(site, "open", token)
    before = request.cookies.get(site.cookie_name(RATER_COOKIE))
    if before is not None:
        try:
            site.keys.read("rater", before, now=site.clock())
        except InvalidTokenError:
            pass
        else:
            return RedirectResponse(f"{site.base}/work", 303)
    arrival = panel.arrival({"rater": secrets.token_urlsafe(12)})
    return await _enter(site, "open", arrival, before=_before(site, request))


@_coming_in.get("/join/prolific")
async def join_prolific(
    request: Request,
    *,
    token: _Token,
    PROLIFIC_PID: _Given = "",  # noqa: ARG001 - named for the API's description
    STUDY_ID: _Given = "",  # noqa: ARG001
    SESSION_ID: _Given = "",  # noqa: ARG001
) -> Response:
    """Let in a participant whom Prolific sent."""
    return await _from_panel(request, "prolific", token)


@_coming_in.get("/join/external")
async def join_external(
    request: Request,
    *,
    token: _Token,
    assignmentId: _Given = "",  # noqa: ARG001
    hitId: _Given = "",  # noqa: ARG001
    workerId: _Given = "",  # noqa: ARG001
    turkSubmitTo: _Given = "",  # noqa: ARG001
) -> Response:
    """Let in a worker from a frame of the marketplace; without an assignment, to a preview."""
    return await _from_panel(request, "external-question", token)


@_coming_in.get("/join/panel")
async def join_panel(request: Request, token: _Token) -> Response:
    """Let in a rater of any other panel; the campaign names the parameters."""
    return await _from_panel(request, "generic", token)


async def _from_panel(request: Request, kind: str, token: str) -> Response:
    site = site_of(request)
    arrival = _panel(site, kind, token).arrival(request.query_params)
    return await _enter(site, kind, arrival, before=_before(site, request))


def _before(site: Site, request: Request) -> str | None:
    """Return who worked in this browser last, if it still knows."""
    text = request.cookies.get(site.cookie_name(RATER_COOKIE))
    purposes: tuple[Purpose, ...] = () if text is None else ("rater", "left")
    for purpose in purposes:
        try:
            return site.keys.read(purpose, text or "", now=site.clock()).subject[-1]
        except InvalidTokenError:
            continue
    return None


def _panel(site: Site, kind: str, token: str) -> Panel:
    """Return the campaign's panel if it is of this kind and the link is its own."""
    if site.campaign.panel.kind != kind:
        raise RefusedError(404, phrase("not-from-here"))
    (named,) = site.keys.read("panel", token, now=site.clock()).subject
    if named != kind:
        raise InvalidTokenError(phrase("link-not-valid"))
    return site.panel


async def _enter(
    site: Site, kind: str, arrival: Arrival | None, *, before: str | None = None
) -> Response:
    if arrival is None:
        return RedirectResponse(f"{site.base}/preview", 303)
    now = site.clock()

    def come_in(connection: Connection) -> raters.Session:
        rater = raters.join(connection, panel=kind, external_id=arrival.rater, now=now)
        _check_visit(site, connection, rater, arrival.session, before)
        return raters.open_session(
            connection,
            rater=rater,
            panel_session=arrival.session,
            parameters=arrival.parameters,
            now=now,
        )

    session = await site.write(come_in)
    answer = RedirectResponse(f"{site.base}/work", 303)
    expires = site.expiry()
    value = site.keys.sign("rater", session.id, session.rater, expires=expires)
    set_cookie(answer, site, RATER_COOKIE, value, seconds=(expires - now) // 1_000)
    return answer


def _check_visit(
    site: Site, connection: Connection, rater: str, visit: str, before: str | None
) -> None:
    """Refuse whoever has taken part as often as they may, also under another name."""
    rules = site.campaign.session
    earlier = raters.earlier_visits(connection, rater=rater, panel_session=visit)
    most = site.campaign.most_visits
    if most is not None and earlier >= most:
        raise RefusedError(403, phrase("taken-part"))
    if before in {None, rater} or not rules.one_per_browser:
        return
    known = before or ""
    has_judged = raters.judgments(connection, rater=known)
    if has_judged or rater_answers.has_failed(connection, rater=known):
        raise RefusedError(403, phrase("taken-part-browser"))


router.include_router(_coming_in)
