"""A study: a campaign's outputs and judgments, and the questions people ask of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from steelyard.arrays import PoolMoments
from steelyard.data import Judgments, Outputs
from steelyard.data.gaps import Fill
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate import (
    Interval,
    Options,
    Raters,
    SlopeKind,
    Target,
)
from steelyard.names import known_names
from steelyard.records import names_of
from steelyard.study import (
    mean_replay,
    monitoring,
    pair_replay,
    planning,
    race,
    race_replay,
    sampling,
    simulation,
    trajectories,
)
from steelyard.study.balance import balance_notes
from steelyard.study.cell_diagnosis import Gaps, diagnose, refused
from steelyard.study.comparison import Comparison, check_pairs, compare
from steelyard.study.comparisons import Comparisons
from steelyard.study.diagnosis import Diagnoses
from steelyard.study.estimate_table import estimates
from steelyard.study.estimates import Estimates
from steelyard.study.estimation import Asked
from steelyard.study.judged import Cell, judged_table
from steelyard.study.preference_comparison import compare_preferences
from steelyard.study.recorded_draw import check_simply_drawn
from steelyard.study.scope import Scope
from steelyard.study.study_files import StudyFiles
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
    notes : tuple of str
        What was taken for granted, filled or left out while they were read.

    Examples
    --------
    >>> import polars as pl
    >>> outputs = pl.DataFrame({"item": range(8), "system": "s", "length": range(8)})
    >>> judgments = pl.DataFrame(
    ...     {"item": [0, 2, 4, 5, 7], "system": "s", "rater": "r", "prompt": "p",
    ...      "score": [0, 1, 1, 2, 3]}
    ... )
    >>> found = Study.read(outputs, judgments).estimate(["length"])
    >>> round(found["s"].estimate, 3), found["s"].n_outputs, found["s"].pool_size
    (1.379, 5, 8)
    >>> Study.read(outputs).sample(3, seed=1).frame.height
    3
    """

    outputs: Outputs
    judgments: Judgments
    notes: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        outputs: Any,
        judgments: Any = None,
        *,
        columns: Mapping[str, str] | None = None,
        metrics: Sequence[str] | None = None,
        on_duplicate: Literal["error", "first", "last"] = "error",
        prompts: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        exclude_systems: Sequence[str] | None = None,
        fill: Fill | str | float | None = None,
        separator: str | Mapping[str, str] | None = None,
        decimal: str | Mapping[str, str] | None = None,
    ) -> Self:
        """Read a study from files or data frames.

        Parameters
        ----------
        outputs, judgments : path or data frame
            As `read_outputs` and `read_judgments` take them. Before the campaign there are no
            judgments, and none are needed to draw a sample.
        columns : mapping, optional
            The name of each of our columns in these files, where it differs; ``outputs:item`` and
            ``judgments:item`` are for one file only.
        metrics : str or sequence of str, optional
            Columns to use as metrics; all numeric ones by default.
        on_duplicate : {"error", "first", "last"}
            Which of two judgments of one output by one rater under one prompt to keep.
        prompts : str or sequence of str, optional
            Read the judgments under these prompts only.
        systems : str or sequence of str, optional
            The systems that will be asked about. Others are read too, because they lend what they
            know, unless something is wrong with them: then they are left out, with a note.
        exclude_systems : str or sequence of str, optional
            Leave out these systems before anything is checked.
        fill
            As in `read_outputs`.
        separator, decimal : str or mapping
            As in `read_outputs`; or by file, ``outputs`` and ``judgments``.
        """
        files = StudyFiles(
            outputs,
            judgments,
            columns=columns or {},
            metrics=names_of(metrics),
            on_duplicate=on_duplicate,
            prompts=names_of(prompts),
            exclude_systems=names_of(exclude_systems),
            fill=fill,
            separator=separator,
            decimal=decimal,
        )
        return cls(*files.read(names_of(systems)))

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
        average: Mapping[str, float] | None = None,
        by: str | None = None,
        bands: Sequence[float] | None = None,
        weights: Mapping[str, float] | None = None,
        other_systems: bool = False,
        ledger: bool = False,
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
        average : mapping of str to float, optional
            The weights of several prompts, which are averaged and then estimated as one.
        by : str, optional
            Column of the outputs that divides them into slices: an estimate of each.
        bands : sequence of float, optional
            Where a column `by` of numbers is cut; into three bands of one size by default, unless it
            has ten values or fewer.
        weights : mapping of str to float, optional
            The weight of each slice, adding up to 1: an estimate under that mix of slices.
        other_systems : bool
            Whether to correct by other systems' judgments of the same items too. Needs texts, and
            systems that were drawn each on its own.
        ledger : bool
            Whether to tell how many judgments plain means would need for the same intervals, and what
            saved them.

        Returns
        -------
        Estimates
            A list; systems without an estimate are in its `left_out`, with the reason.

        Notes
        -----
        Outputs that were drawn by strata or with unequal probabilities are weighted as they were
        drawn. A system whose metrics cannot correct its mean gets the plain mean, with a note.
        """
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
            other_systems=other_systems,
            ledger=ledger,
        )
        scope = Scope(average=average, by=by, bands=bands, weights=weights)
        names = self.metrics if metrics is None else names_of(metrics)
        return estimates(
            self,
            asked,
            scope,
            metrics=names,
            prompts=names_of(prompts),
            systems=names_of(systems),
            sample=sample,
            cluster_by=cluster_by,
        )

    def compare(
        self,
        metrics: Sequence[str] | None = None,
        *,
        prompts: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        pair: tuple[str, str] | None = None,
        baseline: str | None = None,
        margin: float | None = None,
        target: Literal["pool", "superpopulation"] = "pool",
        raters_as: Raters | None = None,
        level: float = 0.95,
        rater_variance: float | None = None,
        seed: int = 0,
        cluster_by: str | None = None,
        average: Mapping[str, float] | None = None,
        by: str | None = None,
        bands: Sequence[float] | None = None,
        weights: Mapping[str, float] | None = None,
        ledger: bool = False,
    ) -> Comparisons:
        """Compare systems: which is better, by how much, and how sure that is.

        Parameters
        ----------
        metrics, prompts, systems, target, raters_as, level, rater_variance
            As in `estimate`.
        cluster_by, average, by, bands, weights, ledger
            As in `estimate`.
        pair : (str, str), optional
            Compare these two only.
        baseline : str, optional
            Compare every other system with this one only.
        margin : float, optional
            Differences within it count as equivalent.
        seed : int
            Seed of the simulated joint distribution of all differences.

        Returns
        -------
        Comparisons
            A list, one for each prompt, and for each slice of it; a `PreferenceComparison`, with wins, ties,
            losses and strengths, where the prompt asks which of two outputs is better. Pairs are
            compared on the items that they share, identical outputs count as exactly equal, and
            intervals are given for each pair alone and for all pairs in all slices together.
        """
        prompts, systems = names_of(prompts), names_of(systems)
        scope = Scope(average=average, by=by, bands=bands, weights=weights)
        self.check_judged(prompts, systems)
        study, notes = scope.study(self, prompts, raters_as)
        chosen = study.systems if systems is None else systems
        pairs = None
        if pair is not None and baseline is not None:
            raise InvalidArgumentError("`pair` and `baseline` exclude each other: give one of them")
        if pair is not None:
            pairs = [(str(pair[0]), str(pair[1]))]
        elif baseline is not None:
            pairs = [(one, baseline) for one in chosen if one != baseline]
        check_pairs(pairs or [], margin, self.systems)
        options = Options(
            target=target,
            raters_as="fixed",
            level=level,
            rater_variance=rater_variance,
            ledger=ledger,
        )
        names = self.metrics if metrics is None else names_of(metrics)
        asked = study.prompts if prompts is None else prompts
        preferred = [one for one in asked if one in study.judgments.preference_prompts]
        if preferred and (by is not None or cluster_by is not None):
            raise InvalidArgumentError(
                f"`{'by' if by is not None else 'cluster_by'}` cannot go with prompt {preferred[0]!r}, "
                "which asks for preferences: choose other prompts"
            )
        settings: dict[str, Any] = {"systems": chosen, "margin": margin, "raters_as": raters_as}
        settings |= {"options": options, "seed": seed}
        found: list[Comparison] = [
            compare_preferences(study, prompt, names, pairs, **settings) for prompt in preferred
        ]
        scored = [one for one in asked if one not in preferred]
        if scored:
            found += compare(
                study.without_preferences(),
                names,
                pairs,
                prompts=scored,
                cluster_by=cluster_by,
                slices=scope.slices(self.outputs, names),
                **settings,
            )
        found.sort(key=lambda one: asked.index(one.prompt))
        return Comparisons(replace(one, notes=(*notes, *one.notes)) for one in found)

    def diagnose(
        self,
        metrics: Sequence[str] | None = None,
        *,
        prompts: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        level: float = 0.95,
        resamples: int = 1000,
        seed: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> Diagnoses:
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
        Diagnoses
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
        kind: Literal["keep", "refuse"] = "keep" if gaps else "refuse"
        pools = self.outputs.pool_moments(names, gaps=kind) if names else {}
        cells: list[tuple[Cell, PoolMoments | None, Labels | None]] = []
        wanted = self.judged_pairs(prompts, systems)
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
        return Diagnoses(found)

    def report(self, path: str | PathLike[str], **options: Any) -> Path:
        """Write a report as one HTML file; `options` are those of `steelyard.report.write_report`.

        Parameters
        ----------
        path : path
            File to write.
        **options
            ``metrics``, ``prompts``, ``systems``, ``level``, ``title``.

        Returns
        -------
        pathlib.Path
            The file.
        """
        # Figures are drawn only when somebody asks for them.
        from steelyard.report import write_report  # noqa: PLC0415

        return write_report(self, path, **options)

    def without_preferences(self) -> "Study":
        """Return the study with the judgments that are scores."""
        asked = self.judgments.preference_prompts
        if not asked:
            return self
        return Study(self.outputs, self.judgments.filter(~pl.col("prompt").is_in(list(asked))))

    # Each is a function of its own module, whose first argument is the study.
    plan = planning.plan
    sample = sampling.sample
    monitor = monitoring.monitor
    race = race.race
    simulate = simulation.simulate
    simulate_means = mean_replay.simulate_means
    simulate_pair = pair_replay.simulate_pair
    simulate_race = race_replay.simulate_race
    trajectories = trajectories.trajectories

    def only_prompt(self, prompt: str | None) -> str:
        """Return the prompt that was asked for, or else the only one.

        Raises
        ------
        InvalidArgumentError
            If none was asked for and there are several.
        """
        if prompt is None:
            self.check_judged(None, None)
            if len(self.prompts) > 1:
                raise InvalidArgumentError(
                    f"`prompt` (--prompt) must be chosen; there are: {', '.join(self.prompts)}"
                )
        found = self.prompts[0] if prompt is None else prompt
        if found in self.judgments.preference_prompts:
            raise _about_pairs(found)
        return found

    def check_judged(self, prompts: Sequence[str] | None, systems: Sequence[str] | None) -> None:
        """Raise unless there are judgments under these prompts and of these systems.

        Raises
        ------
        InvalidArgumentError
            If one has none; the message names those that have.
        NotEstimableError
            If there are no judgments at all.
        """
        if not len(self.judgments):
            raise NotEstimableError(
                "there are no judgments yet: draw a sample (steelyard sample), have it judged, and "
                "pass the judgments"
            )
        for name, asked, known in (
            ("prompt", prompts, self.prompts),
            ("system", systems, self.systems),
        ):
            under = f" under {', '.join(prompts)}" if name == "system" and prompts else ""
            for one in asked or ():
                if one not in known:
                    raise InvalidArgumentError(
                        f"{name} {one!r} has no judgments{under} in {self.judgments.name}; "
                        f"{known_names(one, known)}"
                    )

    def judged_pairs(
        self, prompts: Sequence[str] | None, systems: Sequence[str] | None
    ) -> list[tuple[str, str]]:
        """Return the pairs of prompt and system to look at, in order of first appearance.

        Raises
        ------
        NotEstimableError
            If all prompts ask for preferences, which are about two systems.
        """
        self.check_judged(prompts, systems)
        preferred = self.judgments.preference_prompts
        asked = [one for one in (prompts or self.prompts) if one not in preferred]
        if not asked:
            raise _about_pairs((prompts or self.prompts)[0])
        judged = set(self.judgments.frame.select("prompt", "system").unique().rows())
        return [
            (prompt, system)
            for prompt in asked
            for system in (self.systems if systems is None else systems)
            if (prompt, system) in judged
        ]


def _about_pairs(prompt: str) -> NotEstimableError:
    return NotEstimableError(
        f"prompt {prompt!r} asks which of two outputs is better: use `steelyard compare`, which counts wins, "
        "ties and losses"
    )


@contextmanager
def _about(prompt: str, system: str) -> Iterator[None]:
    """Say whose estimate it was that failed."""
    try:
        yield
    except NotEstimableError as error:
        raise NotEstimableError(f"prompt {prompt!r}, system {system!r}: {error}") from error
