"""The statistical part of a snapshot: each prompt with its systems, as estimate and monitor answer."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from steelyard.campaign.draws import is_designed
from steelyard.collect.config.campaign import Campaign
from steelyard.collect.dashboard.pool import LivePool
from steelyard.collect.rankings import as_preferences, ranked_prompts
from steelyard.collect.store.judgments import with_use
from steelyard.collect.tasks import score_bounds
from steelyard.errors import NotEstimableError
from steelyard.questions.asked import Asked
from steelyard.questions.estimate import estimates
from steelyard.questions.estimates import Baseline, Estimate
from steelyard.questions.fitted import Fits
from steelyard.questions.goal import Goal
from steelyard.questions.monitor import half_width_forecast, half_width_path, looked, monitored
from steelyard.questions.monitored import Monitored, MonitoredSystem
from steelyard.study import Study
from steelyard.tables import read_judgments

__all__ = ["PromptEstimates", "PromptNow"]


_Path = Mapping[str, Sequence[tuple[int, float]]]


@dataclass(frozen=True)
class PromptNow:
    """What is known under one prompt.

    Attributes
    ----------
    estimates : mapping of str to Estimate
        By system, as `estimate` gives them.
    monitored : Monitored or None
        The same with intervals that hold at all looks.
    left_out : mapping of str to str
        Why a system has no estimate.
    path, forecast : mapping of str to sequence of (int, float)
        Judged outputs and half-widths of each system, so far and towards the goal.
    """

    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    monitored: Monitored | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    path: _Path = field(default_factory=dict)
    forecast: _Path = field(default_factory=dict)

    @property
    def systems(self) -> dict[str, MonitoredSystem]:
        """What monitor says of each system."""
        known = () if self.monitored is None else self.monitored.systems
        return {one.system: one for one in known}


class PromptEstimates:
    """Where every system stands under every prompt, with and without the excluded raters.

    Attributes
    ----------
    rows : polars.DataFrame
        Every judgment with its use.
    now : dict of str to PromptNow
        As estimates are made, by prompt.
    before : dict of str to PromptNow
        As if nobody were excluded; empty if nobody is.
    goal : Goal
        What is to be reached, under the prompts of the goal.
    systems : tuple of str
        The systems that are judged.
    """

    def __init__(
        self,
        campaign: Campaign,
        pool: LivePool,
        rows: pl.DataFrame,
        *,
        goal: Goal,
        level: float = 0.95,
        planned: float | None = None,
    ) -> None:
        self.goal, self.level, self.planned = goal, level, planned
        self.rows = rows
        self.systems = pool.systems
        self._campaign = campaign
        self._outputs = pool.outputs
        self._ranked = pool.ranked
        self._used = self._entering(self.rows)
        self.now = self._prompts(self._used, paths=goal.half_width is not None)
        self.before: dict[str, PromptNow] = {}
        if not self.rows.is_empty() and self.rows["excluded"].any():
            included = self.rows.drop("use").with_columns(excluded=pl.lit(value=False))
            self.before = self._prompts(self._entering(with_use(included)))

    def _entering(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the judgments that enter estimates, as `Study` takes them."""
        used = rows.filter(pl.col("use") == "used")
        if self._campaign.task.pair:
            # Preferences are about the items on which two systems differ, and of those the draw
            # is simple; `read_pool` holds these and no others.
            used = used.with_columns(design=pl.lit("simple"))
        # What is shown of either system is its mean score, not how the two compare.
        return used.drop("other_system", "first_system", "position").drop("segments", strict=False)

    def _prompts(self, used: pl.DataFrame, *, paths: bool = False) -> dict[str, PromptNow]:
        if used.is_empty():
            return {}
        study = self._study(used)
        there = set(used["prompt"])
        return {
            prompt: self._prompt(study, prompt, paths=paths)
            for prompt in score_bounds(self._campaign.task)
            if prompt in there
        }

    def _prompt(self, study: Study, prompt: str, *, paths: bool) -> PromptNow:
        fits = study.fits(self._campaign.metrics)
        in_goal = prompt in self._campaign.goal_prompts
        goal = self.goal if in_goal else Goal()
        try:
            asked = _asked(fits, prompt, self.level)
            found = estimates(fits, asked)
        except NotEstimableError:
            # all judgments are equal: the ends of the scale say how far others could be
            low, high = score_bounds(self._campaign.task)[prompt]
            ends = None if math.isinf(high) else (low, high)
            fits = replace(study, bounds=ends).fits(self._campaign.metrics)
            asked = _asked(fits, prompt, self.level)
            try:
                found = estimates(fits, asked)
            except NotEstimableError as error:
                return PromptNow(left_out={one: str(error) for one in asked.systems})
        [at_looks, *_] = monitored(
            fits,
            asked,
            goal if len(found) > 1 or goal.decide is None else Goal(),
            planned=self.planned,
            price=self._campaign.pay.per_judgment or None,
        )
        known = PromptNow(
            estimates={one.system: one for one in found},
            monitored=at_looks,
            left_out={system: why for (_, system), why in found.left_out.items()},
        )
        if not (paths and in_goal and goal.half_width):
            return known
        model = looked(fits.of(prompt), self.planned)
        order = model.collected.rows["time"].arg_sort().to_list()
        return PromptNow(
            known.estimates,
            known.monitored,
            known.left_out,
            path=half_width_path(model, asked, order),
            forecast={
                one.system: half_width_forecast(model, asked, one, goal.half_width)
                for one in at_looks.systems
            },
        )

    def _study(self, used: pl.DataFrame) -> Study:
        """Return the outputs and these judgments, which say which prompts are better when lower."""
        judgments = read_judgments(used)
        lower = {one.prompt for one in self._campaign.task.scores if one.lower_is_better}
        return Study(self._outputs, judgments.directed(lower & set(judgments.prompts)))

    @cached_property
    def _orders(self) -> Study | None:
        """What orders say about every two systems; None before the first."""
        used = self.rows.filter(pl.col("use") == "used")
        prompts = ranked_prompts(self._campaign)
        if self._ranked is None or not used["prompt"].is_in(list(prompts)).any():
            return None
        rows = as_preferences(used.filter(pl.col("prompt").is_in(list(prompts))), prompts)
        return Study(self._ranked, read_judgments(rows.drop("position")))

    def to_list(self) -> list[dict[str, Any]]:
        """Return the prompts of the snapshot."""
        designed = not self._used.is_empty() and is_designed(read_judgments(self._used))
        lower = {one.prompt for one in self._campaign.task.scores if one.lower_is_better}
        prompts = []
        for prompt, (low, high) in score_bounds(self._campaign.task).items():
            components, reason = self._components(prompt, designed=designed)
            now = self.now.get(prompt, PromptNow())
            before = self.before.get(prompt)
            prompts.append(
                {
                    "prompt": prompt,
                    "bounds": [low, _number(high)],
                    "lower_is_better": prompt in lower,
                    "in_goal": self.goal.half_width is not None
                    and prompt in self._campaign.goal_prompts,
                    "systems": [
                        self._system(one, now, before)
                        for one in self.systems
                        if one in now.estimates or one in now.left_out
                    ],
                    "answer": self._answer(prompt, now),
                    "control": None,
                    "components": components,
                    "components_reason": reason,
                }
            )
        return prompts

    def _answer(self, prompt: str, now: PromptNow) -> dict[str, str | None] | None:
        """Return which system is better, however often one looks, or why that is not said."""
        found, reason = now.monitored, None
        if prompt in ranked_prompts(self._campaign) and self._orders is not None:
            study = self._orders
            fits = study.fits(self._campaign.metrics)
            try:
                asked = _asked(fits, prompt, self.level)
                [found, *_] = monitored(fits, asked, Goal(), planned=self.planned)
            except NotEstimableError as error:
                reason = str(error)
        if len(now.estimates) + len(now.left_out) < 2:
            return None
        if found is None or not found.answer:
            reason = reason or next(iter(now.left_out.values()), "too few judgments")
            return {"sentence": None, "basis": None, "reason": reason}
        together = "" if len(found.pairs) == 1 else f" for all {len(found.pairs)} pairs together"
        basis = (
            f"About {found.about}. Holds at {found.level:.0%}{together}, however often you look."
        )
        return {"sentence": found.answer, "basis": basis, "reason": None}

    def _system(self, system: str, now: PromptNow, before: PromptNow | None) -> dict[str, Any]:
        estimate = now.estimates.get(system)
        notes = [now.left_out[system]] if system in now.left_out else []
        notes += estimate.notes if estimate else ()
        return {
            "system": system,
            "n": estimate.n_outputs if estimate else 0,
            "judgments": estimate.n_judgments if estimate else 0,
            "pool_size": estimate.pool_size if estimate else self._outputs.sizes.get(system),
            "estimate": _estimate(estimate),
            "plain": _estimate(estimate and estimate.baseline),
            "sequence": self._sequence(now.systems.get(system)),
            "data_efficiency": estimate.data_efficiency if estimate else None,
            "path": [list(point) for point in now.path.get(system, ())],
            "forecast": [list(point) for point in now.forecast.get(system, ())],
            "before": None
            if before is None
            else {
                "estimate": _estimate(before.estimates.get(system)),
                "sequence": self._sequence(before.systems.get(system)),
            },
            "notes": list(dict.fromkeys(notes)),
        }

    def _sequence(self, found: MonitoredSystem | None) -> dict[str, Any] | None:
        if found is None or found.half_width is None:
            return None
        has_goal = self.goal.half_width is not None
        return {
            "estimate": found.estimate,
            "low": found.low,
            "high": found.high,
            "half_width": found.half_width,
            "stop": has_goal and found.enough,
            "expected_more": found.more_judgments if has_goal else None,
        }

    def _components(
        self, prompt: str, *, designed: bool
    ) -> tuple[dict[str, Any] | None, str | None]:
        """Return how much raters disagree, what holds back, and numbers with intervals; or why not."""
        used = self._used.filter(pl.col("prompt") == prompt)
        if used.is_empty():
            return None, None
        if designed:
            return None, "not shown for a draw that is not simple"
        try:
            study = Study(self._outputs, read_judgments(used))
            [found] = study.diagnose(self._campaign.metrics, level=self.level)
        except NotEstimableError as error:
            return None, str(error)
        if not found.noise_share.is_known:
            return None, "hardly any output has a second judgment"
        quantities = {
            "raters' share of the variance": found.noise_share,
            "Krippendorff's alpha": found.agreement,
            **{f"correlation of {one.metric}": one.correlation for one in found.judges},
            **{f"worth of {one.metric}": one.worth for one in found.judges},
        }
        rows = [
            {
                "name": name,
                "value": _number(one.value),
                "low": _number(one.low),
                "high": _number(one.high),
            }
            for name, one in quantities.items()
        ]
        verdict = {"noise_share": found.noise_share.value, "verdict": found.holds_back}
        return verdict | {"rows": rows}, None


def _asked(fits: Fits, prompt: str, level: float) -> Asked:
    return Asked.of(fits, [prompt], None, target="pool", raters=None, level=level)


def _estimate(found: Estimate | Baseline | None) -> dict[str, Any] | None:
    if found is None:
        return None
    numbers = {
        "estimate": found.estimate,
        "low": found.low,
        "high": found.high,
        "standard_error": found.standard_error,
    }
    if isinstance(found, Baseline):
        return numbers
    new = found.new_outputs
    return numbers | {
        "metrics": list(found.metrics),
        "about": str(found.about),
        "new_outputs": new
        and {"standard_error": new.standard_error, "low": new.low, "high": new.high},
    }


def _number(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None
