"""What is known under each prompt: what `Study.monitor` says of the judgments that are exported."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import polars as pl
from sqlalchemy import Connection, func, select

from steelyard.collect.config.campaign import Campaign
from steelyard.collect.rankings import is_only_ranked, ranking_pool
from steelyard.collect.store.tables import targets
from steelyard.collect.tasks import score_bounds
from steelyard.errors import NotEstimableError
from steelyard.questions.goal import Goal
from steelyard.questions.monitored import Monitored
from steelyard.study import Study
from steelyard.tables import Outputs, read_judgments, read_outputs

__all__ = ["Knowledge", "judged_systems", "knowledge", "read_pool"]

_SYSTEMS = (
    select(targets.c.system)
    .group_by(targets.c.system)
    .order_by(func.min(targets.c.side), targets.c.system)
)


@dataclass(frozen=True)
class Knowledge:
    """What is known of the systems of a campaign.

    Attributes
    ----------
    campaign : Campaign
        What was asked.
    goal : Goal
        What is to be known, under the prompts of the goal.
    systems : tuple of str
        The systems that are judged.
    prompts : mapping of str to Monitored
        What `Study.monitor` says, by prompt.
    reasons : mapping of str to str
        Why nothing is known under a prompt that has judgments.
    """

    campaign: Campaign
    goal: Goal
    systems: tuple[str, ...]
    prompts: Mapping[str, Monitored] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def of_goal(self) -> list[Monitored]:
        """What is known under the prompts of the goal."""
        return [self.prompts[one] for one in self.campaign.goal_prompts if one in self.prompts]

    @property
    def waiting(self) -> list[str]:
        """The systems of which too little is known under a prompt of the goal."""
        if len(self.of_goal) < len(self.campaign.goal_prompts):
            return list(self.systems)
        known = [{one.system for one in prompt.systems} for prompt in self.of_goal]
        return [one for one in self.systems if not all(one in names for names in known)]

    @property
    def reached(self) -> bool:
        """Whether the goal is reached for all systems under all of its prompts."""
        return self.goal.given and not self.waiting and all(one.reached for one in self.of_goal)

    @property
    def enough(self) -> list[str]:
        """The systems that need no more judgments for what is to be decided."""
        if self.goal.decide is None or self.waiting:
            return []
        return [one for one in self.systems if all(one in each.enough for each in self.of_goal)]

    @property
    def more_judgments(self) -> int | None:
        """Judgments until the goal is reached; None if nobody can say. One answer serves all prompts."""
        if not self.goal.given or self.waiting:
            return None
        most: dict[str, int] = {}
        for one in (system for prompt in self.of_goal for system in prompt.systems):
            if one.more_judgments is None:
                return None
            most[one.system] = max(most.get(one.system, 0), one.more_judgments)
        return sum(most.values())

    @property
    def widest(self) -> str:
        """The interval that is furthest from a goal that is a half-width, in words."""
        widths = [
            (one.half_width, f"{one.system}, {prompt.prompt}")
            for prompt in self.of_goal
            for one in prompt.systems
            if one.half_width is not None
        ]
        if not widths:
            return ""
        half, about = max(widths)
        return f"\N{PLUS-MINUS SIGN}{half:.3g} ({about})"

    @property
    def sentence(self) -> str:
        """What is known of a goal that decides which system is better, or what is waited for."""
        if self.goal.decide is None:
            return ""
        if self.waiting:
            return f"The race begins when {', '.join(self.waiting)} have judgments."
        answers = [one for one in self.of_goal if one.answer]
        if len(self.campaign.goal_prompts) == 1:
            return " ".join(one.answer for one in answers)
        return " ".join(f"{one.prompt}: {one.answer}" for one in answers)

    def to_list(self) -> list[dict[str, Any]]:
        """Return the prompts of a snapshot."""
        lower = {one.prompt for one in self.campaign.task.scores if one.lower_is_better}
        return [
            {
                "prompt": prompt,
                "bounds": [low, high if math.isfinite(high) else None],
                "lower_is_better": prompt in lower,
                "in_goal": self.goal.given and prompt in self.campaign.goal_prompts,
                "reason": self.reasons.get(prompt),
                **_monitored(self.prompts.get(prompt), decides=self.goal.decide is not None),
            }
            for prompt, (low, high) in score_bounds(self.campaign.task).items()
        ]


def judged_systems(connection: Connection) -> tuple[str, ...]:
    """Return the systems of the draw; of a pair, in its order."""
    return tuple(connection.execute(_SYSTEMS).scalars())


def read_pool(campaign: Campaign, *, systems: Sequence[str]) -> Outputs:
    """Return the outputs that estimates speak about, with the metrics that the campaign uses.

    Where outputs are only compared, those are the items on which the systems differ.
    """
    outputs = read_outputs(campaign.outputs, metrics=list(campaign.metrics))
    if campaign.task.pair or is_only_ranked(campaign):
        return ranking_pool(campaign, outputs, systems=systems)
    return outputs


def knowledge(
    campaign: Campaign,
    outputs: Outputs,
    rows: pl.DataFrame,
    *,
    systems: Sequence[str],
    goal: Goal,
    level: float = 0.95,
    planned: float | None = None,
) -> Knowledge:
    """Return what is known, with intervals that hold however often somebody looks.

    Parameters
    ----------
    campaign : Campaign
        What was asked.
    outputs : Outputs
        What `read_pool` returned.
    rows : polars.DataFrame
        All judgments, as `steelyard.collect.store.judgments.judgment_rows` has them.
    systems : sequence of str
        The systems that are judged.
    goal : Goal
        What is to be known, under the prompts of the goal.
    level : float
        Probability with which all of it holds.
    planned : float, optional
        Judgments that are planned of each system.
    """
    # of preferences and orders, the score is the share of the others that a system was preferred to
    used = rows.filter(pl.col("use") == "used").drop("other_system", "first_system", "position")
    if campaign.task.pair:
        pool = outputs.rows(columns=["item"])
        used = used.with_columns(design=pl.lit("simple")).join(
            pool.unique(), on="item", how="semi", maintain_order="left"
        )
    there = set(used["prompt"])
    prompts: dict[str, Monitored] = {}
    reasons: dict[str, str] = {}
    if there:
        lower = {one.prompt for one in campaign.task.scores if one.lower_is_better}
        judgments = read_judgments(used.drop("segments", strict=False)).directed(lower & there)
        study = Study(outputs, judgments)
        for prompt in filter(there.__contains__, campaign.task.prompts):
            judged = used.filter(pl.col("prompt") == prompt)["system"].n_unique()
            is_aim = prompt in campaign.goal_prompts and (judged > 1 or goal.decide is None)
            aim = goal if is_aim else Goal()
            try:
                prompts[prompt] = _looked_at(
                    study, campaign, prompt, goal=aim, level=level, planned=planned
                )
            except NotEstimableError as error:
                reasons[prompt] = str(error)
    return Knowledge(campaign, goal, tuple(systems), prompts, reasons)


def _looked_at(
    study: Study,
    campaign: Campaign,
    prompt: str,
    *,
    goal: Goal,
    level: float,
    planned: float | None,
) -> Monitored:
    """Return what monitor says; where all judgments are equal, by the ends of the scale."""
    low, high = score_bounds(campaign.task)[prompt]
    ask = partial(
        Study.monitor,
        metrics=campaign.metrics,
        half_width=goal.half_width,
        goal=goal.decide,
        margin=goal.margin,
        planned=planned,
        prompts=[prompt],
        level=level,
    )
    try:
        [known] = ask(study)
    except NotEstimableError:
        if math.isinf(high):
            raise
        [known] = ask(replace(study, bounds=(low, high)))
    return known


def _monitored(known: Monitored | None, *, decides: bool) -> dict[str, Any]:
    """Return what is known under a prompt, for the page."""
    if known is None:
        return {"answer": "", "basis": "", "reached": False, "systems": [], "notes": []}
    together = "" if len(known.pairs) < 2 else f" for all {len(known.pairs)} pairs together"
    return {
        "answer": known.answer,
        "basis": f"About {known.about}. Holds at {known.level:.0%}{together}, however often you look.",
        "reached": known.reached,
        "systems": [
            {
                "system": one.system,
                "estimate": one.estimate,
                "low": one.low,
                "high": one.high,
                "half_width": one.half_width,
                "outputs": one.n_outputs,
                "pool_size": one.pool_size,
                "judgments": one.n_judgments,
                "ranks": [one.rank_low, one.rank_high],
                "enough": one.enough,
                "out": decides and one.enough and not known.reached,
            }
            for one in known.systems
        ],
        "notes": list(known.notes),
    }
