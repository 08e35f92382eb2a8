"""Whether to stop, when the end may be expected, and how to say so."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from steelyard.collect.campaign import Campaign
from steelyard.collect.live.cells import Cells
from steelyard.collect.store.ledger import micro
from steelyard.collect.store.settings import Settings
from steelyard.study.monitoring import Monitored

__all__ = ["Outlook", "Paced", "money", "money_text", "pace", "signal"]

_HOUR_MS = 3_600_000
# A rate over less than this would jump with every judgment.
_LEAST_SPAN_MS = 10 * 60_000


@dataclass(frozen=True)
class Outlook:
    """What is left to do.

    Attributes
    ----------
    reached : bool
        Whether every interval that the goal speaks of is narrow enough.
    widest : Monitored or None
        The interval that is furthest from it.
    to_goal : int or None
        Judgments until it is reached, at the present rate; None if that cannot be told.
    outputs : int or None
        Outputs of each system that are needed for it.
    lacking : int
        Judgments of the draw that are not there yet.
    """

    reached: bool
    widest: Monitored | None
    to_goal: int | None
    outputs: int | None
    lacking: int

    @classmethod
    def of(cls, campaign: Campaign, cells: Cells, *, lacking: int, sharing: float) -> "Outlook":
        """Look ahead.

        Systems are judged side by side, in the order of their draws: until the last one has
        reached the goal the others are judged too.

        Parameters
        ----------
        campaign, cells
            The campaign and where its systems stand.
        lacking : int
            Judgments of the draw that are not there yet.
        sharing : float
            Units over outputs of the draw: a text that several systems gave is judged once.
        """
        if cells.goal.half_width is None:
            return cls(reached=False, widest=None, to_goal=None, outputs=None, lacking=lacking)
        known = [
            one.monitored
            for (prompt, _), one in cells.now.items()
            if prompt in campaign.goal_prompts and one.monitored is not None
        ]
        all_known = len(known) == len(campaign.goal_prompts) * len(cells.systems) > 0
        widest = max(known, key=lambda one: one.half_width, default=None)
        reached = all_known and all(one.stop for one in known)
        if reached:
            outputs = max(one.n for one in known)
            return cls(reached, widest, to_goal=0, outputs=outputs, lacking=lacking)
        needed = [_needed(one, cells.goal.each) for one in known]
        if not all_known or None in needed:
            return cls(reached, widest, None, None, lacking)
        outputs = max(one for one in needed if one is not None)
        judged = {one.system: one.n for one in known}
        more = sum(max(outputs - n, 0) for n in judged.values())
        return cls(reached, widest, round(more * sharing) * cells.goal.each, outputs, lacking)


def _needed(one: Monitored, each: int) -> int | None:
    return None if one.expected_more is None else one.n + -(-one.expected_more // each)


@dataclass(frozen=True)
class Paced:
    """How fast judgments come, and when the end may be expected."""

    per_hour: float | None
    end: int | None
    towards: Literal["goal", "draw"]
    reached: bool
    note: str | None


def pace(times: Sequence[int], outlook: Outlook, *, drawn: int, now: int) -> Paced:
    """Tell the rate of the last hour and the time at which the goal, or the draw, is done.

    Parameters
    ----------
    times : sequence of int
        When judgments arrived, in milliseconds.
    outlook : Outlook
        What is left to do.
    drawn : int
        Outputs of each system in the draw.
    now : int
        Milliseconds.
    """
    recent = [time for time in times if now - _HOUR_MS < time <= now]
    rate = None
    if times:
        span = min(_HOUR_MS, max(now - min(times), _LEAST_SPAN_MS))
        rate = len(recent) * _HOUR_MS / span
    towards: Literal["goal", "draw"] = "draw" if outlook.to_goal is None else "goal"
    left = outlook.lacking if outlook.to_goal is None else outlook.to_goal
    end = now + round(left / rate * _HOUR_MS) if rate and left else None
    note = None
    if left:
        what = "to the goal" if towards == "goal" else "until all is judged"
        note = f"{left:,} more judgments {what}"
    if outlook.outputs is not None and outlook.outputs > drawn:
        note = f"needs about {outlook.outputs:,} outputs a system; {drawn:,} are drawn"
    return Paced(rate, end, towards, outlook.reached, note)


def signal(
    campaign: Campaign, settings: Settings, outlook: Outlook, *, spent: int, judgments: int
) -> dict[str, str]:
    """Say stop or go on, and why.

    Returns
    -------
    dict
        ``kind`` ("stop", "go" or "wait"), ``title`` and ``reason``.
    """
    goal, widest = settings.half_width, outlook.widest
    width = "" if widest is None else _width(widest)
    if outlook.reached and goal is not None:
        return _said(
            "stop",
            "You can stop: the goal is reached",
            f"Every interval for {', '.join(campaign.goal_prompts)} is within ±{goal:g}. They hold at "
            f"all times, so stopping now is sound. The widest is {width}.",
        )
    price = micro(campaign.pay.per_judgment)
    if settings.budget is not None and spent + max(price, 1) > settings.budget:
        return _said(
            "stop",
            "Stop: the budget is spent",
            f"{money_text(spent)} of {money_text(settings.budget)} {campaign.pay.currency} are "
            f"owed to raters: no more work is given out.{' The widest interval is ' + width + '.' if width else ''}",
        )
    if judgments and not outlook.lacking:
        missing = f" The widest interval is {width}; the goal is ±{goal:g}." if width else ""
        way = " Add outputs to go on." if width else ""
        return _said("stop", "Everything is judged", f"All drawn outputs are judged.{missing}{way}")
    if settings.state != "running":
        title = "Paused" if settings.state == "paused" else "Stopped"
        return _said("wait", title, "No work is given out. What raters hold they can submit.")
    return _going_on(campaign, outlook, goal, width)


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
    more = (
        f"About {outlook.to_goal:,} more judgments are expected."
        if outlook.to_goal
        else "How many more are needed cannot be told yet."
    )
    return _said(
        "go", "Go on", f"The widest interval is {width}; the goal is ±{goal:g} ({names}). {more}"
    )


def _said(kind: str, title: str, reason: str) -> dict[str, str]:
    return {"kind": kind, "title": title, "reason": reason}


def _width(one: Monitored) -> str:
    return f"±{one.half_width:.3g} ({one.system}, {one.prompt})"


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
    campaign: Campaign, settings: Settings, *, spent: int, judgments: int
) -> dict[str, Any] | None:
    """Return what is spent, or None if nobody is paid and there is no budget."""
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
        "note": None
        if not judgments
        else f"{money_text(spent // judgments // 10_000 * 10_000)} a judgment, bonuses included",
    }
