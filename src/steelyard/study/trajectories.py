"""The trajectory of each system under each prompt."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import NotEstimableError
from steelyard.records import names_of
from steelyard.results import Results
from steelyard.single.trajectory import Trajectory, trajectory
from steelyard.study.judged import judged_table
from steelyard.study.recorded_draw import check_simply_drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard.study.study import Study

__all__ = ["SystemTrajectory", "Trajectories", "trajectories"]

_COLUMNS = (
    *("system", "prompt", "data_efficiency.corrected.value"),
    *("data_efficiency.noiseless_raters.value", "data_efficiency.perfect_metric.value"),
)


@dataclass(frozen=True, repr=False)
class SystemTrajectory:
    """A trajectory with the names of what it is about."""

    system: str
    prompt: str
    metrics: tuple[str, ...]
    trajectory: Trajectory

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        names = {"system": self.system, "prompt": self.prompt, "metrics": list(self.metrics)}
        return names | self.trajectory.to_dict()

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw interval length against judgments: plain, with the metric, and at the two limits.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        # matplotlib is slow to load
        from steelyard.study.result_plots import plot_trajectory  # noqa: PLC0415

        return plot_trajectory(self, ax)

    def __repr__(self) -> str:
        return f"<SystemTrajectory of {self.system}, prompt {self.prompt}: {self.trajectory}>"

    def _repr_html_(self) -> str:
        return Trajectories([self])._repr_html_()


class Trajectories(Results[SystemTrajectory]):
    """A list of trajectories, one for each prompt and system."""

    def __init__(
        self, found: Iterable[SystemTrajectory] = (), *, columns: Sequence[str] = _COLUMNS
    ) -> None:
        super().__init__(found, columns=columns)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the curves of one system; of several, their data efficiency and the two limits.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        # matplotlib is slow to load
        from steelyard.study.result_plots import plot_trajectories  # noqa: PLC0415

        return plot_trajectories(self, ax)


def trajectories(
    study: "Study",
    metrics: Sequence[str],
    *,
    prompts: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    draws: int = 1000,
    level: float = 0.80,
    seed: int = 0,
) -> Trajectories:
    """Follow the interval of each system as judgments come in.

    Parameters
    ----------
    study : Study
        The finished campaign.
    metrics : str or sequence of str
        Metrics to correct with.
    prompts, systems : str or sequence of str, optional
        Which to follow; all that were judged by default.
    draws, level
        As in `trajectory`.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    Trajectories

    Raises
    ------
    NotEstimableError
        If outputs were not drawn simply at random, or judgments do not tell.
    """
    metrics, prompts, systems = names_of(metrics), names_of(prompts), names_of(systems)
    check_simply_drawn(study.judgments, prompts, systems)
    table = judged_table(study.outputs, study.judgments, metrics)
    pools = study.outputs.pool_moments(metrics)
    found = []
    for prompt, system in study.judged_pairs(prompts, systems):
        cell = table.cell(prompt, system)
        try:
            followed = trajectory(
                cell.human,
                cell.metric,
                pools[system],
                items=cell.items,
                draws=draws,
                level=level,
                rng=np.random.default_rng(seed),
            )
        except NotEstimableError as error:
            raise NotEstimableError(f"prompt {prompt!r}, system {system!r}: {error}") from error
        found.append(SystemTrajectory(system, prompt, tuple(metrics), followed))
    return Trajectories(found)
