"""A study: a campaign's outputs and judgments, and the questions people ask of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from steelyard.arrays import PoolMoments
from steelyard.data import Judgments, Outputs, read_judgments, read_outputs
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate import (
    Estimate,
    Interval,
    Raters,
    SlopeKind,
    Target,
    trajectory,
)
from steelyard.records import names_of
from steelyard.study.balance import balance_notes, with_balance_notes
from steelyard.study.cell_diagnosis import Gaps, diagnose, refused
from steelyard.study.diagnosis import Diagnosis
from steelyard.study.draw_order import with_gap_notes
from steelyard.study.estimates import Estimates
from steelyard.study.estimation import Asked
from steelyard.study.judged import Cell, drawn_table, judged_table
from steelyard.study.recorded_draw import check_simply_drawn, is_designed
from steelyard.study.score_bounds import check_bounds
from steelyard.study.trajectories import SystemTrajectory
from steelyard.study.within_systems import Labels, systems_of

__all__ = ["Study"]


@dataclass(frozen=True, eq=False)
class Study:
    """The outputs of one or more systems and the judgments of some of them.

    Attributes
    ----------
    outputs : Outputs
        The pool of every system.
    judgments : Judgments
        The judgments.

    Examples
    --------
    >>> import polars as pl
    >>> outputs = pl.DataFrame({"item": range(8), "system": "s", "length": range(8)})
    >>> judgments = pl.DataFrame(
    ...     {"item": [0, 2, 4, 5, 7], "system": "s", "rater": "r", "prompt": "p",
    ...      "score": [0, 1, 1, 2, 3]}
    ... )
    >>> [found] = Study.read(outputs, judgments).estimate()
    >>> round(found.estimate, 3), found.n_outputs, found.pool_size
    (1.391, 5, 8)
    """

    outputs: Outputs
    judgments: Judgments
    _known_pools: dict[tuple[str, ...], dict[str, PoolMoments]] = field(
        default_factory=dict, init=False, repr=False
    )

    @classmethod
    def read(
        cls,
        outputs: Any,
        judgments: Any,
        *,
        columns: Mapping[str, str] | None = None,
        metrics: Sequence[str] | None = None,
        on_duplicate: Literal["error", "first", "last"] = "error",
    ) -> Self:
        """Read a study from files or data frames.

        Parameters
        ----------
        outputs, judgments : path or data frame
            As `read_outputs` and `read_judgments` take them.
        columns : mapping, optional
            The name of each of our columns in these files, where it differs.
        metrics : str or sequence of str, optional
            Columns to use as metrics; all numeric ones by default.
        on_duplicate : {"error", "first", "last"}
            Which of two judgments of one output by one rater under one prompt to keep.
        """
        judged = read_judgments(judgments, columns=columns, on_duplicate=on_duplicate)
        pool = read_outputs(outputs, columns=columns, metrics=names_of(metrics))
        known = {*judged.frame.columns, *pool.columns}
        for ours in columns or {}:
            if ours not in known:
                raise InvalidArgumentError(
                    f"column {ours!r} is mapped but found in neither {pool.name} nor {judged.name}"
                )
        return cls(pool, judged)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics known on every output."""
        return self.outputs.metrics

    @property
    def prompts(self) -> tuple[str, ...]:
        """Prompts that were judged."""
        return self.judgments.prompts

    @property
    def systems(self) -> tuple[str, ...]:
        """Systems that were judged."""
        return self.judgments.systems

    @cached_property
    def imbalances(self) -> Mapping[tuple[str, str], str]:
        """What is to be said, by prompt and system, where judged outputs do not look like the pool."""
        return balance_notes(self.outputs, self.judgments)

    def estimate(
        self,
        metrics: Sequence[str] | None = None,
        *,
        prompts: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        slope: SlopeKind | Literal["learned"] | ArrayLike = "learned",
        target: Target = "pool",
        raters_as: Raters | None = None,
        level: float = 0.95,
        interval: Interval | None = None,
        bounds: tuple[float, float] | None = None,
        rater_variance: float | None = None,
        resamples: int = 10_000,
        seed: int = 0,
        sample: pl.DataFrame | None = None,
        cluster_by: str | None = None,
    ) -> Estimates:
        """Estimate the mean human score of each system under each prompt.

        Parameters
        ----------
        metrics : str or sequence of str, optional
            Metrics to correct with; all of them by default, and none for the plain mean.
        prompts, systems : str or sequence of str, optional
            Which to estimate; all that were judged by default. All systems lend what they know.
        slope : str or numbers
            "learned" (default): one control from all metrics, learned from the judgments of all
            systems. Or one of `control_variates`, for each system apart; "pooled" takes the slope
            from the other systems.
        target, level, bounds, rater_variance, resamples
            As in `control_variates`.
        raters_as : {"fixed", "random", "adjusted"}, optional
            As in `control_variates`. By default raters are a sample where at least five are known,
            and a learned control comes with their leniency taken out.
        interval : str, optional
            As in `control_variates`. By default Student's and, with a learned control, the shape
            that four systems or more have in common.
        seed : int
            Seed of all that is simulated.
        sample : polars.DataFrame, optional
            The drawn sample, when it was not a simple one and the judgments do not carry what the
            draw recorded.
        cluster_by : str, optional
            Column of outputs or judgments that names the cluster of an output, for example its
            document; ``cluster`` by default, if there is one. The interval counts clusters then.

        Returns
        -------
        Estimates
            A list; systems without an estimate are in its `left_out`, with the reason.

        Notes
        -----
        Outputs that were drawn by strata or with unequal probabilities are weighted as they were
        drawn. A system whose metrics cannot correct its mean gets the plain mean, with a note.
        """
        names = self.metrics if metrics is None else names_of(metrics)
        prompts, systems = names_of(prompts), names_of(systems)
        check_bounds(self.judgments, bounds, prompts=prompts, systems=systems)
        wanted = self._wanted(prompts, systems)
        asked = Asked(
            slope=slope,
            target=target,
            raters_as=raters_as,
            level=level,
            interval=interval,
            bounds=bounds,
            rater_variance=rater_variance,
            resamples=resamples,
            seed=seed,
        )
        table = drawn_table(
            self.outputs, self.judgments, names, sample=sample, cluster_by=cluster_by
        )
        estimator = asked.estimator(self.outputs, table)
        found: list[Estimate] = []
        left_out: dict[tuple[str, str], str] = {}
        for prompt, system in wanted:
            one = estimator(prompt, system)
            if isinstance(one, Estimate):
                found.append(one)
            else:
                left_out[prompt, system] = str(one)
        if left_out and not found:
            (prompt, system), reason = next(iter(left_out.items()))
            raise NotEstimableError(
                f"prompt {prompt!r}, system {system!r}: {reason}", reasons=left_out
            )
        if not is_designed(self.judgments, sample):
            found = with_balance_notes(found, self.imbalances)
        return Estimates(with_gap_notes(found, self.judgments, sample), left_out)

    def diagnose(
        self,
        metrics: Sequence[str] | None = None,
        *,
        prompts: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        level: float = 0.95,
        resamples: int = 2000,
        seed: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Diagnosis]:
        """Diagnose raters and metrics, for each system and for all at once, within systems.

        Parameters
        ----------
        metrics : str or sequence of str, optional
            Metrics to look at; all by default.
        prompts, systems : str or sequence of str, optional
            Which to diagnose; all that were judged by default.
        level : float
            Level of all intervals.
        resamples : int
            Bootstrap draws.
        seed : int
            Seed of the bootstrap.
        progress : callable, optional
            Called with the number of diagnoses made and that of all.

        Returns
        -------
        list of Diagnosis
            One for each prompt and system, and one with system ``*`` for each prompt with several
            systems. Where a system's judgments do not allow one, it has a `refusal`.

        Raises
        ------
        NotEstimableError
            If outputs were not drawn simply at random, or no judgments allow a diagnosis.
        """
        prompts, systems = names_of(prompts), names_of(systems)
        check_simply_drawn(self.judgments, prompts, systems)
        names = self.metrics if metrics is None else names_of(metrics)
        gaps: Gaps = self.outputs.metric_gaps(names) if names else {}
        table = judged_table(self.outputs, self.judgments, names, gaps=bool(gaps))
        pools = self.outputs.pool_moments(names, gaps="keep") if gaps else self._pools(names)
        cells: list[tuple[Cell, PoolMoments | None, Labels | None]] = []
        wanted = self._wanted(prompts, systems)
        for prompt in dict.fromkeys(prompt for prompt, _ in wanted):
            chosen = [system for asked, system in wanted if asked == prompt]
            cells.extend((table.cell(prompt, one), pools.get(one), None) for one in chosen)
            if len(chosen) > 1:
                own = systems_of(table, prompt, chosen)
                cells.append((table.all_systems(prompt, chosen), None, own))
        found, errors = [], []
        for cell, pool, within in cells:
            try:
                with _about(cell.prompt, cell.system):
                    one = diagnose(
                        cell,
                        names,
                        pool,
                        systems=within,
                        gaps=gaps,
                        level=level,
                        resamples=resamples,
                        rng=np.random.default_rng(seed),
                    )
            except NotEstimableError as error:
                errors.append(error)
                one = refused(cell, str(error.__cause__), level=level)
            found.append(one)
            if progress is not None:
                progress(len(found), len(cells))
        if len(errors) == len(found) > 0:
            reasons = {(one.prompt, one.system): str(one.refusal) for one in found}
            raise NotEstimableError(str(errors[0]), reasons=reasons) from errors[0].__cause__
        return found

    def trajectories(
        self,
        metrics: Sequence[str],
        *,
        prompts: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        draws: int = 1000,
        level: float = 0.80,
        seed: int = 0,
    ) -> list[SystemTrajectory]:
        """Follow the interval of each system as judgments come in.

        Parameters
        ----------
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
        list of SystemTrajectory

        Raises
        ------
        NotEstimableError
            If outputs were not drawn simply at random, or judgments do not tell.
        """
        metrics, prompts, systems = names_of(metrics), names_of(prompts), names_of(systems)
        check_simply_drawn(self.judgments, prompts, systems)
        table = judged_table(self.outputs, self.judgments, metrics)
        pools = self._pools(tuple(metrics))
        found = []
        for prompt, system in self._wanted(prompts, systems):
            cell = table.cell(prompt, system)
            with _about(prompt, system):
                followed = trajectory(
                    cell.human,
                    cell.metric,
                    pools[system],
                    items=cell.items,
                    draws=draws,
                    level=level,
                    rng=np.random.default_rng(seed),
                )
            found.append(SystemTrajectory(system, prompt, tuple(metrics), followed))
        return found

    def _pools(self, metrics: tuple[str, ...]) -> dict[str, PoolMoments]:
        """Return each system's moments; a pool is read once, however often it is asked about."""
        if metrics not in self._known_pools:
            self._known_pools[metrics] = self.outputs.pool_moments(metrics) if metrics else {}
        return self._known_pools[metrics]

    def check_judged(self, prompts: Sequence[str] | None, systems: Sequence[str] | None) -> None:
        """Raise unless there are judgments under these prompts and of these systems.

        Raises
        ------
        InvalidArgumentError
            If one has none; the message names those that have.
        """
        for name, asked, known in (
            ("prompt", prompts, self.prompts),
            ("system", systems, self.systems),
        ):
            for one in asked or ():
                if one not in known:
                    raise InvalidArgumentError(
                        f"{name} {one!r} has no judgments in {self.judgments.name}; "
                        f"there are: {', '.join(known)}"
                    )

    def _wanted(
        self, prompts: Sequence[str] | None, systems: Sequence[str] | None
    ) -> list[tuple[str, str]]:
        """Return the pairs of prompt and system to look at, in order of first appearance."""
        self.check_judged(prompts, systems)
        judged = self.judgments.frame.select("prompt", "system").unique().rows()
        return [
            (prompt, system)
            for prompt in (self.prompts if prompts is None else prompts)
            for system in (self.systems if systems is None else systems)
            if (prompt, system) in set(judged)
        ]


@contextmanager
def _about(prompt: str, system: str) -> Iterator[None]:
    """Say whose estimate it was that failed."""
    try:
        yield
    except NotEstimableError as error:
        raise NotEstimableError(f"prompt {prompt!r}, system {system!r}: {error}") from error
