"""The statistical part of a snapshot: each prompt with its systems."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import polars as pl

from steelyard.collect.campaign import Campaign
from steelyard.collect.live.diagnosis_rows import diagnosis_rows
from steelyard.collect.live.pool import LivePool
from steelyard.collect.live.rows import judgment_rows, with_document_use
from steelyard.collect.rankings import as_preferences, ranked_prompts
from steelyard.collect.store.records import ScoredRow
from steelyard.collect.tasks import score_bounds
from steelyard.errors import NotEstimableError
from steelyard.questions.estimates import Baseline, Estimate
from steelyard.questions.worth import worth_in_words
from steelyard.study import Study
from steelyard.study.answer import prompt_answer
from steelyard.study.draw_prefix import Prefix, draw_prefixes
from steelyard.study.monitoring import Monitored
from steelyard.study.recorded_draw import is_designed
from steelyard.study.standing import Goal, Standing, standings
from steelyard.tables import read_judgments

__all__ = ["Cells"]

# More systems are not compared here: the time grows with the number of pairs (1.5 s for 25 systems).
_MOST_COMPARED = 25

_Key = tuple[str, str]


class Cells:
    """Where every system stands under every prompt, with and without the excluded raters.

    Attributes
    ----------
    rows : polars.DataFrame
        Every judgment with its use.
    now : dict of (prompt, system) to Standing
        As estimates are made.
    before : dict of (prompt, system) to Standing
        As if nobody were excluded; empty if nobody is.
    prefixes : mapping of str to Prefix
        How far the draw of each judged system is judged.
    goal : Goal
        What is to be reached.
    systems : tuple of str
        The systems that are judged.
    """

    def __init__(
        self, campaign: Campaign, pool: LivePool, scored: Sequence[ScoredRow], *, goal: Goal
    ) -> None:
        self.goal = goal
        self.rows = judgment_rows(scored, each=goal.each)
        self.systems = pool.systems
        self._campaign = campaign
        self._outputs = pool.outputs
        self._ranked = pool.ranked
        self._used = self._entering(self.rows)
        self.now = self._standings(self._used, paths=campaign.goal_prompts)
        self.prefixes: Mapping[str, Prefix] = {}
        self.before: dict[_Key, Standing] = {}
        if self.rows.is_empty():
            return
        self.prefixes = draw_prefixes(self.rows, each=goal.each)
        if self.rows["excluded"].any():
            included = self.rows.drop("use").with_columns(excluded=pl.lit(value=False))
            self.before = self._standings(
                self._entering(with_document_use(included, each=goal.each))
            )

    def _entering(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the judgments that enter estimates, as `Study` takes them."""
        used = rows.filter(pl.col("use") == "used")
        if self._campaign.task.pair:
            # Preferences are about the items on which two systems differ, and of those the draw
            # is simple; `read_pool` holds these and no others.
            used = used.with_columns(design=pl.lit("simple"))
        # What is shown of either system is its mean score, not how the two compare.
        return used.drop("other_system", "first_system", "position").drop("segments", strict=False)

    def _standings(self, used: pl.DataFrame, *, paths: Sequence[str] = ()) -> dict[_Key, Standing]:
        found = standings(
            self._outputs,
            used,
            self._campaign.metrics,
            goal=self.goal,
            bounds=score_bounds(self._campaign.task),
            paths=paths,
        )
        return {(one.prompt, one.system): one for one in found}

    @cached_property
    def study(self) -> Study | None:
        """The outputs and the judgments that enter estimates; None before the first."""
        if self._used.is_empty():
            return None
        judgments = read_judgments(self._used)
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
        study = self.study
        designed = study is not None and is_designed(study.judgments)
        prompts = []
        lower = {one.prompt for one in self._campaign.task.scores if one.lower_is_better}
        for prompt, (low, high) in score_bounds(self._campaign.task).items():
            components, reason = self._components(prompt, designed=designed)
            own = [found for key, found in self.now.items() if key[0] == prompt]
            estimates = [found.estimate for found in own if found.estimate is not None]
            prompts.append(
                {
                    "prompt": prompt,
                    "bounds": [low, _number(high)],
                    "lower_is_better": prompt in lower,
                    "in_goal": self.goal.half_width is not None
                    and prompt in self._campaign.goal_prompts,
                    "systems": [
                        _system(found, self.before.get((prompt, found.system)), self.goal)
                        for found in own
                    ],
                    "answer": self._answer(study, prompt, [found.system for found in own]),
                    "control": None,
                    "ledger": worth_in_words(estimates, price=self._price),
                    "components": components,
                    "components_reason": reason,
                }
            )
        return prompts

    def _answer(
        self, study: Study | None, prompt: str, systems: Sequence[str]
    ) -> dict[str, str | None] | None:
        """Return which system is better, or why that is not said; None with fewer than two."""
        if study is None or len(systems) < 2:
            return None
        if len(systems) > _MOST_COMPARED:
            reason = f"more than {_MOST_COMPARED} systems are compared by `steelyard compare` only"
            return {"sentence": None, "basis": None, "reason": reason, "ledger": None}
        if prompt in ranked_prompts(self._campaign):
            study = self._orders or study
        found = prompt_answer(
            study,
            prompt,
            systems,
            metrics=self._campaign.metrics,
            level=self.goal.level,
        )
        return {
            "sentence": found.sentence,
            "basis": found.basis,
            "reason": found.refusal,
            "ledger": None,
        }

    @property
    def _price(self) -> float | None:
        """What a judgment of an output costs; not said of screens, which are paid as a whole."""
        is_whole = self._campaign.task.side_by_side
        return None if is_whole else self._campaign.pay.per_judgment or None

    def _components(
        self, prompt: str, *, designed: bool
    ) -> tuple[dict[str, Any] | None, str | None]:
        """Return variance components over all systems, or why there are none."""
        if not (self._used["prompt"] == prompt).any():
            return None, None
        if designed:
            return None, "not shown for a draw that is not simple"
        try:
            found = diagnosis_rows(
                self._outputs,
                self._used,
                self._campaign.metrics,
                prompt=prompt,
                level=self.goal.level,
            )
        except NotEstimableError as error:
            return None, str(error)
        return found, None


def _system(found: Standing, before: Standing | None, goal: Goal) -> dict[str, Any]:
    estimate, monitored = found.estimate, found.monitored
    notes = [*found.notes, *(estimate.notes if estimate else ())]
    return {
        "system": found.system,
        "n": estimate.n_outputs if estimate else monitored.n if monitored else 0,
        "judgments": estimate.n_judgments if estimate else 0,
        "pool_size": estimate.pool_size if estimate else monitored.pool_size if monitored else None,
        "estimate": _estimate(estimate),
        "plain": _estimate(estimate and estimate.baseline),
        "sequence": _sequence(monitored, goal),
        "data_efficiency": estimate.data_efficiency if estimate else None,
        "path": [list(point) for point in found.path],
        "forecast": [list(point) for point in found.forecast],
        "before": None
        if before is None
        else {
            "estimate": _estimate(before.estimate),
            "sequence": _sequence(before.monitored, goal),
        },
        "notes": list(dict.fromkeys([*notes, *(monitored.notes if monitored else ())])),
    }


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


def _sequence(found: Monitored | None, goal: Goal) -> dict[str, Any] | None:
    if found is None:
        return None
    has_goal = goal.half_width is not None
    return {
        "estimate": found.estimate,
        "low": found.low,
        "high": found.high,
        "half_width": found.half_width,
        "target": found.target,
        "exact": found.exact,
        "stop": has_goal and found.stop,
        "expected_more": found.expected_more if has_goal else None,
    }


def _number(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None
