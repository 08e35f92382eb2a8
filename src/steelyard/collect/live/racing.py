"""Races of a campaign under way: who still gets judgments, and whether all is decided."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.collect.campaign import Campaign
from steelyard.collect.live.cells import Cells
from steelyard.collect.live.outlook import Outlook
from steelyard.collect.live.pool import LivePool
from steelyard.collect.tasks import score_bounds
from steelyard.errors import SteelyardError
from steelyard.study.race_result import Raced

__all__ = ["LiveRaces"]


@dataclass(frozen=True)
class LiveRaces:
    """The race under each prompt of the goal.

    Attributes
    ----------
    found : dict of str to Raced
        By prompt.
    reasons : dict of str to str
        Why there is none yet.
    systems : tuple of str
        All that are judged.
    """

    found: Mapping[str, Raced]
    reasons: Mapping[str, str]
    systems: tuple[str, ...]

    @classmethod
    def of(cls, campaign: Campaign, pool: LivePool, cells: Cells) -> "LiveRaces | None":
        """Run the races of a campaign; None if its goal is none."""
        goal = campaign.goal
        if goal is None or goal.decide is None:
            return None
        bounds = score_bounds(campaign.task)
        found, reasons = {}, {}
        study = cells.study
        for prompt in campaign.goal_prompts:
            judged = {system for name, system in cells.now if name == prompt}
            waiting = [system for system in pool.systems if system not in judged]
            if study is None or waiting:
                reasons[prompt] = f"the race begins when {', '.join(waiting)} have judgments"
                continue
            try:
                [found[prompt]] = study.race(
                    goal.decide,
                    margin=goal.margin,
                    metrics=campaign.metrics,
                    prompts=[prompt],
                    systems=pool.systems,
                    method="asymptotic" if goal.method == "asymptotic" else "betting",
                    level=goal.level,
                    bounds=None if bounds[prompt][1] == float("inf") else bounds[prompt],
                    judgments_per_output=cells.goal.each,
                    judgment_price=campaign.pay.per_judgment or None,
                )
            except SteelyardError as error:
                reasons[prompt] = str(error)
        return cls(found, reasons, pool.systems)

    @property
    def decided(self) -> bool:
        """Whether every race is."""
        return not self.reasons and all(one.decided for one in self.found.values())

    @property
    def let_go(self) -> tuple[str, ...]:
        """Systems that need no more judgments under any prompt of the goal."""
        if self.reasons:
            return ()
        inside = {name for one in self.found.values() for name in one.inside}
        return tuple(name for name in self.systems if name not in inside)

    @property
    def sentence(self) -> str:
        """What is known, or why nothing is."""
        known = {prompt: one.answer for prompt, one in self.found.items()}
        said = [f"{prompt}: {words}" for prompt, words in {**known, **self.reasons}.items()]
        return " ".join(said)

    def outlook(self, *, lacking: int, drawn: int, sharing: float, each: int) -> Outlook:
        """Return what is left to do: the outputs of a system are judged for all prompts at once.

        Parameters
        ----------
        lacking : int
            Judgments of the draw that are not there yet, those of systems that are out among them.
        drawn : int
            Items of the draw.
        sharing : float
            Units over outputs of the draw.
        each : int
            Judgments of an output.
        """
        if self.reasons:
            return Outlook(False, None, None, None, lacking)
        more: dict[str, int] = dict.fromkeys(self.systems, 0)
        for race in self.found.values():
            for one in race.systems:
                more[one.system] = max(more[one.system], one.expected_more)
        left = round(sum(more.values()) * sharing)
        outputs = max(
            one.n_items + -(-one.expected_more // each)
            for race in self.found.values()
            for one in race.systems
        )
        if all(one.n_items >= drawn for one in self.found.values()):
            lacking = 0
        return Outlook(self.decided, None, 0 if self.decided else left, outputs, lacking)

    def to_dict(self) -> dict[str, Any]:
        """Return the races for the dashboard."""
        return {
            "prompts": [one.to_dict() for one in self.found.values()],
            "waiting": dict(self.reasons),
            "let_go": list(self.let_go),
        }
