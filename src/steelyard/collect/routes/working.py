"""The rater's page and its API: what is next, drafts, submissions."""

from collections.abc import Awaitable
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy import Connection
from starlette.responses import HTMLResponse, Response

from steelyard.collect.quality import FEWEST
from steelyard.collect.routes import messages
from steelyard.collect.routes.ending import ended
from steelyard.collect.routes.guards import RaterVisit, Visit, change
from steelyard.collect.routes.refusals import RefusedError, page_refusals, refusals
from steelyard.collect.routes.site import Site, site_of
from steelyard.collect.routes.training import tutorial_state
from steelyard.collect.routes.welcoming import welcome_state
from steelyard.collect.store import assignment, reports, sessions, settings, submissions
from steelyard.collect.store.given import Given, given
from steelyard.collect.tasks.answers import Problem, check_answer, derive_scores
from steelyard.collect.wording import phrase
from steelyard.errors import SteelyardError

__all__ = ["router"]

# routes are tried in this order: what raters ask for all the time comes first
router = APIRouter()

_WAIT_SECONDS = 5
_PAID_ENDS = frozenset({"session-complete", "rater-complete", "none-left", "stopped", "enough"})


@router.post("/api/next", **change(409))
async def next_assignment(visit: RaterVisit, sent: messages.Nothing) -> messages.Next:
    """Give the rater something to judge, the same again until it is submitted."""
    del sent
    site = visit.site
    now = site.clock()

    def give(connection: Connection) -> tuple[sessions.Session, Any]:
        facts = sessions.session(connection, visit.session)
        ended = _ended(site, facts)
        if ended is not None:
            return facts, ended
        welcome = welcome_state(site, connection, visit.rater)
        if welcome is not None:
            return facts, welcome
        training = tutorial_state(connection, site.campaign.task, facts)
        if training is not None:
            return facts, _reason_to_wait(site, connection, training) or training
        return facts, assignment.next_lease(
            connection,
            session=visit.session,
            rater=visit.rater,
            now=now,
            lease_ms=site.lease_ms,
            purse=site.purse,
        )

    facts, found = await site.write(give)
    if _is_paid_end(facts, found) and await _ruled(site):
        facts, found = await site.write(give)
    if isinstance(found, messages.TutorialState | messages.Welcome):
        return await _before_work(site, facts, found)
    if isinstance(found, assignment.Nothing):
        if found.reason == "wait":
            return messages.NextWait(retry_seconds=_WAIT_SECONDS)
        if found.reason == "paused":
            return messages.NextPaused()
        return await ended(site, facts, found.reason)
    site.memory.keep(found.id, Given(visit.rater, found.content, found.swapped))
    return messages.NextTask(
        assignment=messages.Assignment(
            id=found.id,
            content=found.content,
            draft=found.draft,
            active_ms=found.active_ms,
            expires=found.expires,
        ),
        progress=messages.Progress(
            done=facts.done, of=_of(site, facts), earned=site.money(facts.earned)
        ),
    )


async def _before_work(
    site: Site, facts: sessions.Session, found: messages.TutorialState | messages.Welcome
) -> messages.Next:
    """Return the first page or the tutorial, or the end if the rater did not agree or pass."""
    if isinstance(found, messages.Welcome):
        if found.agreed is None:
            return messages.NextWelcome(welcome=found)
        return await ended(site, facts, "no-consent")
    if found.passed is None:
        return messages.NextTutorial(tutorial=found)
    return await ended(site, facts, "tutorial-failed")


@router.put("/api/draft", **change(409))
async def save(visit: RaterVisit, sent: messages.Draft) -> messages.Renewed:
    """Keep work in progress, and the assignment for longer."""
    site = visit.site
    now = site.clock()
    kept = await site.write(
        lambda connection: assignment.save_draft(
            connection,
            lease=sent.assignment,
            rater=visit.rater,
            answer=sent.answer,
            active_ms=sent.active_ms,
            now=now,
            lease_ms=site.lease_ms,
        )
    )
    return messages.Renewed(expires=kept.expires)


@router.post("/api/submit", **change(409))
async def submit(visit: RaterVisit, sent: messages.Submission) -> messages.Submitted:
    """Store a complete answer; answered when it is durable, and the same if sent again."""
    site = visit.site
    now = site.clock()
    known = site.memory.given(sent.assignment)
    # an answer that cannot be accepted never reaches the writer
    scores = None if known is None else _scores(visit, known, sent.answer)

    def store(connection: Connection) -> submissions.Accepted:
        derived = scores
        if derived is None:
            derived = _scores(visit, given(connection, lease=sent.assignment), sent.answer)
        return submissions.submit(
            connection,
            lease=sent.assignment,
            rater=visit.rater,
            key=sent.key,
            answer=sent.answer,
            scores=derived,
            active_ms=sent.active_ms,
            now=now,
            pay=site.pay_per_judgment,
        )

    stored = await site.write(store)
    if stored.done % FEWEST == 0 and not stored.repeated:
        await _tried(site, site.live.apply_own_rules(visit.rater))
    about = await _about(site, sent.assignment)
    return messages.Submitted(
        repeated=stored.repeated,
        done=stored.done,
        earned=site.money(stored.earned),
        feedback=site.checks.feedback(about.content, sent.answer),
    )


@router.post("/api/hand-back", **change(409))
async def hand_back(visit: RaterVisit, sent: messages.HandBack) -> messages.HandedBack:
    """Take a text back that the rater cannot judge, for somebody else to judge."""
    site = visit.site
    operation = partial(
        reports.hand_back,
        lease=sent.assignment,
        rater=visit.rater,
        kind=sent.kind,
        reason=sent.reason,
        most=site.campaign.session.hand_backs,
        now=site.clock(),
    )
    await site.write(operation)
    return messages.HandedBack()


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


def _reason_to_wait(
    site: Site, connection: Connection, training: messages.TutorialState
) -> assignment.Nothing | None:
    """Return why nobody should begin the tutorial now."""
    if training.passed is not None:
        return None
    found = settings.current(connection)
    assert found is not None
    if found.state != "running":
        return assignment.Nothing(found.state)
    if training.answered:
        return None
    unpaid = site.purse.refusal(connection, budget=found.budget, now=site.clock(), tutorial=True)
    return None if unpaid is None else assignment.Nothing(unpaid)


def _scores(visit: Visit, about: Given, answer: dict[str, Any]) -> dict[str, float]:
    """Return the judgments that an answer amounts to, or say all that is wrong with it."""
    if about.rater != visit.rater:
        raise RefusedError(403, phrase("another-rater"), code="not-yours")
    task = visit.site.campaign.task
    problems = check_answer(task, about.content, answer)
    if problems:
        raise RefusedError(
            422, phrase("not-complete"), code="invalid-answer", problems=_named(problems)
        )
    return derive_scores(task, about.content, answer, swapped=about.swapped)


async def _about(site: Site, lease: str) -> Given:
    known = site.memory.given(lease)
    return known if known is not None else await site.read(partial(given, lease=lease))


def _named(problems: list[Problem]) -> list[tuple[str | None, str]]:
    return [(problem.widget, problem.message) for problem in problems]


def _work_page(site: Site, *, mode: str, csrf: str | None) -> Response:
    task = site.campaign.task
    return site.page(
        "work.html",
        task=task,
        public=task.public(),
        terms=site.terms,
        mode=mode,
        csrf=csrf,
        notice=site.notice.text,
    )


def _ended(site: Site, facts: sessions.Session) -> assignment.Nothing | None:
    """Return why a rater gets nothing any more, however much there is."""
    if facts.excluded:
        return assignment.Nothing("excluded")
    if facts.revoked:
        return assignment.Nothing("revoked")
    most = site.campaign.session.judgments_per_rater
    is_all = most is not None and facts.total >= most
    return assignment.Nothing("rater-complete") if is_all else None


def _of(site: Site, facts: sessions.Session) -> int | None:
    """Return how many judgments this visit is to bring, if that is settled."""
    most = site.campaign.session.judgments_per_rater
    left = None if most is None else most - facts.total + facts.done
    return min((one for one in (facts.limit, left) if one is not None), default=None)


def _is_paid_end(facts: sessions.Session, found: Any) -> bool:
    return isinstance(found, assignment.Nothing) and found.reason in _PAID_ENDS and facts.done > 0


async def _ruled(site: Site) -> bool:
    """Apply the rules of quality now: a quick visit must not end before they are applied."""
    if site.live.has_rules:
        await _tried(site, site.live.apply_rules())
    return site.live.has_rules


async def _tried(site: Site, applied: Awaitable[None]) -> None:
    try:
        await applied
    except SteelyardError as error:
        # no fault of the rater's
        site.log.warning("the rules of quality were not applied: %s", error)
