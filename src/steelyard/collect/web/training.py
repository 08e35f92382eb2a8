"""The tutorial: before the first judgment, on the server, once for each version of a task."""

from fastapi import APIRouter
from sqlalchemy import Connection

from steelyard.collect.config.wording import phrase
from steelyard.collect.store import sessions, tutorials
from steelyard.collect.tasks.task import Task
from steelyard.collect.tasks.tutorial import Question, Tutorial, grade
from steelyard.collect.web import messages
from steelyard.collect.web.guards import RaterVisit, Visit, change
from steelyard.collect.web.refusals import RefusedError

__all__ = ["router", "tutorial_state"]

router = APIRouter()


def tutorial_state(
    connection: Connection, task: Task, facts: sessions.Session
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


@router.post("/api/tutorial", **change(404, 409))
async def answer(visit: RaterVisit, sent: messages.Question) -> messages.Reply:
    """Grade an answer to a question of the tutorial."""
    task = visit.site.campaign.task
    training = task.tutorial
    question = None if training is None else training.named.get(sent.question)
    if training is None or question is None:
        raise RefusedError(404, phrase("no-tutorial-question"))
    correct = grade(question, sent.answer)
    now = visit.site.clock()

    def record(connection: Connection) -> tutorials.Tutorial:
        _check_open(connection, visit, training, question)
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
            bonus=visit.site.tutorial_bonus,
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


def _check_open(
    connection: Connection, visit: Visit, training: Tutorial, question: Question
) -> None:
    """Refuse an answer to a question that is over: its feedback has told what was right."""
    version = visit.site.campaign.task.version
    found = tutorials.tutorial(connection, rater=visit.rater, version=version)
    tried = next((one for one in found.answered if one.question == question.id), None)
    if found.passed is not None or (tried is not None and tried.is_over(training.tries)):
        raise RefusedError(409, phrase("tutorial-answered"), code="already-answered")


def _answered(training: Tutorial, name: str, tried: tutorials.Attempted) -> messages.Reply:
    told = training.named[name].feedback if tried.is_over(training.tries) else None
    return {"id": name, "correct": tried.correct, "tries": tried.tries, "feedback": told}
