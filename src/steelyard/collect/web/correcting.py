"""Changing one's last answer, until the visit has ended."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from fastapi import APIRouter
from sqlalchemy import Connection

from steelyard.collect.config.wording import phrase
from steelyard.collect.policy.visit import may_change_answer
from steelyard.collect.store import sessions, settings, submissions
from steelyard.collect.web import messages
from steelyard.collect.web.answered import about_of, scores_of
from steelyard.collect.web.guards import RaterVisit, Visit, change
from steelyard.collect.web.refusals import RefusedError

__all__ = ["router"]

router = APIRouter()


@router.post("/api/last", **change(409))
async def last(visit: RaterVisit, sent: messages.Nothing) -> messages.LastAnswer:
    """Return the last answer of this visit, to be changed."""
    del sent
    found = await visit.site.read(partial(_last, visit=visit))
    about = await about_of(visit.site, found.lease)
    _check_untold(visit, about.content, found.answer)
    return messages.LastAnswer(
        assignment=messages.Assignment(
            id=found.lease,
            **visit.site.on_page(about.content),
            draft=dict(found.answer),
            active_ms=found.active_ms,
            expires=visit.site.clock() + visit.site.lease_ms,
        )
    )


@router.post("/api/correct", **change(409))
async def correct(visit: RaterVisit, sent: messages.Submission) -> messages.Corrected:
    """Put another answer in the place of the last one, which is kept beside it."""
    site = visit.site
    now = site.clock()
    about = await about_of(site, sent.assignment)
    scores = scores_of(visit, about, sent.answer)

    def change_it(connection: Connection) -> None:
        found = _last(connection, visit=visit)
        _check_untold(visit, about.content, found.answer)
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
    return messages.Corrected()


def _last(connection: Connection, *, visit: Visit) -> submissions.LastAnswer:
    """Return the last answer of a visit that has not ended."""
    facts = sessions.session(connection, visit.session)
    found = settings.current(connection)
    state = "stopped" if found is None else found.state
    if not may_change_answer(visit.site.campaign, facts, state=state):
        raise RefusedError(409, phrase("no-last-answer"), code="conflict")
    return submissions.last_answer(connection, rater=visit.rater, session=visit.session)


def _check_untold(visit: Visit, content: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
    """Refuse to change the answer to a check of which the rater was told what was missed."""
    if visit.site.checks.feedback(content, answer) is not None:
        raise RefusedError(409, phrase("no-last-answer"), code="conflict")
