"""What comes before the work: the first page, questions about the rater, the tutorial; and leaving."""

import hashlib
from functools import partial
from typing import TypeAlias

from fastapi import APIRouter, Response
from sqlalchemy import Connection

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.config.questionnaires import Part, digest_of, is_passed
from steelyard.collect.config.wording import phrase
from steelyard.collect.policy.visit import Reason
from steelyard.collect.store import rater_answers, raters, settings, tutorials
from steelyard.collect.tasks.answers import check_answers
from steelyard.collect.tasks.task import Task
from steelyard.collect.tasks.tutorial import Tutorial, grade
from steelyard.collect.tasks.widgets import Widget
from steelyard.collect.web import messages
from steelyard.collect.web.guards import RATER_COOKIE, RaterVisit, set_cookie
from steelyard.collect.web.refusals import RefusedError
from steelyard.collect.web.site import Site

__all__ = ["asked", "first", "is_open", "router"]

# A page, or why there is nothing; None: work may begin.
First: TypeAlias = messages.Reply | Reason | None

router = APIRouter()


def _welcome(site: Site, connection: Connection, rater: str) -> First:
    """Return what a rater is told first; None if there is nothing, or the rater has agreed."""
    welcome = site.campaign.welcome
    if welcome is None:
        return None
    agreed = rater_answers.agreement(connection, rater=rater, words=_words(site))
    if agreed:
        return None
    if agreed is not None:
        return "no-consent"
    told = {"purpose": welcome.purpose, "consent": welcome.consent, "terms": site.terms}
    return {"status": "welcome", "welcome": told | {"agreed": None}}


@router.post("/api/consent")
async def consent(visit: RaterVisit, sent: messages.Consent) -> messages.Reply:
    """Keep whether a rater agrees to take part."""
    site = visit.site
    if site.campaign.welcome is None:
        raise RefusedError(404, phrase("no-consent-asked"))
    await site.write(
        partial(
            rater_answers.record_agreement,
            rater=visit.rater,
            words=_words(site),
            agreed=sent.agreed,
            now=site.clock(),
        )
    )
    return {"agreed": sent.agreed}


@router.post("/api/leave")
async def leave(visit: RaterVisit, sent: messages.Nothing, answer: Response) -> messages.Reply:
    """Forget who works in this browser; the link brings the rater back."""
    del sent
    site = visit.site
    value, seconds = "", 0
    if site.campaign.session.one_per_browser:
        # it lets nobody in, but shows that somebody has taken part here
        expires = site.expiry()
        value = site.keys.sign("left", visit.rater, expires=expires)
        seconds = (expires - site.clock()) // 1_000
    set_cookie(answer, site, RATER_COOKIE, value, seconds=seconds)
    return {"left": True}


@router.get("/api/notice")
async def notice(visit: RaterVisit) -> messages.Reply:
    """Return what whoever runs the campaign tells all raters."""
    return {"text": visit.site.notice}


def _words(site: Site) -> str:
    """Return a digest of what raters are told: other words ask anew."""
    welcome = site.campaign.welcome
    assert welcome is not None
    told = f"{welcome.purpose}\n{welcome.consent or ''}"
    return hashlib.sha256(told.encode()).hexdigest()


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
    connection: Connection, campaign: Campaign, facts: raters.Session
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


@router.post("/api/questions")
async def answer(visit: RaterVisit, sent: messages.Questionnaire) -> messages.Reply:
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
    return {"agreed": True}


def _digest(campaign: Campaign, part: Part) -> str:
    if part == "exit":
        return digest_of(campaign.exit_questions)
    return digest_of(campaign.screening)


def first(site: Site, connection: Connection, facts: raters.Session) -> First:
    """Return what comes first for a rater, or why nothing does; None if work may begin."""
    welcome = _welcome(site, connection, facts.rater)
    if welcome is not None:
        return welcome
    is_out = is_screened_out(connection, site.campaign, facts)
    if is_out:
        return "screened-out"
    if is_out is None:
        return _reason_to_wait(site, connection) or {"status": "questions", "part": "screening"}
    training = tutorial_state(connection, site.campaign.task, facts)
    if training is None:
        return None
    if training["passed"] is not None:
        return "tutorial-failed"
    waits = _reason_to_wait(site, connection, is_begun=bool(training["answered"]))
    return waits or {"status": "tutorial", "tutorial": training}


def _reason_to_wait(site: Site, connection: Connection, *, is_begun: bool = False) -> Reason | None:
    """Return why nobody should begin with anything before the work now."""
    found = settings.current(connection)
    assert found is not None
    if found.state != "running":
        return found.state
    if is_begun:
        return None
    has_tutorial = site.campaign.task.tutorial is not None
    allowed = site.budget.allowance(
        connection, budget=found.budget, now=site.clock(), tutorial=has_tutorial
    )
    return None if allowed.refusal is None else allowed.refusal


def tutorial_state(
    connection: Connection, task: Task, facts: raters.Session
) -> messages.Reply | None:
    """Return how far a rater is with the tutorial; None if there is none or it was passed."""
    if task.tutorial is None:
        return None
    found = tutorials.tutorial(connection, rater=facts.rater, version=task.version)
    if found.passed:
        return None
    return {
        "version": task.version,
        "questions": len(task.tutorial.questions),
        "answered": [
            _answered(task.tutorial, name, one)
            for one in found.answered
            if (name := task.tutorial.name_of(one.question)) is not None
        ],
        "passed": found.passed,
    }


@router.post("/api/tutorial")
async def answer_question(visit: RaterVisit, sent: messages.Question) -> messages.Reply:
    """Grade an answer to a question of the tutorial."""
    task = visit.site.campaign.task
    training = task.tutorial
    question = None if training is None else training.named.get(sent.question)
    if training is None or question is None:
        raise RefusedError(404, phrase("no-tutorial-question"))
    correct = grade(question, sent.answer)
    now = visit.site.clock()

    def record(connection: Connection) -> tutorials.Tutorial:
        return tutorials.record_tutorial_answer(
            connection,
            rater=visit.rater,
            version=task.version,
            question=question.id,
            answer=sent.answer,
            correct=correct,
            questions=[one.id for one in training.questions],
            pass_mark=training.pass_mark,
            tries=training.tries,
            bonus=visit.site.budget.bonus,
            now=now,
        )

    found = await visit.site.write(record)
    tries = next(one.tries for one in found.answered if one.question == question.id)
    left = 0 if correct else training.tries - tries
    over = left == 0
    return {
        "correct": correct,
        "tries_left": left,
        "hint": None if over else question.hint,
        "feedback": question.feedback if over else None,
        "passed": found.passed,
    }


def _answered(training: Tutorial, name: str, tried: tutorials.Attempted) -> messages.Reply:
    told = training.named[name].feedback if tried.is_over(training.tries) else None
    return {"id": name, "correct": tried.correct, "tries": tried.tries, "feedback": told}
