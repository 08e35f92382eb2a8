"""What is left to do until the goal is reached, and which systems need no more judgments."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.dashboard.prompt_estimates import PromptEstimates
from steelyard.questions.answer import better_pairs
from steelyard.questions.monitored import Monitored, MonitoredSystem

__all__ = ["Outlook"]


@dataclass(frozen=True)
class Outlook:
    """What is left to do.

    Attributes
    ----------
    reached : bool
        Whether the goal is reached under all of its prompts.
    lacking : int
        Judgments of the draw that are not there yet.
    to_goal : int or None
        Judgments until it is reached, at the present rate; None if that cannot be told.
    drawn, planned : int
        Outputs of each system in the draw, and the judgments of all of them.
    widest : str
        Of a goal that is a half-width: the interval that is furthest from it, in words.
    race : mapping or None
        Of a goal that decides which system is better: who is in and who is out, for the dashboard.
    sentence : str
        What is known of that, or why nothing is.
    """

    reached: bool
    lacking: int
    to_goal: int | None = None
    drawn: int = 0
    planned: int = 0
    widest: str = ""
    race: Mapping[str, Any] | None = None
    sentence: str = ""

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
        found: PromptEstimates,
        *,
        lacking: int,
        drawn: int,
        planned: int,
        sharing: float,
    ) -> "Outlook":
        """Look ahead: an output is judged for all prompts at once.

        Parameters
        ----------
        campaign, found
            The campaign and where its systems stand.
        lacking, planned : int
            Judgments of the draw that are not there yet, and all of them.
        drawn : int
            Outputs of each system in the draw.
        sharing : float
            Units over outputs of the draw: a text that several systems gave is judged once.
        """
        race, sentence = _race(campaign, found)
        known = [
            (prompt, one)
            for prompt in campaign.goal_prompts
            if prompt in found.now
            for one in found.now[prompt].systems.values()
        ]
        told: dict[str, Any] = {
            "lacking": lacking,
            "drawn": drawn,
            "planned": planned,
            "widest": _widest(found, known),
            "race": race,
            "sentence": sentence,
        }
        if not found.goal.given or not known:
            return cls(reached=False, **told)
        if len(known) < len(campaign.goal_prompts) * len(found.systems):
            return cls(reached=False, **told)
        if all(one.enough for _, one in known):
            return cls(reached=True, to_goal=0, **told)
        more: dict[str, int] = {}
        for _, one in known:
            if one.more_judgments is None:
                return cls(reached=False, **told)
            more[one.system] = max(more.get(one.system, 0), one.more_judgments)
        return cls(reached=False, to_goal=round(sum(more.values()) * sharing), **told)


def _widest(found: PromptEstimates, known: list[tuple[str, MonitoredSystem]]) -> str:
    widths = [(one.half_width, prompt, one) for prompt, one in known if one.half_width]
    if not widths or found.goal.half_width is None:
        return ""
    half, prompt, one = max(widths, key=lambda width: width[0] or 0.0)
    return f"\N{PLUS-MINUS SIGN}{half:.3g} ({one.system}, {prompt})"


def _race(campaign: Campaign, found: PromptEstimates) -> tuple[dict[str, Any] | None, str]:
    """Return who is in and who is out under each prompt of a goal that decides, and the same in words."""
    if found.goal.decide is None:
        return None, ""
    decided: dict[str, Monitored] = {}
    reasons: dict[str, str] = {}
    for prompt in campaign.goal_prompts:
        now = found.now.get(prompt)
        known = {} if now is None else now.systems
        waiting = [one for one in found.systems if one not in known]
        if waiting or now is None or now.monitored is None:
            reasons[prompt] = f"the race begins when {', '.join(waiting)} have judgments"
        else:
            decided[prompt] = now.monitored
    inside = {each.system for one in decided.values() for each in one.systems if not each.enough}
    race = {
        "prompts": [_prompt_race(one) for one in decided.values()],
        "waiting": reasons,
        "let_go": [] if reasons else [name for name in found.systems if name not in inside],
    }
    answers = {prompt: one.answer for prompt, one in decided.items()}
    return race, " ".join(f"{prompt}: {words}" for prompt, words in {**answers, **reasons}.items())


def _prompt_race(one: Monitored) -> dict[str, Any]:
    better = better_pairs(one.pairs, one.level)
    lead = one.systems[0]
    return {
        "prompt": one.prompt,
        "goal": one.goal,
        "answer": one.answer,
        "winner": lead.system if one.reached else None,
        "stop": one.reached,
        "expected_more": one.more_judgments,
        "expected_cost": one.left_to_pay,
        "claim": f"What is said here holds with {one.level:.0%}, however often you look.",
        "notes": list(one.notes),
        "systems": [
            {
                "system": each.system,
                "state": "out" if each.enough and not one.reached else "in",
                "estimate": each.estimate,
                "behind": _behind(lead, each),
                "rank_low": each.rank_low,
                "rank_high": each.rank_high,
                "n_items": each.n_outputs,
                "expected_more": each.more_judgments,
                "out_at": each.n_outputs if each.enough else None,
                "out_by": next(
                    (a.system for a in one.systems if (a.system, each.system) in better), None
                ),
            }
            for each in one.systems
        ],
    }


def _behind(lead: MonitoredSystem, one: MonitoredSystem) -> float | None:
    if lead.estimate is None or one.estimate is None:
        return None
    return abs(lead.estimate - one.estimate)
