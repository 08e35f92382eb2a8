"""Trajectories of every setting, and the data efficiencies that come out of them (figure 6)."""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Protocol, TypeVar

import numpy as np

from steelyard.paper.names import Setting
from steelyard.paper.release import PaperTask, Release
from steelyard.single.trajectory import Trajectory, trajectory

__all__ = ["Followed", "Tracker", "follow", "untracked"]

Item = TypeVar("Item")

# The authors' name of the metric that is the mean judgment itself.
_PERFECT = "gold"


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
    released, released_noiseless, released_perfect : float or None
        Their mean ratio of interval lengths, not squared: with the metric; the same with mean judgments
        in place of judgments; with mean judgments in place of the metric.
    """

    trajectory: Trajectory
    released: float | None
    released_noiseless: float | None
    released_perfect: float | None


def follow(
    release: Release, *, draws: int, seed: int, tracked: Tracker = untracked
) -> list[Followed]:
    """Follow every system under every prompt with every metric.

    The seed and the names of a setting seed its draws: it does not depend on which others are followed.
    """
    settings = [
        (task, *names)
        for task in release.tasks
        for names in product(task.prompts, task.systems, task.metrics)
    ]
    return [
        _followed(*setting, draws=draws, seed=seed)
        for setting in tracked(settings, what="trajectories", total=len(settings))
    ]


def _followed(
    task: PaperTask, prompt: str, system: str, metric: str, *, draws: int, seed: int
) -> Followed:
    lines = task.under(prompt, system)
    name = f"{task.name}/{prompt}/{system}/{metric}"
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    scores = lines.metrics[metric][lines.line]
    return Followed(
        *(task.name, prompt, system, metric),
        trajectory=trajectory(lines.human, scores, items=lines.line, draws=draws, rng=rng),
        released=task.released("table", metric, prompt, system),
        released_noiseless=task.released("table_gold", metric, prompt, system),
        released_perfect=task.released("table", _PERFECT, prompt, system),
    )
