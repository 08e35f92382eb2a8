"""All that is computed from the released data."""

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.paper.bias_study import BiasRow, bias_study
from steelyard.paper.correlations import MetricCorrelation, correlations
from steelyard.paper.differences import ReleasedDifference, differences
from steelyard.paper.fresh import FreshGain, fresh_gains
from steelyard.paper.limits import EfficiencyLimits, limits
from steelyard.paper.modes import Modes, modes
from steelyard.paper.release import Release
from steelyard.paper.setting import Setting
from steelyard.paper.standings import SystemStanding, standings
from steelyard.paper.trajectories import Followed, Tracker, follow, untracked
from steelyard.paper.variances import PromptVariances, variances

__all__ = ["Reproduction", "reproduce"]


@dataclass(frozen=True)
class Reproduction:
    """What came out of the released data.

    Attributes
    ----------
    release : Release
        The data.
    draws, seed : int
        Bootstrap draws and their seed.
    variances, correlations, limits, bias, fresh, modes, followed, differences, standings
        The parts, over all tasks; each knows its task but for the standings, which are of prompts
        that no two tasks share.
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

    def followed_of(self, setting: Setting) -> Followed | None:
        """Return the trajectory of a setting, if it was followed."""
        return next((one for one in self.followed if one.key == setting.key), None)

    def correlation_of(self, setting: Setting) -> MetricCorrelation | None:
        """Return the correlation of a setting, if it is there."""
        return next((one for one in self.correlations if one.key == setting.key), None)

    def limits_of(self, setting: Setting) -> EfficiencyLimits:
        """Return the limits of a setting."""
        return next(one for one in self.limits if one.key == setting.key)

    @property
    def best_limits(self) -> list[EfficiencyLimits]:
        """Limits of each system and prompt, with the metric that leaves least to noiseless raters."""
        best: dict[tuple[str, ...], EfficiencyLimits] = {}
        for one in self.limits:
            key = one.key[:3]
            if key not in best or (one.noiseless_raters.value > best[key].noiseless_raters.value):
                best[key] = one
        return list(best.values())


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
        modes=[found for task in tasks if (found := modes(task)) is not None],
        followed=followed,
        differences=differences(followed),
        standings=[one for task in tasks for one in standings(task, seed=seed)],
    )
