"""When a visit ends, how, and what the rater takes back to the panel for it."""

from typing import Literal

from sqlalchemy import Connection

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.integrations.panels import Outcome
from steelyard.collect.store.raters import Session, earlier_visits

__all__ = [
    "HAND_BACKS_PER_TEXT",
    "PAID_ENDS",
    "Reason",
    "has_visited_enough",
    "judgments_of_visit",
    "may_change_answer",
    "reason_to_end",
    "visit_outcome",
]

# Raters after whom a text that all of them handed back is given to nobody any more.
HAND_BACKS_PER_TEXT = 3

# ``none-left``: this rater has had all there is; ``wait``: others hold what is left and may yet let go
# of it; ``paused`` and ``stopped``: the campaign is; ``session-complete``: the visit has brought all that
# it was to bring; ``rater-complete``: the rater has judged as much as one person may; ``revoked``: the
# rater's invitation was withdrawn; ``excluded``: the rater's judgments do not count; ``enough``: the goal
# is reached or the budget is spent; the last three: the rater does not begin.
Reason = Literal[
    "none-left",
    "wait",
    "paused",
    "stopped",
    "session-complete",
    "rater-complete",
    "revoked",
    "excluded",
    "enough",
    "no-consent",
    "screened-out",
    "tutorial-failed",
]
# Endings at which work that was done is paid as it was promised.
PAID_ENDS = frozenset({"session-complete", "rater-complete", "none-left", "stopped", "enough"})
# Endings for which nobody is paid unless whoever runs the campaign says so.
_SCREENED_OUT = frozenset({"tutorial-failed", "excluded", "no-consent", "screened-out"})


def reason_to_end(
    *,
    excluded: bool,
    state: str,
    is_goal_met: bool,
    done: int,
    limit: int | None,
    is_within: bool = False,
) -> Reason | None:
    """Return why a visit gets no more work, however much there is; None if it may go on.

    Within a document a visit goes on to its end, also beyond `limit` judgments.
    """
    # An excluded rater's further judgments would be paid for and not used.
    if excluded:
        return "excluded"
    if state == "stopped":
        return "stopped"
    if state == "paused":
        # whoever waited for the end of this pause would wait in vain
        return "enough" if is_goal_met else "paused"
    is_complete = limit is not None and done >= limit and not is_within
    return "session-complete" if is_complete else None


def has_visited_enough(connection: Connection, campaign: Campaign, visit: Session) -> bool:
    """Whether a rater has judged as much as one person may, in this visit or in others.

    Visits may have been opened side by side, before any of them brought a judgment.
    """
    most, visits = campaign.session.judgments_per_rater, campaign.most_visits
    if most is not None and visit.total >= most:
        return True
    if not visit.total or visit.done or visits is None:
        return False
    key = {"rater": visit.rater, "panel_session": visit.panel_session}
    return earlier_visits(connection, **key) >= visits


def may_change_answer(campaign: Campaign, visit: Session, *, state: str) -> bool:
    """Whether the last answer of a visit may still be changed: until the visit has ended."""
    most = campaign.session.judgments_per_rater
    is_over = visit.excluded or visit.revoked or visit.finished or state != "running"
    return not is_over and (most is None or visit.total < most)


def judgments_of_visit(campaign: Campaign, visit: Session) -> int | None:
    """Return how many judgments a visit is to bring, if that is settled."""
    most = campaign.session.judgments_per_rater
    left = None if most is None else most - visit.total + visit.done
    declared = min((one for one in (visit.limit, left) if one is not None), default=None)
    # a visit goes on to the end of a document
    return None if declared is None else max(declared, visit.done)


def visit_outcome(
    reason: str, *, judged: int, handed_back: int, decided: str | None = None
) -> Outcome:
    """Return the outcome of a visit: pay follows judgments.

    A visit is complete that brought a judgment, and at least as many as texts were handed back. A
    decision about payment goes before what follows from the work.

    Parameters
    ----------
    reason : str
        Why it ended.
    judged, handed_back : int
        Texts of the visit.
    decided : {"pay", "refuse"}, optional
        What was decided about the rater's payment.

    Examples
    --------
    >>> visit_outcome("none-left", judged=0, handed_back=10)
    'screened-out'
    >>> visit_outcome("none-left", judged=8, handed_back=2)
    'complete'
    """
    if reason == "no-consent":
        return "no-consent"
    is_refused = decided == "refuse" or (reason in _SCREENED_OUT and decided != "pay")
    if is_refused:
        return "excluded" if judged else "screened-out"
    is_complete = judged > 0 and (judged >= handed_back or decided == "pay")
    return "complete" if is_complete else "screened-out"
