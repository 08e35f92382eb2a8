"""How a visit ended, and what the rater takes back to the panel for it."""

from steelyard.collect.integrations.panels import Outcome

__all__ = ["HAND_BACKS_PER_TEXT", "visit_outcome"]

# Raters after whom a text that all of them handed back is given to nobody any more.
HAND_BACKS_PER_TEXT = 3

# Endings for which nobody is paid unless whoever runs the campaign says so.
_SCREENED_OUT = frozenset({"tutorial-failed", "excluded", "no-consent", "screened-out"})


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
