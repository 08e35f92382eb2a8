"""The rater's page and its API: what is next, drafts, submissions."""

from functools import partial
from typing import Any, get_args

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from sqlalchemy import Connection
from starlette.responses import HTMLResponse, Response

from steelyard.collect.config.questionnaires import Part
from steelyard.collect.config.wording import phrase
from steelyard.collect.policy import visit as visit_rules
from steelyard.collect.policy.visit import PAID_ENDS, has_visited_enough, judgments_of_visit
from steelyard.collect.store import hand_backs, leases, sessions
from steelyard.collect.web import answering, before_work, messages
from steelyard.collect.web.answering import save, submit
from steelyard.collect.web.ending import ended
from steelyard.collect.web.guards import RaterVisit, change
from steelyard.collect.web.refusals import RefusedError, page_refusals, refusals
from steelyard.collect.web.site import Site, site_of, tried

__all__ = ["frequent", "router"]

# routes are tried in this order: what raters ask for all the time comes first
router = APIRouter()
router.include_router(answering.router)
router.include_router(before_work.router)

_WAIT_SECONDS = 5


@router.post("/api/next", **change(409))
async def next_assignment(visit: RaterVisit, sent: messages.Nothing) -> messages.Reply:
    """Give the rater something to judge, the same again until it is submitted."""
    del sent
    site = visit.site
    now = site.clock()

    def give(connection: Connection) -> tuple[sessions.Session, Any]:
        facts = sessions.session(connection, visit.session)
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
        if isinstance(found, leases.Nothing):
            # who handed a text back first may have judged enough by now to be heard
            hand_backs.set_aside_due(
                connection, rater=visit.rater, enough=visit_rules.HAND_BACKS_PER_TEXT, now=now
            )
        return facts, found

    facts, found = await site.write(give)
    if _is_paid_end(facts, found) and await _ruled(site):
        facts, found = await site.write(give)
    if isinstance(found, leases.Nothing):
        return await _nothing(site, facts, found)
    if not isinstance(found, leases.Lease):
        return dict(found)
    site.memory.keep(found.id, found.shown)
    return {
        "status": "task",
        "assignment": {
            "id": found.id,
            **site.on_page(found.content),
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


async def _nothing(site: Site, facts: sessions.Session, found: leases.Nothing) -> messages.Reply:
    """Return why there is nothing to judge; before the end of paid work come its questions."""
    if found.reason == "wait":
        return {"status": "wait", "retry_seconds": _WAIT_SECONDS}
    if found.reason == "paused":
        return {"status": "paused"}
    if _is_paid_end(facts, found) and await _asks_at_the_end(site, facts.rater):
        return {"status": "questions", "part": "exit"}
    return await ended(site, facts, found.reason)


def frequent() -> list[APIRoute]:
    """Return the routes that raters use with every judgment."""
    often = (next_assignment, save, submit)
    return [one for one in router.routes if isinstance(one, APIRoute) and one.endpoint in often]


@router.post("/api/hand-back", **change(409))
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


@router.get("/work", response_class=HTMLResponse, responses=page_refusals(401, 429))
async def work(visit: RaterVisit) -> Response:
    """Show the page on which a rater judges."""
    return _work_page(visit.site, mode="work", csrf=visit.csrf)


@router.get("/preview", response_class=HTMLResponse, responses=page_refusals(404))
async def preview(request: Request) -> Response:
    """Show the page without work, to those who have not accepted it yet."""
    site = site_of(request)
    if site.campaign.panel.kind != "external-question":
        raise RefusedError(404, phrase("no-preview"))
    return _work_page(site, mode="preview", csrf=None)


@router.get("/api/task", responses=refusals(401, 429))
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
        notice=site.notice.text,
        questionnaires={
            part: [widget.public() for widget in before_work.asked(site.campaign, part)]
            for part in get_args(Part)
        },
    )


def _ended(site: Site, connection: Connection, facts: sessions.Session) -> leases.Nothing | None:
    """Return why a rater gets nothing any more, however much there is."""
    if facts.excluded:
        return leases.Nothing("excluded")
    if facts.revoked:
        return leases.Nothing("revoked")
    is_all = has_visited_enough(connection, site.campaign, facts)
    return leases.Nothing("rater-complete") if is_all else None


def _is_paid_end(facts: sessions.Session, found: Any) -> bool:
    return isinstance(found, leases.Nothing) and found.reason in PAID_ENDS and facts.done > 0


async def _ruled(site: Site) -> bool:
    """Apply the rules of quality now: a quick visit must not end before they are applied."""
    if site.live.has_rules:
        await tried(site, site.live.apply_rules())
    return site.live.has_rules
