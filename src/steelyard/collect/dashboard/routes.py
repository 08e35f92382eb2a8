"""The dashboard and its API: for whoever runs the campaign; and for those who may look, without changes.

Who only looks does not see what pays raters or lets somebody in as one.
"""

import asyncio
import secrets
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response, StreamingResponse

from steelyard.collect.dashboard import messages
from steelyard.collect.dashboard.answers import Show, answers
from steelyard.collect.dashboard.exports import ExportName, Rows, view_export
from steelyard.collect.money import micro
from steelyard.collect.policy.exclusion import rules_in_words
from steelyard.collect.sampling.draw import more_units
from steelyard.collect.store import decisions, hand_backs, invitations, queue, settings
from steelyard.collect.web.guards import (
    ADMIN_COOKIE,
    Administrator,
    Viewer,
    check_joins,
    set_cookie,
)
from steelyard.collect.web.messages import Reply
from steelyard.collect.web.refusals import RefusedError
from steelyard.collect.web.site import Site, site_of

__all__ = ["router"]

router = APIRouter()

_LOGIN_DAYS = 7
# For numbers; a page without any comes at once after that.
_PATIENCE_SECONDS = 3.0
_DAY_SECONDS = 24 * 60 * 60

# They hold the ids by which a panel knows people.
_FOR_PAYING = frozenset({"ledger.csv", "payments.csv", "bonuses.csv"})


@router.get("/admin/enter", dependencies=[Depends(check_joins)])
async def enter(request: Request, token: Annotated[str, Query(max_length=1024)]) -> Response:
    """Make the admin link a cookie, so that the link's token leaves the address bar."""
    site = site_of(request)
    now = site.clock()
    link = site.keys.read("admin-link", token, now=now)
    # no login outlives the link that it came from
    expires = min(now + _LOGIN_DAYS * _DAY_SECONDS * 1_000, link.expires)
    (role,) = link.subject
    value = site.keys.sign("admin", secrets.token_urlsafe(16), role, expires=expires)
    answer = RedirectResponse(f"{site.base}/admin", 303)
    set_cookie(answer, site, ADMIN_COOKIE, value, seconds=(expires - now) // 1_000)
    return answer


@router.get("/admin")
async def dashboard(admin: Viewer) -> Response:
    """Show where the campaign stands."""
    site = admin.site
    found = await site.live.latest_within(_PATIENCE_SECONDS)
    if found is None:
        found = await _not_computed_yet(site)
    return site.page("admin.html", csrf=admin.csrf, role=admin.role, snapshot=found)


async def _not_computed_yet(site: Site) -> dict[str, Any]:
    """Return what a page shows until the first snapshot comes."""
    known = await site.read(settings.current)
    assert known is not None
    return {
        "state": known.state,
        "signal": {
            "kind": "wait",
            "title": "Computing",
            "reason": "The numbers come in a moment. The machine is busy, and raters come first.",
        },
        "rules": list(rules_in_words(site.campaign)),
    }


@router.get("/admin/api/snapshot")
async def snapshot(admin: Viewer) -> dict[str, Any]:
    """Return where the campaign stands."""
    return await admin.site.live.latest()


@router.get("/admin/answers")
async def work_done(admin: Viewer) -> Response:
    """Show the page on which answers are looked at."""
    return admin.site.page("answers.html", csrf=admin.csrf, role=admin.role)


@router.get("/admin/api/answers")
async def found_answers(
    admin: Viewer,
    rater: Annotated[int | None, Query(ge=1, le=10**9)] = None,
    item: Annotated[str | None, Query(max_length=1_000)] = None,
    show: Show = "all",
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> dict[str, Any]:
    """Return answers with their texts, the newest first, and who gave them."""
    asked = partial(answers, rater=rater, item=item, show=show, offset=offset)
    found = await admin.site.live.observer.ask(asked)
    if admin.role != "admin":
        for one in found["raters"].values():
            one["panel_id"] = ""
    return found


@router.get("/admin/events")
async def events(admin: Viewer) -> Response:
    """Send every new snapshot as it comes, until the reader leaves or the server ends."""
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(
        admin.site.live.events(), media_type="text/event-stream", headers=headers
    )


@router.post("/admin/api/state")
async def change_state(admin: Administrator, sent: messages.State) -> Reply:
    """Pause, resume or stop."""
    return await _change(admin.site, state=sent.state)


@router.post("/admin/api/goal")
async def change_goal(admin: Administrator, sent: messages.Goal) -> Reply:
    """Change what to reach, or what may be spent; what is not given stays."""
    goal = admin.site.campaign.goal
    if sent.half_width is not None and goal is not None and goal.decide is not None:
        raise RefusedError(
            400,
            "`half_width` is no goal of a race: what it decides is settled in the campaign file",
        )
    budget = None if sent.budget is None else micro(sent.budget)
    return await _change(
        admin.site, half_width=sent.half_width, budget=budget, unlimited=sent.unlimited
    )


@router.post("/admin/api/message")
async def tell_raters(admin: Administrator, sent: messages.RaterMessage) -> Reply:
    """Tell all raters something, on their pages."""
    told = sent.text.strip()
    found = await _change(admin.site, message=told)
    admin.site.notice = told
    return found


@router.post("/admin/api/outputs")
async def add_outputs(admin: Administrator, sent: messages.More) -> Reply:
    """Draw more outputs of each system, so that what was drawn before stays a part of the sample."""
    site = admin.site
    now = site.clock()
    drawn = await site.read(queue.drawn)
    # reading the outputs takes a while: not in the writer
    units = await asyncio.to_thread(more_units, site.campaign, drawn, sent.more)

    def add(connection: Connection) -> Reply:
        fresh = queue.add_units(connection, new=units, now=now)
        found = settings.current(connection)
        assert found is not None
        return {"units": fresh, "sample_size": found.sample_size}

    added = await site.write(add)
    site.live.refresh()
    site.changed.set()
    return added


@router.post("/admin/api/invitations")
async def invite(admin: Administrator, sent: messages.Invitations) -> Reply:
    """Make links for raters, each for one: for people by name, or for so many without one."""
    site, now = admin.site, admin.site.clock()
    names = [*dict.fromkeys(sent.names), *(secrets.token_urlsafe(9) for _ in range(sent.count))]
    await site.write(partial(invitations.invite, names=names, now=now))
    return {"names": names, "links": [site.invitation(name) for name in names]}


@router.get("/admin/api/viewer")
async def viewer_link(admin: Administrator) -> Reply:
    """Return the link for those who may look and change nothing."""
    return {"link": admin.site.admin_link("viewer")}


@router.get("/admin/api/rater-link")
async def rater_link(admin: Administrator) -> Reply:
    """Return the link to give to the panel, or that of the first invited rater."""
    return {"link": admin.site.rater_link()}


@router.get("/admin/api/invitations")
async def invited(admin: Administrator) -> Reply:
    """Return all invitations, with what came of each."""
    return await _invited(admin.site)


@router.post("/admin/api/invitations/revoke")
async def revoke(admin: Administrator, sent: messages.InvitationName) -> Reply:
    """Withdraw an invitation: its link opens nothing any more."""
    await admin.site.write(partial(invitations.revoke, name=sent.name, now=admin.site.clock()))
    return await _invited(admin.site)


async def _invited(site: Site) -> Reply:
    found = await site.read(partial(invitations.invited, printed=site.printed_invitation))
    return {
        "invitations": [
            {
                "name": one.name,
                "link": site.invitation(one.name),
                "created": one.created,
                "revoked": one.revoked,
                "rater": one.number,
                "judgments": one.judgments,
            }
            for one in found
        ]
    }


@router.post("/admin/api/decisions")
async def decide(admin: Administrator, sent: messages.Decision) -> Reply:
    """Decide what becomes of a rater's work: whether it counts, or whether it is paid."""
    now = admin.site.clock()
    found = await admin.site.write(
        lambda connection: decisions.decide(
            connection,
            rater=sent.rater,
            about=sent.about,
            verdict=sent.verdict,
            reason=sent.reason,
            by="admin",
            now=now,
        )
    )
    admin.site.live.refresh()
    return {"about": found.about, "verdict": found.verdict, "reason": found.reason}


@router.post("/admin/api/hand-backs")
async def undo_hand_backs(admin: Administrator, sent: messages.HandBacks) -> Reply:
    """Let texts that a rater handed back be judged again, also if they were set aside."""
    operation = partial(hand_backs.undo_hand_backs, rater=sent.rater, now=admin.site.clock())
    texts = await admin.site.write(operation)
    admin.site.live.refresh()
    return {"texts": texts}


@router.get("/admin/export/{name}")
async def download(admin: Viewer, name: ExportName, rows: Rows = "estimate") -> Response:
    """Return a file of the campaign's results."""
    if name in _FOR_PAYING and admin.role != "admin":
        raise RefusedError(403, "files for paying raters are for whoever runs the campaign")
    live = admin.site.live
    await live.apply_rules()
    found = await live.observer.ask(partial(view_export, name=name, rows=rows))
    headers = {"Content-Disposition": f'attachment; filename="{found.filename}"'}
    return Response(found.body, media_type=found.media_type, headers=headers)


async def _change(site: Site, **changes: Any) -> Reply:
    now = site.clock()

    found = await site.write(lambda connection: settings.change(connection, **changes, now=now))
    site.live.refresh()
    site.changed.set()
    return {
        "state": found.state,
        "half_width": found.half_width,
        "budget": None if found.budget is None else found.budget / 1_000_000,
        "sample_size": found.sample_size,
    }
