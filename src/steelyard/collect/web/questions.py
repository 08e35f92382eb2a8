"""Questions about raters: before the work, and at its end."""

from functools import partial

from fastapi import APIRouter
from sqlalchemy import Connection

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.config.questionnaires import Part, digest_of, is_passed
from steelyard.collect.config.wording import phrase
from steelyard.collect.store import rater_answers, sessions
from steelyard.collect.tasks.answers import check_answers
from steelyard.collect.tasks.widgets import Widget
from steelyard.collect.web import messages
from steelyard.collect.web.guards import RaterVisit, change
from steelyard.collect.web.refusals import RefusedError

__all__ = ["asked", "is_open", "is_screened_out", "router"]

router = APIRouter()


def asked(campaign: Campaign, part: Part) -> tuple[Widget, ...]:
    """Return the questions of a part; none if the campaign has none."""
    if part == "exit":
        return tuple(campaign.exit_questions)
    return tuple(one.ask for one in campaign.screening)


def is_open(connection: Connection, campaign: Campaign, part: Part, *, rater: str) -> bool:
    """Tell whether a rater has yet to answer the questions of a part."""
    if not asked(campaign, part):
        return False
    key = _digest(campaign, part)
    answered, _ = rater_answers.questions_answered(
        connection, rater=rater, part=part, questions=key
    )
    return not answered


def is_screened_out(
    connection: Connection, campaign: Campaign, facts: sessions.Session
) -> bool | None:
    """Tell whether a rater was screened out; None if the questions are yet to be answered.

    Questions that are declared after somebody has judged something are not put to that rater.
    """
    if not campaign.screening or facts.total:
        return False
    answered, passed = rater_answers.questions_answered(
        connection, rater=facts.rater, part="screening", questions=_digest(campaign, "screening")
    )
    return not passed if answered else None


@router.post("/api/questions", **change(404, 409))
async def answer(visit: RaterVisit, sent: messages.Questionnaire) -> messages.Consented:
    """Keep the answers to the questions before the work, or at its end."""
    site = visit.site
    widgets = asked(site.campaign, sent.part)
    if not widgets:
        raise RefusedError(404, phrase("no-questions"))
    problems = check_answers(widgets, {}, sent.answer)
    if problems:
        named = [(problem.widget, problem.message) for problem in problems]
        raise RefusedError(422, phrase("not-complete"), code="invalid-answer", problems=named)
    keep = partial(
        rater_answers.record_answers,
        rater=visit.rater,
        part=sent.part,
        questions=_digest(site.campaign, sent.part),
        answer=sent.answer,
        passed=is_passed(site.campaign.screening, sent.answer)
        if sent.part == "screening"
        else None,
        now=site.clock(),
    )
    await site.write(keep)
    return messages.Consented(agreed=True)


def _digest(campaign: Campaign, part: Part) -> str:
    if part == "exit":
        return digest_of(campaign.exit_questions)
    return digest_of(campaign.screening)
