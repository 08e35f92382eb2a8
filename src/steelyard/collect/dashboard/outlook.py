"""What is left to do until the goal is reached."""

from dataclasses import dataclass, replace
from math import ceil

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.dashboard.prompt_estimates import Cells

__all__ = ["Outlook"]


@dataclass(frozen=True)
class Outlook:
    """What is left to do.

    Attributes
    ----------
    reached : bool
        Whether the goal is reached under all of its prompts.
    widest : str
        Of a goal that is a half-width: the interval that is furthest from it, in words.
    to_goal : int or None
        Judgments until it is reached, at the present rate; None if that cannot be told.
    lacking, planned : int
        Judgments of the draw that are not there yet, and all of them.
    drawn : int
        Outputs of each system in the draw.
    """

    reached: bool
    widest: str
    to_goal: int | None
    lacking: int
    drawn: int
    planned: int

    @property
    def needed(self) -> int:
        """Outputs of each system that the goal needs, if those of the draw are too few; else those."""
        beyond = (self.to_goal or 0) - self.lacking
        if beyond <= 0 or not self.planned:
            return self.drawn
        return ceil(self.drawn * (1 + beyond / self.planned))

    @classmethod
    def of(
        cls,
        campaign: Campaign,
        cells: Cells,
        *,
        lacking: int,
        drawn: int,
        planned: int,
        sharing: float,
    ) -> "Outlook":
        """Look ahead: an output is judged for all prompts at once.

        Parameters
        ----------
        campaign, cells
            The campaign and where its systems stand.
        lacking, planned : int
            Judgments of the draw that are not there yet, and all of them.
        drawn : int
            Outputs of each system in the draw.
        sharing : float
            Units over outputs of the draw: a text that several systems gave is judged once.
        """
        nothing = cls(
            reached=False, widest="", to_goal=None, lacking=lacking, drawn=drawn, planned=planned
        )
        if not cells.goal.given:
            return nothing
        known = [
            (prompt, one)
            for prompt in campaign.goal_prompts
            if prompt in cells.now
            for one in cells.now[prompt].systems.values()
        ]
        widths = [(one.half_width, prompt, one) for prompt, one in known if one.half_width]
        widest = ""
        if widths and cells.goal.half_width is not None:
            half, prompt, one = max(widths, key=lambda width: width[0] or 0.0)
            widest = f"\N{PLUS-MINUS SIGN}{half:.3g} ({one.system}, {prompt})"
        if len(known) < len(campaign.goal_prompts) * len(cells.systems) or not known:
            return replace(nothing, widest=widest)
        if all(one.enough for _, one in known):
            return replace(nothing, reached=True, widest=widest, to_goal=0)
        more: dict[str, int] = {}
        for _, one in known:
            if one.more_judgments is None:
                return replace(nothing, widest=widest)
            more[one.system] = max(more.get(one.system, 0), one.more_judgments)
        return replace(nothing, widest=widest, to_goal=round(sum(more.values()) * sharing))
