"""What is left to do until the goal is reached."""

from dataclasses import dataclass

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
    outputs : int or None
        Outputs of each system that are needed for it.
    lacking : int
        Judgments of the draw that are not there yet.
    """

    reached: bool
    widest: str
    to_goal: int | None
    outputs: int | None
    lacking: int

    @classmethod
    def of(cls, campaign: Campaign, cells: Cells, *, lacking: int, sharing: float) -> "Outlook":
        """Look ahead: an output is judged for all prompts at once.

        Parameters
        ----------
        campaign, cells
            The campaign and where its systems stand.
        lacking : int
            Judgments of the draw that are not there yet.
        sharing : float
            Units over outputs of the draw: a text that several systems gave is judged once.
        """
        nothing = cls(reached=False, widest="", to_goal=None, outputs=None, lacking=lacking)
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
            return cls(False, widest, None, None, lacking)
        if all(one.enough for _, one in known):
            return cls(True, widest, 0, max(one.n_outputs for _, one in known), lacking)
        more: dict[str, int] = {}
        outputs = 0
        for _, one in known:
            if one.more_judgments is None:
                return cls(False, widest, None, None, lacking)
            more[one.system] = max(more.get(one.system, 0), one.more_judgments)
            growth = 1 + one.more_judgments / max(one.n_judgments, 1)
            outputs = max(outputs, round(one.n_outputs * growth))
        return cls(False, widest, round(sum(more.values()) * sharing), outputs, lacking)
