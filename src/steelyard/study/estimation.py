"""From what is asked for to estimates: of a whole campaign, or of each system apart."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from steelyard.arrays import PoolMoments, judged_outputs
from steelyard.data import Outputs
from steelyard.errors import InvalidArgumentError, NotEstimableError
from steelyard.estimate import (
    Estimate,
    Interval,
    Options,
    Raters,
    SlopeKind,
    Target,
    corrected_mean,
    plain_mean,
)
from steelyard.estimate.repeats import Repeats
from steelyard.study.campaign import Campaign, rater_mode
from steelyard.study.judged import JudgedTable, judged_arrays
from steelyard.study.recorded_draw import DrawnCell, drawn_cell
from steelyard.study.slice_estimates import slice_estimates
from steelyard.study.slices import Slices

__all__ = ["Asked"]

# The estimates of a system by the name of the slice, None for the whole pool.
Found = Mapping[str | None, Estimate | NotEstimableError]
Answer = Callable[[str, str], Found]


@dataclass(frozen=True, kw_only=True, eq=False)
class Asked:
    """The options of `Study.estimate`, by its names; None where the default depends on others."""

    slope: SlopeKind | Literal["learned"] | ArrayLike
    target: Target
    raters_as: Raters | None
    level: float
    interval: Interval | None
    bounds: tuple[float, float] | None
    rater_variance: float | None
    resamples: int
    seed: int
    ledger: bool = False
    other_systems: bool = False

    @property
    def learned(self) -> bool:
        """Whether the control is learned from the whole campaign."""
        return isinstance(self.slope, str) and self.slope == "learned"

    def estimator(
        self, outputs: Outputs, table: JudgedTable, slices: Slices | None = None
    ) -> Answer:
        """Return what gives the estimates of a system under a prompt, or why there is none."""
        interval = self.interval or "student"
        if self.other_systems and not (self.learned and interval == "student" and slices is None):
            raise InvalidArgumentError(
                '`other_systems` (--other-systems) goes with slope "learned", interval "student" and no '
                "slices: leave out the other"
            )
        if self.learned and interval == "student":
            return self._of_campaign(outputs, table, slices)
        if slices is not None:
            raise InvalidArgumentError(
                '`by` needs slope "learned" and interval "student": leave out `slope` and `interval`'
            )
        if self.learned and table.metrics:
            raise InvalidArgumentError(
                f'`interval` must be "student" with slope "learned"; got {interval!r}: name another '
                'slope, for example "least-squares", or no metric'
            )
        pools, gaps = _whole_pools(outputs, table.metrics)
        alone: SlopeKind | ArrayLike = "least-squares" if self.learned else self.slope

        def of_system(prompt: str, system: str) -> Found:
            options, notes = self._options(table, prompt, interval, adjusted="random")
            estimator = SystemEstimator(outputs, table, pools, gaps, alone, options)
            try:
                found = estimator.estimate(prompt, system, seed=self.seed)
            except NotEstimableError as error:
                return {None: error}
            return {None: replace(found, notes=(*found.notes, *notes))}

        return of_system

    def _of_campaign(self, outputs: Outputs, table: JudgedTable, slices: Slices | None) -> Answer:
        gaps = outputs.metric_gaps(table.metrics) if table.metrics else {}
        pools = {}
        if table.metrics:
            pools = outputs.pool_moments(table.metrics, gaps="fill" if gaps else "refuse")
        campaign = Campaign(outputs, table, pools, gaps)
        known: dict[str, Mapping[str, Found]] = {}

        def of_prompt(prompt: str) -> Mapping[str, Found]:
            options, notes = self._options(table, prompt, "student", adjusted="adjusted")
            if slices is not None:
                cut = slice_estimates(
                    campaign, slices, prompt, options=options, notes=notes, seed=self.seed
                )
                return {system: dict(own.items()) for system, own in cut.items()}
            whole = campaign.estimates(
                prompt,
                options=options,
                notes=notes,
                seed=self.seed,
                other_systems=self.other_systems,
            )
            return {system: {None: one} for system, one in whole.items()}

        def of_system(prompt: str, system: str) -> Found:
            if prompt not in known:
                known[prompt] = of_prompt(prompt)
            return known[prompt][system]

        return of_system

    def _options(
        self, table: JudgedTable, prompt: str, interval: Interval, *, adjusted: Raters
    ) -> tuple[Options, tuple[str, ...]]:
        raters_as = self.raters_as
        if self.target == "census" or interval == "betting":
            raters_as = raters_as or "fixed"
        raters_as, notes = rater_mode(table, prompt, raters_as, adjusted=adjusted)
        options = Options(
            target=self.target,
            raters_as=raters_as,
            level=self.level,
            interval=interval,
            bounds=self.bounds,
            rater_variance=self.rater_variance,
            resamples=self.resamples,
            ledger=self.ledger,
        )
        return options, notes


@dataclass(frozen=True, eq=False)
class SystemEstimator:
    """Estimates systems one by one; the trouble of one stays its own.

    Attributes
    ----------
    outputs : Outputs
        The pool of every system.
    table : JudgedTable
        All judgments: lends a slope ("pooled") and, where no output of a simple draw has two
        judgments, a rater variance.
    pools : mapping of str to PoolMoments
        Each system's moments of the metrics that all its outputs have.
    gaps : mapping of str to mapping of str to int
        The metrics that a system lacks, and on how many outputs.
    slope : str or array
        As in `control_variates`.
    options : Options
        Everything else.
    """

    outputs: Outputs
    table: JudgedTable
    pools: Mapping[str, PoolMoments]
    gaps: Mapping[str, Mapping[str, int]]
    slope: SlopeKind | ArrayLike
    options: Options
    _lent: dict[str, Repeats | None] = field(default_factory=dict, init=False)

    def estimate(self, prompt: str, system: str, *, seed: int) -> Estimate:
        """Return the estimate of a system, by the plain mean if metrics cannot correct it.

        Raises
        ------
        NotEstimableError
            If the plain mean has no interval either.
        """
        gaps = self.gaps.get(system, {})
        metrics = self._metrics(system)
        notes = tuple(
            f"metric {name} is missing on {count} of {self.outputs.sizes[system]} outputs and is "
            "not used for this system"
            for name, count in gaps.items()
        )
        rows = self.table.of(prompt, system)
        cell = drawn_cell(rows, metrics, size=self.outputs.sizes[system])
        # Each cell starts from the seed, so that it does not depend on what else was asked for.
        options = replace(self._with_lent(prompt, cell), rng=np.random.default_rng(seed))
        found = None
        if metrics and not (gaps and not isinstance(self.slope, str)):
            try:
                found = self._corrected(prompt, system, cell, options)
            except NotEstimableError as error:
                notes = (*notes, f"plain mean only: {error}")
                options = replace(options, rng=np.random.default_rng(seed))
        if found is None:
            found = plain_mean(cell.sample, cell.draw, options=options)
            metrics = ()
        found = replace(found, notes=(*cell.notes, *notes, *found.notes))
        return found.named(system=system, prompt=prompt, metrics=metrics)

    def _corrected(self, prompt: str, system: str, cell: DrawnCell, options: Options) -> Estimate:
        pool = self.pools[system]
        if not (isinstance(self.slope, str) and self.slope == "pooled"):
            return corrected_mean(cell.sample, cell.draw, pool, slope=self.slope, options=options)
        others = self._others(prompt, system)
        metrics = self._metrics(system)
        result = corrected_mean(
            cell.sample,
            cell.draw,
            pool,
            slope="pooled",
            others=[judged_outputs(*judged_arrays(rows, metrics)) for rows in others],
            options=options,
        )
        own = set(self.table.of(prompt, system)["item"])
        if not any(_drawn_together(own, set(rows["item"]), pool.size) for rows in others):
            return result
        note = (
            "other systems were judged on the same items: a slope pooled over them depends on the same "
            "draw, which biases the estimate in small samples where judgment does not follow the metric "
            'in a straight line; compare with slope "least-squares"'
        )
        return replace(result, notes=(*result.notes, note))

    def _metrics(self, system: str) -> tuple[str, ...]:
        gaps = self.gaps.get(system, {})
        return tuple(name for name in self.table.metrics if name not in gaps)

    def _with_lent(self, prompt: str, cell: DrawnCell) -> Options:
        """Let the second judgments of all systems speak where this one has none."""
        needed = self.options.rater_variance is None and self.options.raters_as == "fixed"
        alone = cell.sample.n_judgments == cell.sample.n_outputs and cell.draw.simple
        if not (needed and alone and self.options.target == "pool"):
            return self.options
        if prompt not in self._lent:
            every = self.table.all_systems(prompt)
            self._lent[prompt] = Repeats.of(
                judged_outputs(every.human, None, every.items), lent=True
            )
        return replace(self.options, lent_repeats=self._lent[prompt])

    def _others(self, prompt: str, system: str) -> list[pl.DataFrame]:
        """Return the other systems' judgments, but for texts that this system produced too.

        Systems that lack a metric of this one cannot lend it a slope.
        """
        shared = _shared_with(self.outputs, system)
        table = self.table if shared is None else self.table.without(shared)
        wanted = set(self._metrics(system))
        others = [
            table.of(prompt, name)
            for name in table.systems
            if name != system and wanted.isdisjoint(self.gaps.get(name, {}))
        ]
        return [rows for rows in others if rows.height]


def _drawn_together(one: set[str], other: set[str], size: int) -> bool:
    """Whether two systems share more judged items than independent draws would by chance."""
    shares = np.array([len(one), len(other)]) / size
    by_chance = size * float(np.prod(shares))
    error = np.sqrt(by_chance * float(np.prod(1 - np.minimum(shares, 1))))
    return bool(len(one & other) > by_chance + 4 * error)


def _shared_with(outputs: Outputs, system: str) -> pl.DataFrame | None:
    if not outputs.has_texts:
        return None
    texts = outputs.rows(columns=["item", "system", "output"])
    own = texts.filter(pl.col("system") == system).select("item", "output")
    others = texts.filter(pl.col("system") != system)
    return others.join(own, on=["item", "output"], how="semi").select("item", "system")


def _whole_pools(
    outputs: Outputs, metrics: tuple[str, ...]
) -> tuple[dict[str, PoolMoments], dict[str, dict[str, int]]]:
    """Return each system's moments of the metrics that all its outputs have, and what it lacks."""
    if not metrics:
        return {}, {}
    gaps = outputs.metric_gaps(metrics)
    if not gaps:
        return outputs.pool_moments(metrics), {}
    kept = outputs.pool_moments(metrics, gaps="keep")
    whole = {
        system: np.flatnonzero(np.isfinite(pool.mean)).tolist() for system, pool in kept.items()
    }
    return {system: pool.select(whole[system]) for system, pool in kept.items()}, gaps
