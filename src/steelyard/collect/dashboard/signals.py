"""Whether to stop, what it takes until the goal, when that will be, and how to say so."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.dashboard.knowledge import Knowledge
from steelyard.collect.money import micro, money_text
from steelyard.collect.policy.budget import is_spent
from steelyard.collect.store.settings import Settings

__all__ = ["Outlook", "money", "pace", "signal"]

_HOUR_MS = 3_600_000
# A rate over less than this would jump with every judgment.
_LEAST_SPAN_MS = 10 * 60_000


@dataclass(frozen=True)
class Outlook:
    """What is left to do.

    Attributes
    ----------
    known : Knowledge
        What is known now.
    lacking, planned : int
        Judgments of the draw that are not there yet, and all of them.
    drawn : int
        Outputs of each system in the draw.
    sharing : float
        Units over outputs of the draw: a text that several systems gave is judged once.
    """

    known: Knowledge
    lacking: int
    planned: int
    drawn: int
    sharing: float = 1.0

    @property
    def to_goal(self) -> int | None:
        """Judgments until the goal is reached; None if that cannot be told."""
        more = self.known.more_judgments
        return None if more is None else round(more * self.sharing)

    @property
    def left(self) -> int:
        """Judgments until the goal is reached, or until all of the draw is judged."""
        return self.lacking if self.to_goal is None else self.to_goal

    @property
    def needed(self) -> int:
        """Outputs of each system that the goal needs, if those of the draw are too few; else those."""
        beyond = (self.to_goal or 0) - self.lacking
        if beyond <= 0 or not self.planned:
            return self.drawn
        return ceil(self.drawn * (1 + beyond / self.planned))


def pace(
    times: Sequence[int], outlook: Outlook, *, now: int, is_open: bool = True
) -> dict[str, Any]:
    """Tell the rate of the last hour and the time at which the goal, or the draw, is done.

    Parameters
    ----------
    times : sequence of int
        When judgments arrived, in milliseconds.
    outlook : Outlook
        What is left to do.
    now : int
        Milliseconds.
    is_open : bool
        Whether work is given out; if not, no end can be expected.

    Returns
    -------
    dict
        ``per_hour``, ``left``, ``end`` (milliseconds or None), ``towards`` ("goal" or "draw") and
        ``reached``.
    """
    rate = None
    if times:
        span = min(_HOUR_MS, max(now - min(times), _LEAST_SPAN_MS))
        rate = sum(now - _HOUR_MS < time <= now for time in times) * _HOUR_MS / span
    left = outlook.left
    return {
        "per_hour": rate,
        "left": left,
        "end": now + round(left / rate * _HOUR_MS) if rate and left and is_open else None,
        "towards": "draw" if outlook.to_goal is None else "goal",
        "reached": outlook.known.reached,
    }


def money(
    campaign: Campaign, settings: Settings, *, spent: int, left: int
) -> dict[str, Any] | None:
    """Return what is spent and what is left to pay, or None if nobody is paid and there is no budget."""
    pay, budget = campaign.pay, settings.budget
    if not (pay.per_judgment or pay.tutorial_bonus or budget):
        return None
    price = micro(pay.per_judgment)
    return {
        "currency": pay.currency,
        "spent": money_text(spent),
        "budget": None if budget is None else money_text(budget),
        "budget_amount": None if budget is None else budget / 1_000_000,
        "share": None if not budget else spent / budget,
        "is_spent": is_spent(budget=budget, spent=spent, pay=price),
        "left": money_text(left * price) if price else None,
    }


def signal(
    campaign: Campaign, settings: Settings, outlook: Outlook, *, spent: int, judgments: int
) -> dict[str, str]:
    """Say stop or go on, and why.

    Returns
    -------
    dict
        ``kind`` ("stop", with all reached; "spent", without; "go" or "wait"), ``title`` and ``reason``.
    """
    known, goal = outlook.known, outlook.known.goal
    now = known.sentence
    if goal.given and not now and known.widest:
        now = f"The widest interval is {known.widest}."
    budget = settings.budget
    if known.reached:
        kind, title, reasons = _reached(settings, known)
    elif budget and is_spent(budget=budget, spent=spent, pay=micro(campaign.pay.per_judgment)):
        paid = f"{money_text(spent)} of {money_text(budget)} {campaign.pay.currency}"
        kind, title = "spent", "Stop: the budget is spent"
        reasons = [f"{paid} are owed to raters: no more work is given out.", now]
    elif judgments and not outlook.lacking:
        # not the end that was hoped for, if there is a goal
        kind, title = "spent" if goal.given else "stop", "Everything is judged"
        aim = f"The goal is ±{goal.half_width:g}." if now and goal.half_width else ""
        reasons = [
            "All drawn outputs are judged.",
            now,
            aim,
            "Add outputs to go on." if now else "",
        ]
    elif settings.state != "running":
        kind, title = "wait", settings.state.capitalize()
        reasons = ["No work is given out. What raters hold they can submit."]
    elif not goal.given:
        kind, title = "go", "Go on"
        reasons = ["No goal is set: collection ends when everything is judged."]
    elif not now:
        kind, title = "wait", "Waiting for judgments"
        reasons = ["The first interval comes with the first outputs."]
    else:
        short = _too_small(campaign, settings, outlook, spent=spent)
        kind, title = "go", "Go on" if not short else "Go on, and add outputs"
        if short and outlook.needed == outlook.drawn:
            title = "Go on, but the budget is too small"
        # what is known of a race stands below
        reasons = [
            now if goal.decide is None or known.waiting else "",
            *_way_ahead(outlook),
            *short,
        ]
    return {"kind": kind, "title": title, "reason": " ".join(filter(None, reasons))}


def _reached(settings: Settings, known: Knowledge) -> tuple[str, str, list[str]]:
    goal = known.goal
    what = "the race is decided" if goal.decide else "the goal is reached"
    width = ""
    if goal.half_width is not None:
        width = f"Every interval is within ±{goal.half_width:g}. The widest is {known.widest}."
    closed = f"The campaign is {settings.state}: no work is given out."
    return (
        "stop",
        f"You can stop: {what}",
        [
            known.sentence or width,
            "That holds however often you look, so stopping now is sound.",
            "" if settings.state == "running" else closed,
        ],
    )


def _way_ahead(outlook: Outlook) -> list[str]:
    """Return what is aimed at, and how many judgments that takes."""
    half_width, more = outlook.known.goal.half_width, outlook.to_goal
    aim = f"The goal is ±{half_width:g}." if half_width is not None else ""
    if more is None:
        return [aim, "How many more are needed cannot be told yet."]
    return [aim, f"About {more:,} more judgments are expected." if more else ""]


def _too_small(
    campaign: Campaign, settings: Settings, outlook: Outlook, *, spent: int
) -> list[str]:
    """Return what ends before the goal is reached: the draw, the budget, or nothing."""
    short = []
    if outlook.needed > outlook.drawn:
        short.append(
            f"The draw ends before: about {outlook.needed:,} outputs of each system are needed, and "
            f"{outlook.drawn:,} are drawn."
        )
    whole = spent + (outlook.to_goal or 0) * micro(campaign.pay.per_judgment)
    if settings.budget is not None and outlook.to_goal and whole > settings.budget:
        short.append(
            f"The budget ends before: about {money_text(whole)} {campaign.pay.currency} are needed in "
            f"all, of {money_text(settings.budget)}."
        )
    return short
