"""The rater's page and its API: what is next, and the end of a visit with the way back to the panel."""

from functools import partial
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Request
from fastapi import Path as Named
from sqlalchemy import Connection
from starlette.responses import FileResponse, Response

from steelyard.collect.config.questionnaires import Part
from steelyard.collect.config.wording import phrase
from steelyard.collect.integrations.panels import Outcome
from steelyard.collect.policy import visit as visit_rules
from steelyard.collect.policy.visit import (
    PAID_ENDS,
    Reason,
    has_visited_enough,
    judgments_of_visit,
    visit_outcome,
)
from steelyard.collect.store import hand_backs, leases, raters
from steelyard.collect.store.decisions import verdict
from steelyard.collect.store.hand_backs import handed_back
from steelyard.collect.web import before_work, messages
from steelyard.collect.web.guards import QuickRoute, RaterVisit, Viewer
from steelyard.collect.web.refusals import RefusedError
from steelyard.collect.web.site import Site, site_of, tried

__all__ = ["quick", "router"]

router = APIRouter()
quick = APIRouter(route_class=QuickRoute)

_WAIT_SECONDS = 5
_Name = Annotated[str, Named(pattern=r"^[0-9a-f]{32}\.[a-z0-9]{2,4}$")]


@quick.post("/api/next")
async def next_assignment(visit: RaterVisit, sent: messages.Nothing) -> messages.Reply:
    """Give the rater something to judge, the same again until it is submitted."""
    del sent
    site = visit.site
    now = site.clock()

    def give(connection: Connection) -> tuple[raters.Session, leases.Lease | before_work.First]:
        facts = raters.session(connection, visit.session)
        before = _ended(site, connection, facts) or before_work.first(site, connection, facts)
        found = before or leases.next_lease(
            connection,
            session=visit.session,
            rater=visit.rater,
            now=now,
            lease_ms=site.lease_ms,
            budget=site.budget,
            documents=site.campaign.documents is not None,
        )
        if isinstance(found, str):
            # who handed a text back first may have judged enough by now to be heard
            hand_backs.set_aside_due(
                connection, rater=visit.rater, enough=visit_rules.HAND_BACKS_PER_TEXT, now=now
            )
        return facts, found

    facts, found = await site.write(give)
    if _is_paid_end(facts, found) and await _ruled(site):
        facts, found = await site.write(give)
    if isinstance(found, str):
        return await _nothing(site, facts, found)
    if not isinstance(found, leases.Lease):
        return dict(found or {})
    site.memory.keep(found.id, found.shown)
    return {
        "status": "task",
        "assignment": {
            "id": found.id,
            **site.on_page(found.shown.content),
            "draft": None if found.draft is None else dict(found.draft),
            "active_ms": found.active_ms,
            "expires": found.expires,
        },
        "progress": {
            "done": facts.done,
            "of": judgments_of_visit(site.campaign, facts),
            "earned": site.money(facts.earned),
        },
    }


async def _nothing(site: Site, facts: raters.Session, reason: Reason) -> messages.Reply:
    """Return why there is nothing to judge; before the end of paid work come its questions."""
    if reason == "wait":
        return {"status": "wait", "retry_seconds": _WAIT_SECONDS}
    if reason == "paused":
        return {"status": "paused"}
    if _is_paid_end(facts, reason) and await _asks_at_the_end(site, facts.rater):
        return {"status": "questions", "part": "exit"}
    return await _end(site, facts, reason)


@quick.post("/api/hand-back")
async def hand_back(visit: RaterVisit, sent: messages.HandBack) -> messages.Reply:
    """Take a text back that the rater cannot judge, for somebody else to judge."""
    site = visit.site
    operation = partial(
        hand_backs.hand_back,
        lease=sent.assignment,
        rater=visit.rater,
        kind=sent.kind,
        reason=sent.reason,
        most=site.campaign.session.hand_backs,
        enough=visit_rules.HAND_BACKS_PER_TEXT,
        now=site.clock(),
    )
    await site.write(operation)
    return {"accepted": True}


@router.get("/work")
async def work(visit: RaterVisit) -> Response:
    """Show the page on which a rater judges."""
    return _work_page(visit.site, mode="work", csrf=visit.csrf)


@router.get("/preview")
async def preview(request: Request) -> Response:
    """Show the page without work, to those who have not accepted it yet."""
    site = site_of(request)
    if site.campaign.panel.kind != "external-question":
        raise RefusedError(404, phrase("no-preview"))
    return _work_page(site, mode="preview", csrf=None)


@router.get("/api/task")
async def task(visit: RaterVisit) -> dict[str, Any]:
    """Return the task as the page may know it."""
    return visit.site.campaign.task.public()


async def _asks_at_the_end(site: Site, rater: str) -> bool:
    if not site.campaign.exit_questions:
        return False
    is_open = partial(before_work.is_open, campaign=site.campaign, part="exit", rater=rater)
    return await site.read(is_open)


def _work_page(site: Site, *, mode: str, csrf: str | None) -> Response:
    task = site.campaign.task
    public = task.public()
    for question in public["tutorial"]["questions"] if public["tutorial"] else ():
        question.update(site.on_page(question["content"]))
    return site.page(
        "work.html",
        task=task,
        public=public,
        terms=site.terms,
        work_terms=site.work_terms,
        mode=mode,
        documents=site.campaign.documents is not None,
        csrf=csrf,
        notice=site.notice,
        questionnaires={
            part: [widget.public() for widget in before_work.asked(site.campaign, part)]
            for part in get_args(Part)
        },
    )


def _ended(site: Site, connection: Connection, facts: raters.Session) -> Reason | None:
    """Return why a rater gets nothing any more, however much there is."""
    if facts.excluded:
        return "excluded"
    if facts.revoked:
        return "revoked"
    is_all = has_visited_enough(connection, site.campaign, facts)
    return "rater-complete" if is_all else None


def _is_paid_end(facts: raters.Session, found: Any) -> bool:
    return isinstance(found, str) and found in PAID_ENDS and facts.done > 0


async def _ruled(site: Site) -> bool:
    """Apply the rules of quality now: a quick visit must not end before they are applied."""
    if site.live.has_rules:
        await tried(site, site.live.apply_rules())
    return site.live.has_rules


async def _end(site: Site, facts: raters.Session, reason: Reason) -> messages.Reply:
    """Return the end of a visit: why, in words, and the way back to where the rater came from."""

    def read(connection: Connection) -> Outcome:
        return visit_outcome(
            reason,
            judged=facts.done,
            handed_back=handed_back(connection, session=facts.id),
            decided=verdict(connection, rater=facts.rater, about="payment"),
        )

    way_back = _way_back(site, facts, await site.read(read))
    say = site.campaign.wording
    return {
        "status": "done",
        "reason": reason,
        "title": say(f"ended-title-{reason}"),
        "message": say(f"ended-{reason}"),
        "return": way_back,
    }


def _way_back(site: Site, facts: raters.Session, outcome: Outcome) -> messages.Reply | None:
    if facts.panel != site.campaign.panel.kind:
        # somebody invited to a campaign that a panel works for
        return None
    found = site.panel.way_back(facts.parameters, outcome=outcome)
    if found is None:
        return None
    return {
        "method": found.method,
        "url": found.url,
        "fields": found.fields,
        "label": site.campaign.wording.of(found.label),
    }


@router.get("/media/{name}")
async def file(visit: RaterVisit, name: _Name) -> FileResponse:
    """Return a file, or the part of it that is asked for."""
    return _sent(visit.site, name)


@router.get("/admin/media/{name}")
async def looked_at(admin: Viewer, name: _Name) -> FileResponse:
    """Return a file to somebody who looks at the answers."""
    return _sent(admin.site, name)


def _sent(site: Site, name: str) -> FileResponse:
    found = None if site.media is None else site.media.file(name)
    if found is None:
        raise RefusedError(404, phrase("no-page"))
    return FileResponse(found.path, media_type=found.media_type)
