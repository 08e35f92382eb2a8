"""Answers: drafts, submissions and changes of the last one, checked and scored before they are stored."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from fastapi import APIRouter
from sqlalchemy import Connection

from steelyard.collect.config.wording import phrase
from steelyard.collect.policy.exclusion import FEWEST
from steelyard.collect.policy.visit import may_change_answer
from steelyard.collect.store import leases, raters, settings, submissions
from steelyard.collect.store.shown import Scores, ShownContent
from steelyard.collect.tasks.answers import check_answer, derive_scores
from steelyard.collect.tasks.screen import asked_about, by_output
from steelyard.collect.web import messages
from steelyard.collect.web.guards import QuickRoute, RaterVisit, Visit
from steelyard.collect.web.refusals import RefusedError
from steelyard.collect.web.site import Site, tried

__all__ = ["router"]

router = APIRouter(route_class=QuickRoute)


async def about_of(site: Site, lease: str) -> ShownContent:
    """Return what a lease showed, and to whom."""
    known = site.memory.content(lease)
    return (
        known if known is not None else await site.read(partial(leases.lease_content, lease=lease))
    )


def scores_of(visit: Visit, about: ShownContent, answer: Mapping[str, Any]) -> Scores:
    """Return the judgments that an answer amounts to, or say all that is wrong with it."""
    if about.rater != visit.rater:
        raise RefusedError(403, phrase("another-rater"), code="not-yours")
    task = asked_about(visit.site.campaign.task, about.content)
    problems = check_answer(task, about.content, answer)
    if problems:
        named = [(problem.widget, problem.message) for problem in problems]
        raise RefusedError(422, phrase("not-complete"), code="invalid-answer", problems=named)
    scores = derive_scores(task, about.content, answer, swapped=about.swapped)
    return by_output(scores, about.order) if about.order else scores


@router.put("/api/draft")
async def save(visit: RaterVisit, sent: messages.Draft) -> messages.Reply:
    """Keep work in progress, and the assignment for longer."""
    site = visit.site
    now = site.clock()
    expires = await site.write(
        lambda connection: leases.save_draft(
            connection,
            lease=sent.assignment,
            rater=visit.rater,
            answer=sent.answer,
            active_ms=sent.active_ms,
            now=now,
            lease_ms=site.lease_ms,
            documents=site.campaign.documents is not None,
        )
    )
    return {"expires": expires}


@router.post("/api/submit")
async def submit(visit: RaterVisit, sent: messages.Submission) -> messages.Reply:
    """Store a complete answer; answered when it is durable, and the same if sent again."""
    site = visit.site
    now = site.clock()
    known = site.memory.content(sent.assignment)
    # an answer that cannot be accepted never reaches the writer
    scores = None if known is None else scores_of(visit, known, sent.answer)

    def store(connection: Connection) -> submissions.Accepted:
        derived = scores
        if derived is None:
            derived = scores_of(
                visit, leases.lease_content(connection, lease=sent.assignment), sent.answer
            )
        return submissions.submit(
            connection,
            lease=sent.assignment,
            rater=visit.rater,
            key=sent.key,
            answer=sent.answer,
            scores=derived,
            active_ms=sent.active_ms,
            now=now,
            pay=site.budget.pay,
        )

    stored = await site.write(store)
    if stored.done % FEWEST == 0 and not stored.repeated:
        await tried(site, site.live.apply_own_rules(visit.rater))
    about = await about_of(site, sent.assignment)
    return {
        "accepted": True,
        "repeated": stored.repeated,
        "done": stored.done,
        "earned": site.money(stored.earned),
        "feedback": site.feedback(about.content, sent.answer),
    }


@router.post("/api/last")
async def last(visit: RaterVisit, sent: messages.Nothing) -> messages.Reply:
    """Return the last answer of this visit, to be changed."""
    del sent
    found = await visit.site.read(partial(_last, visit=visit))
    about = await about_of(visit.site, found.lease)
    answer = json.loads(found.answer)
    _check_untold(visit, about.content, answer)
    given_again = {
        "id": found.lease,
        **visit.site.on_page(about.content),
        "draft": answer,
        "active_ms": found.active_ms,
        "expires": visit.site.clock() + visit.site.lease_ms,
    }
    return {"assignment": given_again}


@router.post("/api/correct")
async def correct(visit: RaterVisit, sent: messages.Submission) -> messages.Reply:
    """Put another answer in the place of the last one, which is kept beside it."""
    site = visit.site
    now = site.clock()
    about = await about_of(site, sent.assignment)
    scores = scores_of(visit, about, sent.answer)

    def change_it(connection: Connection) -> None:
        found = _last(connection, visit=visit)
        _check_untold(visit, about.content, json.loads(found.answer))
        submissions.correct(
            connection,
            lease=sent.assignment,
            rater=visit.rater,
            session=visit.session,
            key=sent.key,
            answer=sent.answer,
            scores=scores,
            active_ms=sent.active_ms,
            now=now,
        )

    await site.write(change_it)
    return {"accepted": True}


def _last(connection: Connection, *, visit: Visit) -> Any:
    """Return the last answer of a visit that has not ended."""
    facts = raters.session(connection, visit.session)
    found = settings.current(connection)
    state = "stopped" if found is None else found.state
    if not may_change_answer(visit.site.campaign, facts, state=state):
        raise RefusedError(409, phrase("no-last-answer"), code="conflict")
    return submissions.last_answer(connection, rater=visit.rater, session=visit.session)


def _check_untold(visit: Visit, content: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
    """Refuse to change the answer to a check of which the rater was told what was missed."""
    if visit.site.feedback(content, answer) is not None:
        raise RefusedError(409, phrase("no-last-answer"), code="conflict")
