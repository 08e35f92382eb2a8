"""Whether to stop, when the end may be expected, and how to say so."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.dashboard.outlook import Outlook
from steelyard.collect.dashboard.racing import LiveRaces
from steelyard.collect.store.ledger import micro
from steelyard.collect.store.settings import Settings

__all__ = ["Outlook", "Paced", "is_spent", "money", "money_text", "pace", "signal"]

_HOUR_MS = 3_600_000
# A rate over less than this would jump with every judgment.
_LEAST_SPAN_MS = 10 * 60_000
_NO_WORK = "no work is given out."


@dataclass(frozen=True)
class Paced:
    """How fast judgments come, how many are left, and when the end may be expected."""

    per_hour: float | None
    left: int
    end: int | None
    towards: Literal["goal", "draw"]
    reached: bool
    note: str | None


def pace(times: Sequence[int], outlook: Outlook, *, now: int, is_open: bool = True) -> Paced:
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
    """
    recent = [time for time in times if now - _HOUR_MS < time <= now]
    rate = None
    if times:
        span = min(_HOUR_MS, max(now - min(times), _LEAST_SPAN_MS))
        rate = len(recent) * _HOUR_MS / span
    towards: Literal["goal", "draw"] = "draw" if outlook.to_goal is None else "goal"
    left = outlook.lacking if outlook.to_goal is None else outlook.to_goal
    end = now + round(left / rate * _HOUR_MS) if rate and left and is_open else None
    note = None
    if outlook.needed > outlook.drawn:
        note = f"needs about {outlook.needed:,} outputs per system; {outlook.drawn:,} are drawn"
    return Paced(rate, left, end, towards, outlook.reached, note)


def signal(
    campaign: Campaign,
    settings: Settings,
    outlook: Outlook,
    *,
    spent: int,
    judgments: int,
    races: LiveRaces | None = None,
) -> dict[str, str]:
    """Say stop or go on, and why; with a race in place of a half-width, if there is one.

    Returns
    -------
    dict
        ``kind`` ("stop", with all reached; "spent", without; "go" or "wait"), ``title`` and ``reason``.
    """
    goal, width = settings.half_width, outlook.widest
    if outlook.reached and (goal is not None or races is not None):
        return _reached(campaign, settings, width, races)
    if settings.budget is not None and is_spent(campaign, settings, spent=spent):
        return _said(
            "spent",
            "Stop: the budget is spent",
            f"{money_text(spent)} of {money_text(settings.budget)} {campaign.pay.currency} are "
            f"owed to raters: no more work is given out.{_known(width, races)}",
        )
    if judgments and not outlook.lacking:
        missing = f" The goal is ±{goal:g}." if width and goal is not None else ""
        way = " Add outputs to go on." if width or races is not None else ""
        reason = f"All drawn outputs are judged.{_known(width, races)}{missing}{way}"
        # not the end that was hoped for, if there is a goal
        kind = "spent" if goal is not None or races is not None else "stop"
        return _said(kind, "Everything is judged", reason)
    if settings.state != "running":
        title = "Paused" if settings.state == "paused" else "Stopped"
        return _said(
            "wait", title, f"{_NO_WORK[:1].upper()}{_NO_WORK[1:]} What raters hold they can submit."
        )
    if races is not None:
        return _said("go", _go_on(outlook), f"{races.sentence} {_more(outlook)}")
    return _going_on(campaign, outlook, goal, width)


def is_spent(campaign: Campaign, settings: Settings, *, spent: int) -> bool:
    """Whether the budget pays for no further judgment, so that no work is given out."""
    price = micro(campaign.pay.per_judgment)
    return settings.budget is not None and spent + max(price, 1) > settings.budget


def _reached(
    campaign: Campaign, settings: Settings, width: str, races: LiveRaces | None
) -> dict[str, str]:
    goal = settings.half_width
    state = "" if settings.state == "running" else f" The campaign is {settings.state}: {_NO_WORK}"
    if races is not None:
        reason = f"{races.sentence} What is said here holds at all looks, so stopping now is sound.{state}"
        return _said("stop", "You can stop: the race is decided", reason)
    return _said(
        "stop",
        "You can stop: the goal is reached",
        f"Every interval for {', '.join(campaign.goal_prompts)} is within ±{goal:g}. They hold at "
        f"all times, so stopping now is sound. The widest is {width}.{state}",
    )


def _known(width: str, races: LiveRaces | None) -> str:
    if races is not None:
        return f" {races.sentence}"
    return f" The widest interval is {width}." if width else ""


def _going_on(
    campaign: Campaign, outlook: Outlook, goal: float | None, width: str
) -> dict[str, str]:
    if goal is None:
        return _said(
            "go",
            "Go on",
            "No half-width is set as a goal: collection ends when everything is judged.",
        )
    if not width:
        return _said(
            "wait", "Waiting for judgments", "The first interval comes with the first outputs."
        )
    names = ", ".join(campaign.goal_prompts)
    reason = f"The widest interval is {width}; the goal is ±{goal:g} ({names}). {_more(outlook)}"
    return _said("go", _go_on(outlook), reason)


def _go_on(outlook: Outlook) -> str:
    return "Go on, and add outputs" if outlook.needed > outlook.drawn else "Go on"


def _more(outlook: Outlook) -> str:
    if outlook.to_goal:
        more = f"About {outlook.to_goal:,} more judgments are expected."
        if outlook.needed > outlook.drawn:
            more += (
                f" The draw ends before: about {outlook.needed:,} outputs of each system are needed, and "
                f"{outlook.drawn:,} are drawn."
            )
        return more
    return "How many more are needed cannot be told yet."


def _said(kind: str, title: str, reason: str) -> dict[str, str]:
    return {"kind": kind, "title": title, "reason": reason}


def money_text(amount: int) -> str:
    """Write an amount in millionths of the currency.

    Examples
    --------
    >>> money_text(1_250_000), money_text(1_005_500)
    ('1.25', '1.0055')
    """
    whole, part = divmod(amount, 1_000_000)
    return f"{whole:,}.{f'{part:06d}'.rstrip('0'):0<2}"


def money(
    campaign: Campaign, settings: Settings, *, spent: int, left: int
) -> dict[str, Any] | None:
    """Return what is spent and what the judgments that are left cost, or None if nobody is paid and there is no budget."""
    pay = campaign.pay
    if not (pay.per_judgment or pay.tutorial_bonus or settings.budget):
        return None
    budget = settings.budget
    return {
        "currency": pay.currency,
        "spent": money_text(spent),
        "budget": None if budget is None else money_text(budget),
        "budget_amount": None if budget is None else budget / 1_000_000,
        "share": None if not budget else spent / budget,
        "left": money_text(left * micro(pay.per_judgment)) if pay.per_judgment else None,
        "is_spent": is_spent(campaign, settings, spent=spent),
    }
