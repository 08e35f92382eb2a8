"""Whether to stop, when the end may be expected, what is spent, and how to say so."""

from collections.abc import Sequence
from typing import Any

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.dashboard.outlook import Outlook
from steelyard.collect.money import micro, money_text
from steelyard.collect.policy.budget import is_spent
from steelyard.collect.store.settings import Settings

__all__ = ["money", "pace", "signal"]

_HOUR_MS = 3_600_000
# A rate over less than this would jump with every judgment.
_LEAST_SPAN_MS = 10 * 60_000
_NO_WORK = "no work is given out."


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
        ``per_hour``, ``end`` (milliseconds or None), ``towards`` ("goal" or "draw"), ``reached`` and
        ``note``.
    """
    recent = [time for time in times if now - _HOUR_MS < time <= now]
    rate = None
    if times:
        span = min(_HOUR_MS, max(now - min(times), _LEAST_SPAN_MS))
        rate = len(recent) * _HOUR_MS / span
    is_told = outlook.to_goal is not None
    left = outlook.to_goal if outlook.to_goal is not None else outlook.lacking
    note = None
    if outlook.needed > outlook.drawn:
        note = f"needs about {outlook.needed:,} outputs per system; {outlook.drawn:,} are drawn"
    return {
        "per_hour": rate,
        "left": left,
        "end": now + round(left / rate * _HOUR_MS) if rate and left and is_open else None,
        "towards": "goal" if is_told else "draw",
        "reached": outlook.reached,
        "note": note,
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
    goal, width = settings.half_width, outlook.widest
    has_goal = goal is not None or outlook.race is not None
    known = f" {outlook.sentence}" if outlook.race is not None else ""
    known = known or (f" The widest interval is {width}." if width else "")
    if outlook.reached and has_goal:
        return _reached(campaign, settings, outlook)
    pay = micro(campaign.pay.per_judgment)
    if settings.budget is not None and is_spent(budget=settings.budget, spent=spent, pay=pay):
        return _said(
            "spent",
            "Stop: the budget is spent",
            f"{money_text(spent)} of {money_text(settings.budget)} {campaign.pay.currency} are "
            f"owed to raters: no more work is given out.{known}",
        )
    if judgments and not outlook.lacking:
        missing = f" The goal is ±{goal:g}." if width and goal is not None else ""
        way = " Add outputs to go on." if known else ""
        reason = f"All drawn outputs are judged.{known}{missing}{way}"
        # not the end that was hoped for, if there is a goal
        return _said("spent" if has_goal else "stop", "Everything is judged", reason)
    if settings.state != "running":
        title = "Paused" if settings.state == "paused" else "Stopped"
        return _said("wait", title, "No work is given out. What raters hold they can submit.")
    if has_goal and not known:
        reason = "The first interval comes with the first outputs."
        return _said("wait", "Waiting for judgments", reason)
    title = "Go on, and add outputs" if outlook.needed > outlook.drawn else "Go on"
    return _said("go", title, _reason_to_go_on(campaign, goal, outlook))


def _reason_to_go_on(campaign: Campaign, goal: float | None, outlook: Outlook) -> str:
    more = "How many more are needed cannot be told yet."
    if outlook.to_goal:
        more = f"About {outlook.to_goal:,} more judgments are expected."
    if outlook.needed > outlook.drawn:
        more += (
            f" The draw ends before: about {outlook.needed:,} outputs of each system are needed, and "
            f"{outlook.drawn:,} are drawn."
        )
    if outlook.race is not None:
        return f"{outlook.sentence} {more}"
    if goal is None:
        return "No half-width is set as a goal: collection ends when everything is judged."
    aim = f"the goal is ±{goal:g} ({', '.join(campaign.goal_prompts)})"
    return f"The widest interval is {outlook.widest}; {aim}. {more}"


def _reached(campaign: Campaign, settings: Settings, outlook: Outlook) -> dict[str, str]:
    state = "" if settings.state == "running" else f" The campaign is {settings.state}: {_NO_WORK}"
    if outlook.race is not None:
        reason = f"{outlook.sentence} What is said here holds at all looks, so stopping now is sound.{state}"
        return _said("stop", "You can stop: the race is decided", reason)
    return _said(
        "stop",
        "You can stop: the goal is reached",
        f"Every interval for {', '.join(campaign.goal_prompts)} is within ±{settings.half_width:g}. "
        f"They hold at all times, so stopping now is sound. The widest is {outlook.widest}.{state}",
    )


def _said(kind: str, title: str, reason: str) -> dict[str, str]:
    return {"kind": kind, "title": title, "reason": reason}


def money(
    campaign: Campaign, settings: Settings, *, spent: int, left: int
) -> dict[str, Any] | None:
    """Return what is spent and what is left to pay, or None if nobody is paid and there is no budget."""
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
        "is_spent": is_spent(budget=budget, spent=spent, pay=micro(pay.per_judgment)),
        "left": money_text(left * micro(pay.per_judgment)) if pay.per_judgment else None,
    }
