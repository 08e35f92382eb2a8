"""All that is computed from the released data."""

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.paper.bias_study import BiasRow, FreshGain, bias_study, fresh_gains
from steelyard.paper.correlations import MetricCorrelation, correlations
from steelyard.paper.differences import ReleasedDifference, differences
from steelyard.paper.limits import EfficiencyLimits, limits
from steelyard.paper.modes import Modes, modes
from steelyard.paper.names import Setting
from steelyard.paper.printed import EFFICIENCIES
from steelyard.paper.release import Release
from steelyard.paper.standings import SystemStanding, standings
from steelyard.paper.trajectories import Followed, Tracker, follow, untracked
from steelyard.paper.variances import PromptVariances, variances

__all__ = ["Reproduction", "reproduce"]


@dataclass(frozen=True)
class Reproduction:
    """What came out of the released data: the parts, over all tasks.

    Each part knows its task but for the standings, which are of prompts that no two tasks share.
    """

    release: Release
    draws: int
    seed: int
    variances: Sequence[PromptVariances]
    correlations: Sequence[MetricCorrelation]
    limits: Sequence[EfficiencyLimits]
    bias: Sequence[BiasRow]
    fresh: Sequence[FreshGain]
    modes: Sequence[Modes]
    followed: Sequence[Followed]
    differences: Sequence[ReleasedDifference]
    standings: Sequence[SystemStanding]

    def correlation_of(self, setting: Setting) -> MetricCorrelation | None:
        """Return the correlation of a setting, if it is there."""
        return next((one for one in self.correlations if one.key == setting.key), None)

    def limits_of(self, setting: Setting) -> EfficiencyLimits:
        """Return the limits of a setting."""
        return next(one for one in self.limits if one.key == setting.key)

    @property
    def prompts(self) -> list[tuple[str, str]]:
        """Every task with each of its prompts."""
        return [(task.name, prompt) for task in self.release.tasks for prompt in task.prompts]

    @property
    def quoted(self) -> list[tuple[Followed, EfficiencyLimits, float]]:
        """The settings of figure 6 that are there, each with the printed data efficiency."""
        return [
            (one, self.limits_of(one), row.value)
            for row in EFFICIENCIES
            for one in self.followed
            if one.key == row.key
        ]

    @property
    def table_2(self) -> list[PromptVariances]:
        """The variance components that table 2 prints."""
        return [row for row in self.variances if row.printed is not None]

    @property
    def best_limits(self) -> list[EfficiencyLimits]:
        """Limits of each system and prompt, with the metric that leaves least to noiseless raters."""
        best: dict[tuple[str, ...], EfficiencyLimits] = {}
        for one in self.limits:
            key = one.key[:3]
            if key not in best or (one.noiseless_raters.value > best[key].noiseless_raters.value):
                best[key] = one
        return list(best.values())

    @property
    def noisier(self) -> int:
        """In how many of `best_limits` noiseless raters bring more than a perfect metric."""
        return sum(
            one.noiseless_raters.value > one.perfect_metric.value for one in self.best_limits
        )


def reproduce(
    release: Release, *, draws: int = 1000, seed: int = 0, tracked: Tracker = untracked
) -> Reproduction:
    """Compute every number of the paper.

    Parameters
    ----------
    release : Release
        The released data.
    draws : int
        Bootstrap draws of trajectories and of the bias study.
    seed : int
        Seed of everything that is drawn.
    tracked : Tracker
        Shows progress.

    Returns
    -------
    Reproduction
    """
    tasks = release.tasks
    followed = follow(release, draws=draws, seed=seed, tracked=tracked)
    return Reproduction(
        release=release,
        draws=draws,
        seed=seed,
        variances=[one for task in tasks for one in variances(task, seed=seed)],
        correlations=[one for task in tasks for one in correlations(task, seed=seed)],
        limits=[one for task in tasks for one in limits(task, seed=seed)],
        bias=[one for task in tasks for one in bias_study(task, draws=draws, seed=seed)],
        fresh=[one for task in tasks for one in fresh_gains(task, seed=seed)],
        modes=[counted for task in tasks if (counted := modes(task)) is not None],
        followed=followed,
        differences=differences(followed),
        standings=[one for task in tasks for one in standings(task, seed=seed)],
    )
