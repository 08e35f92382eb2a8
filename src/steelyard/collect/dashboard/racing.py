"""A campaign under way that is to decide which system is better: who still gets judgments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.dashboard.prompt_estimates import Cells
from steelyard.questions.answer import better_pairs
from steelyard.questions.monitored import Monitored, MonitoredSystem

__all__ = ["LiveRaces"]


@dataclass(frozen=True)
class LiveRaces:
    """What is known under each prompt of a goal that decides.

    Attributes
    ----------
    found : mapping of str to Monitored
        By prompt.
    reasons : mapping of str to str
        Why there is nothing yet.
    systems : tuple of str
        All that are judged.
    """

    found: Mapping[str, Monitored]
    reasons: Mapping[str, str]
    systems: tuple[str, ...]

    @classmethod
    def of(cls, campaign: Campaign, cells: Cells) -> "LiveRaces | None":
        """Return what is known of a campaign; None if its goal decides nothing."""
        if cells.goal.decide is None:
            return None
        found, reasons = {}, {}
        for prompt in campaign.goal_prompts:
            now = cells.now.get(prompt)
            known = {} if now is None else now.systems
            waiting = [one for one in cells.systems if one not in known]
            if waiting or now is None or now.monitored is None:
                reasons[prompt] = f"the race begins when {', '.join(waiting)} have judgments"
            else:
                found[prompt] = now.monitored
        return cls(found, reasons, cells.systems)

    @property
    def let_go(self) -> tuple[str, ...]:
        """Systems that need no more judgments under any prompt of the goal."""
        if self.reasons:
            return ()
        inside = {
            one.system for each in self.found.values() for one in each.systems if not one.enough
        }
        return tuple(name for name in self.systems if name not in inside)

    @property
    def sentence(self) -> str:
        """What is known, or why nothing is."""
        known = {prompt: one.answer for prompt, one in self.found.items()}
        said = [f"{prompt}: {words}" for prompt, words in {**known, **self.reasons}.items()]
        return " ".join(said)

    def to_dict(self) -> dict[str, Any]:
        """Return the races for the dashboard."""
        return {
            "prompts": [_race(one) for one in self.found.values()],
            "waiting": dict(self.reasons),
            "let_go": list(self.let_go),
        }


def _race(one: Monitored) -> dict[str, Any]:
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
