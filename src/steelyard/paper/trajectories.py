"""Trajectories of every setting, and the data efficiencies that come out of them (figure 6)."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from steelyard.paper.release import PaperTask, Release
from steelyard.paper.setting import Setting
from steelyard.single.trajectory import Trajectory, trajectory

__all__ = ["PERFECT", "Followed", "Tracker", "follow", "untracked"]

Item = TypeVar("Item")

# The authors' name of the metric that is the mean judgment itself.
PERFECT = "gold"


class Tracker(Protocol):
    """Passes items on and shows how far they have come."""

    def __call__(self, items: Iterable[Item], /, *, what: str, total: int) -> Iterable[Item]:
        """Return the same items."""


def untracked(items: Iterable[Item], /, *, what: str, total: int) -> Iterable[Item]:  # noqa: ARG001
    """Pass items on and show nothing."""
    return items


@dataclass(frozen=True)
class Followed(Setting):
    """The trajectory of one setting, and what the authors released of it.

    Attributes
    ----------
    trajectory : Trajectory
        Ours.
    released : float or None
        Their mean ratio of interval lengths, not squared.
    released_noiseless : float or None
        The same with mean judgments in place of judgments.
    released_perfect : float or None
        The same with mean judgments in place of the metric.
    """

    trajectory: Trajectory
    released: float | None
    released_noiseless: float | None
    released_perfect: float | None


def follow(
    release: Release, *, draws: int, seed: int, tracked: Tracker = untracked
) -> list[Followed]:
    """Follow every system under every prompt with every metric.

    Parameters
    ----------
    release : Release
        Released judgments.
    draws : int
        Bootstrap draws of each setting.
    seed : int
        Together with the names of a setting it seeds its draws: a setting does not depend on
        which others are followed.
    tracked : Tracker
        Shows progress.
    """
    settings = list(_settings(release))
    return [
        _followed(*setting, draws=draws, seed=seed)
        for setting in tracked(settings, what="trajectories", total=len(settings))
    ]


def _settings(release: Release) -> Iterator[tuple[PaperTask, str, str, str]]:
    for task in release.tasks:
        for prompt in task.prompts:
            for system in task.systems:
                for metric in task.metrics:
                    yield task, prompt, system, metric


def _followed(
    task: PaperTask, prompt: str, system: str, metric: str, *, draws: int, seed: int
) -> Followed:
    lines = task.under(prompt, system)
    name = f"{task.name}/{prompt}/{system}/{metric}"
    return Followed(
        task=task.name,
        prompt=prompt,
        system=system,
        metric=metric,
        trajectory=trajectory(
            lines.human,
            lines.metrics[metric][lines.line],
            items=lines.line,
            draws=draws,
            rng=np.random.default_rng([seed, zlib.crc32(name.encode())]),
        ),
        released=task.released("table", metric, prompt, system),
        released_noiseless=task.released("table_gold", metric, prompt, system),
        released_perfect=task.released("table", PERFECT, prompt, system),
    )
