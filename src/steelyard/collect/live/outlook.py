"""What is left to do until the goal is reached."""

from dataclasses import dataclass

from steelyard.collect.campaign import Campaign
from steelyard.collect.live.cells import Cells
from steelyard.study.monitoring import Monitored

__all__ = ["Outlook"]


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
