"""The diagnosis of one system's judgments under one prompt, or of all systems' within systems."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import PoolMoments
from steelyard.errors import NotEstimableError
from steelyard.study.diagnosis import Diagnosis
from steelyard.study.judged import Cell
from steelyard.study.verdict import verdict
from steelyard.study.within_systems import Labels
from steelyard.variance import Efficiency, JointAnalysis, joint_analysis

__all__ = ["diagnose"]

# How many outputs lack a metric: by system, then by metric.
Gaps = Mapping[str, Mapping[str, int]]

_WITHIN = (
    "within systems: each system's means are taken off its scores and metrics, so differences "
    "between systems do not count"
)
_NO_ALPHA = (
    "alpha is undetermined: all judgments of outputs with two or more are equal, so chance "
    "agreement is complete too"
)


def diagnose(
    cell: Cell,
    metrics: tuple[str, ...],
    pool: PoolMoments | None,
    *,
    systems: Labels | None = None,
    gaps: Gaps | None = None,
    level: float,
    resamples: int,
    rng: np.random.Generator,
) -> Diagnosis:
    """Return the diagnosis of one cell.

    Parameters
    ----------
    cell : Cell
        Judgments with the metrics of their outputs.
    metrics : tuple of str
        Names of the metrics, in the order of the cell's columns.
    pool : PoolMoments or None
        The metrics over the pool, None when there are no metrics. Of no use within systems.
    systems : (M,) array, optional
        The system of each judgment, to diagnose all of them at once but within systems, as it
        counts for the mean of one.
    gaps : mapping, optional
        How many outputs of each system lack a metric. Systems go without the metrics that they
        lack.
    level : float
        Level of all intervals.
    resamples : int
        Bootstrap draws.
    rng : numpy.random.Generator
        Source of randomness.

    Raises
    ------
    NotEstimableError
        If the judgments do not determine the components.
    """
    judged = _Judged(cell, metrics, systems, gaps or {}, level, resamples, rng)
    whole = judged.analysis(judged.complete, pool)
    components, agreement = whole.components, whole.agreement
    notes = [*judged.notes, *components.notes]
    if systems is not None:
        notes.append(_WITHIN)
    if np.isnan(agreement.alpha_interval):
        notes.append(_NO_ALPHA)
    if whole.refusal:
        notes.append(f"metrics are left out: {whole.refusal}")
    found = sorted(judged.metrics(whole), key=lambda one: -one.efficiency.data_efficiency.value)
    together, gap = _together(whole)
    notes.extend(gap)
    best = found[0] if found else None
    used = whole if best is None else best.analysis
    return Diagnosis(
        system=cell.system,
        prompt=cell.prompt,
        item_variance=components.item,
        rater_variance=components.rater,
        noise_ratio=components.noise_ratio,
        metrics={one.name: one.efficiency for one in found},
        together=together,
        agreement=agreement,
        n_outputs=components.n_outputs,
        n_judgments=components.n_judgments,
        n_raters=components.n_raters or 0,
        level=level,
        verdict=verdict(
            used.remedies(None if best is None else best.column, chosen_from=max(len(found), 1)),
            metric=None if best is None else best.name,
            chosen_from=len(found),
            all_repeated=bool((used.sample.count > 1).all()),
        ),
        notes=tuple(notes),
    )


@dataclass(frozen=True, eq=False)
class _Metric:
    """A metric with the analysis that it is part of."""

    name: str
    column: int
    analysis: JointAnalysis
    efficiency: Efficiency


@dataclass(frozen=True, eq=False)
class _Judged:
    """One cell's judgments, and how they are to be looked at."""

    cell: Cell
    names: tuple[str, ...]
    systems: Labels | None
    gaps: Gaps
    level: float
    resamples: int
    rng: np.random.Generator

    @cached_property
    def numbered(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """The systems here, and the number of that of each judgment; names are slow to compare."""
        if self.systems is None:
            return (self.cell.system,), np.zeros(len(self.cell.human), dtype=np.int64)
        names, number = np.unique(self.systems, return_inverse=True)
        return tuple(map(str, names)), number

    def lacking(self, name: str) -> dict[str, int]:
        """Return how many outputs of each system here lack a metric."""
        known = {one: self.gaps.get(one, {}).get(name, 0) for one in self.numbered[0]}
        return {system: count for system, count in known.items() if count}

    @property
    def complete(self) -> list[int]:
        """Columns of metrics that vary and that every output has."""
        return [j for j, name in enumerate(self.names) if not self.lacking(name) and self.varies(j)]

    @property
    def notes(self) -> Iterator[str]:
        """What is to be said about metrics that are left out, here or of some systems."""
        for j, name in enumerate(self.names):
            lacking = self.lacking(name)
            outputs = sum(lacking.values())
            if lacking and self.systems is None:
                yield f"{name} is left out: {outputs} outputs have no value of it"
            elif lacking:
                yield (
                    f"{name} is looked at without {len(lacking)} systems, of which {outputs} "
                    "outputs have no value of it"
                )
            elif not self.varies(j):
                yield f"{name} is constant on the judged outputs and can save nothing"

    def varies(self, column: int, rows: Labels | slice = slice(None)) -> bool:
        """Whether a metric is not constant beyond rounding, as the estimators see it."""
        metric = self.cell.metric[rows, column]
        if len(metric) == 0:
            return False
        centred = metric - metric.mean()
        if self.systems is not None:
            system = self.numbered[1][rows]
            mean = np.bincount(system, weights=centred) / np.maximum(np.bincount(system), 1)
            centred = centred - mean[system]
        return bool(centred.std() > 1e-12 * np.abs(metric).max())

    def analysis(
        self, columns: list[int], pool: PoolMoments | None, rows: Labels | slice = slice(None)
    ) -> JointAnalysis:
        """Fit the components of these rows once, with these metrics."""
        cell, within = self.cell, self.systems
        return joint_analysis(
            cell.human[rows],
            cell.metric[rows][:, columns],
            pool.select(columns) if pool is not None and within is None else None,
            items=cell.items[rows],
            raters=None if cell.raters is None else cell.raters[rows],
            systems=None if within is None else within[rows],
            level=self.level,
            resamples=self.resamples,
            rng=self.rng,
        )

    def metrics(self, whole: JointAnalysis) -> Iterator[_Metric]:
        """Return what each metric saves, those that some systems lack in the other systems."""
        if whole.sample.n_metrics:
            for k, (j, one) in enumerate(zip(self.complete, whole.each(), strict=True)):
                yield _Metric(self.names[j], k, whole, one)
        if self.systems is None:
            return
        for j, name in enumerate(self.names):
            lacking = self.lacking(name)
            rows = ~np.isin(self.systems, list(lacking))
            if not lacking or not self.varies(j, rows):
                continue
            try:
                part = self.analysis([j], None, rows)
            except NotEstimableError:
                continue
            yield from (_Metric(name, 0, part, one) for one in part.each())


def _together(whole: JointAnalysis) -> tuple[Efficiency | None, tuple[str, ...]]:
    """Return what several metrics do at once, or a note on why that is not known."""
    if whole.sample.n_metrics < 2:
        return None, ()
    try:
        return whole.together(), ()
    except NotEstimableError as error:
        return None, (f"all metrics together are left out: {error}",)
