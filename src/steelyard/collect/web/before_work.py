"""What comes before the work: the first page, questions, the tutorial."""

from typing import TypeAlias

from sqlalchemy import Connection

from steelyard.collect.store import leases, sessions, settings
from steelyard.collect.web import messages
from steelyard.collect.web.ending import ended
from steelyard.collect.web.questions import is_screened_out
from steelyard.collect.web.site import Site
from steelyard.collect.web.training import tutorial_state
from steelyard.collect.web.welcoming import welcome_state

__all__ = ["First", "first", "told"]

First: TypeAlias = messages.Welcome | messages.NextQuestions | messages.TutorialState | str


def first(
    site: Site, connection: Connection, facts: sessions.Session
) -> First | leases.Nothing | None:
    """Return what comes first for a rater, or why nothing does now; None if work may begin."""
    welcome = welcome_state(site, connection, facts.rater)
    if welcome is not None:
        return welcome
    is_out = is_screened_out(connection, site.campaign, facts)
    if is_out:
        return "screened-out"
    if is_out is None:
        return _reason_to_wait(site, connection) or messages.NextQuestions(part="screening")
    training = tutorial_state(connection, site.campaign.task, facts)
    if training is None:
        return None
    return _not_yet(site, connection, training) or training


async def told(site: Site, facts: sessions.Session, found: First) -> messages.Next:
    """Return the page that comes first, or the end for who did not agree, fit or pass."""
    if isinstance(found, messages.NextQuestions):
        return found
    if isinstance(found, messages.Welcome):
        if found.agreed is None:
            return messages.NextWelcome(welcome=found)
        return await ended(site, facts, "no-consent")
    if isinstance(found, messages.TutorialState):
        if found.passed is None:
            return messages.NextTutorial(tutorial=found)
        return await ended(site, facts, "tutorial-failed")
    return await ended(site, facts, found)


def _not_yet(
    site: Site, connection: Connection, training: messages.TutorialState
) -> leases.Nothing | None:
    """Return why nobody should begin the tutorial now."""
    if training.passed is not None:
        return None
    return _reason_to_wait(site, connection, is_begun=bool(training.answered))


def _reason_to_wait(
    site: Site, connection: Connection, *, is_begun: bool = False
) -> leases.Nothing | None:
    """Return why nobody should begin with anything before the work now."""
    found = settings.current(connection)
    assert found is not None
    if found.state != "running":
        return leases.Nothing(found.state)
    if is_begun:
        return None
    has_tutorial = site.campaign.task.tutorial is not None
    allowed = site.budget.allowance(
        connection, budget=found.budget, now=site.clock(), tutorial=has_tutorial
    )
    return None if allowed.refusal is None else leases.Nothing(allowed.refusal)
