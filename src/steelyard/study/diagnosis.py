"""Diagnosis: variance components, correlations, data efficiency, and a verdict."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtrit

from steelyard.arrays import PoolMoments
from steelyard.errors import NotEstimableError
from steelyard.study.judged import Cell
from steelyard.study.verdict import verdict
from steelyard.study.within_systems import Labels
from steelyard.variance import (
    Agreement,
    Efficiency,
    Quantity,
    VarianceComponents,
    agreement,
    efficiency_of,
    efficiency_of_each,
    variance_components,
)

__all__ = ["Diagnosis", "diagnose"]

_WITHIN = (
    "within systems: each system's means are taken off its scores and metrics, so differences "
    "between systems do not count"
)
# Resamples beyond the ends of an interval, so that these are not made by chance, and in all.
_TAIL = 20
_MOST_RESAMPLES = 50_000


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What one system's judgments under one prompt tell about raters and metrics.

    Attributes
    ----------
    system, prompt : str
        Whose judgments; system ``*`` is all systems at once, but within each: differences between
        systems do not count.
    item_variance, rater_variance, noise_ratio : Quantity
        Variance components, crossed: outputs and raters each have their own.
    metrics : dict of str to Efficiency
        Each metric alone, the most useful first.
    together : Efficiency or None
        All metrics at once, when there are several; None also where a note says why not.
    agreement : Agreement
        Inter-rater agreement.
    level : float
        Level of all intervals.
    verdict : str
        What it comes to, in plain words.
    notes : tuple of str
        What a reader must know.
    """

    system: str
    prompt: str
    item_variance: Quantity
    rater_variance: Quantity
    noise_ratio: Quantity
    metrics: dict[str, Efficiency]
    together: Efficiency | None
    agreement: Agreement
    n_outputs: int
    n_judgments: int
    n_raters: int
    level: float
    verdict: str
    notes: tuple[str, ...]

    @property
    def best(self) -> str | None:
        """Name of the metric with the greatest data efficiency."""
        return next(iter(self.metrics), None)

    @property
    def perfect_metric(self) -> Quantity:
        """Data efficiency of a metric that is the human score itself."""
        ratio = self.noise_ratio
        return Quantity(*(_perfect(value) for value in (ratio.value, ratio.high, ratio.low)))

    @property
    def noiseless_raters(self) -> Quantity | None:
        """Data efficiency of the best metric if raters always agreed."""
        return None if self.best is None else self.metrics[self.best].noiseless_raters

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        noiseless = self.noiseless_raters
        return {
            "system": self.system,
            "prompt": self.prompt,
            "item_variance": self.item_variance.to_dict(),
            "rater_variance": self.rater_variance.to_dict(),
            "noise_ratio": self.noise_ratio.to_dict(),
            "metrics": {name: _usefulness(found) for name, found in self.metrics.items()},
            "together": None if self.together is None else _usefulness(self.together),
            "limits": {
                "perfect_metric": self.perfect_metric.to_dict(),
                "noiseless_raters": None if noiseless is None else noiseless.to_dict(),
            },
            "agreement": {
                key: value for key, value in asdict(self.agreement).items() if key != "notes"
            },
            "n_outputs": self.n_outputs,
            "n_judgments": self.n_judgments,
            "n_raters": self.n_raters,
            "level": self.level,
            "verdict": self.verdict,
            "notes": list(self.notes),
        }


def diagnose(
    cell: Cell,
    metrics: tuple[str, ...],
    pool: PoolMoments | None,
    *,
    systems: Labels | None = None,
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
    level : float
        Level of all intervals.
    resamples : int
        Bootstrap resamples.
    rng : numpy.random.Generator
        Source of randomness.
    """
    samples = _Samples(cell, systems, level=level, resamples=resamples, rng=rng)
    varying = samples.varying
    notes = [
        f"{metrics[j]} is constant on the judged outputs and can save nothing"
        for j in range(len(metrics))
        if j not in varying
    ]
    components = samples.components()
    notes.extend(components.notes)
    if systems is not None:
        notes.append(_WITHIN)
    found: dict[str, Efficiency] = {}
    together, surely = None, None
    if varying and pool is not None:
        each = samples.each(varying, pool)
        found = _ranked([metrics[j] for j in varying], each)
        together, gap = samples.together(varying, pool)
        notes.extend(gap)
    best = next(iter(found), None)
    if best is not None and pool is not None:
        surely = found[best].data_efficiency
        if len(found) > 1:
            surely = samples.best_of_many(len(found), metrics.index(best), pool)
    return Diagnosis(
        system=cell.system,
        prompt=cell.prompt,
        item_variance=components.item,
        rater_variance=components.rater,
        noise_ratio=components.noise_ratio,
        metrics=found,
        together=together,
        agreement=agreement(cell.human, cell.items, cell.raters),
        n_outputs=components.n_outputs,
        n_judgments=components.n_judgments,
        n_raters=len(np.unique(cell.raters)),
        level=level,
        verdict=verdict(
            components.noise_ratio.value,
            metric=best,
            correlation=0.0 if best is None else found[best].correlation.value,
            efficiency=surely,
            chosen_from=len(found),
        ),
        notes=tuple(notes),
    )


@dataclass(frozen=True, eq=False)
class _Samples:
    """One cell's judgments, and how they are to be looked at."""

    cell: Cell
    systems: Labels | None
    level: float
    resamples: int
    rng: np.random.Generator

    @property
    def varying(self) -> list[int]:
        """Columns of metrics that are not constant beyond rounding, as the estimators see it."""
        metric = self.cell.metric
        scale = 1e-12 * np.abs(metric).max(axis=0, initial=0)
        spread = metric.std(axis=0)
        if self.systems is not None:
            parts = [metric[self.systems == one].std(axis=0) for one in np.unique(self.systems)]
            spread = np.max(parts, axis=0)
        return [int(j) for j in np.flatnonzero(spread > scale)]

    def components(self) -> VarianceComponents:
        return variance_components(
            self.cell.human,
            self.cell.items,
            self.cell.raters,
            systems=self.systems,
            level=self.level,
            resamples=self.resamples,
            rng=self.rng,
        )

    def each(self, chosen: list[int], pool: PoolMoments) -> tuple[Efficiency, ...]:
        return efficiency_of_each(
            self.cell.human,
            self.cell.metric[:, chosen],
            self._pool(chosen, pool),
            items=self.cell.items,
            raters=self.cell.raters,
            systems=self.systems,
            level=self.level,
            resamples=self.resamples,
            rng=self.rng,
        )

    def together(
        self, chosen: list[int], pool: PoolMoments
    ) -> tuple[Efficiency | None, tuple[str, ...]]:
        """Return what several metrics do at once, or a note on why that cannot be told."""
        if len(chosen) == 1:
            return None, ()
        try:
            return self._jointly(chosen, pool, self.level, self.resamples), ()
        except NotEstimableError as error:
            return None, (f"all metrics together are left out: {error}",)

    def best_of_many(self, many: int, best: int, pool: PoolMoments) -> Quantity:
        """Return the best metric's data efficiency with an interval that allows for the choice.

        At the level at which the intervals of all metrics hold at once (Bonferroni), for any of
        them might have come out best; so far out, percentiles are taken as much further as
        Student's are than the normal's (Hesterberg 2015, The American Statistician 69).
        """
        n = len(np.unique(self.cell.items))
        far = np.sqrt(n / (n - 1)) * stdtrit(n - 1, 1 - (1 - self.level) / (2 * many))
        outside = max(float(2 * ndtr(-far)), _TAIL / _MOST_RESAMPLES)
        resamples = max(self.resamples, int(np.ceil(_TAIL / outside)))
        return self._jointly([best], pool, 1 - outside, resamples).data_efficiency

    def _jointly(
        self, chosen: list[int], pool: PoolMoments, level: float, resamples: int
    ) -> Efficiency:
        return efficiency_of(
            self.cell.human,
            self.cell.metric[:, chosen],
            self._pool(chosen, pool),
            items=self.cell.items,
            raters=self.cell.raters,
            systems=self.systems,
            level=level,
            resamples=resamples,
            rng=self.rng,
        )

    def _pool(self, chosen: list[int], pool: PoolMoments) -> PoolMoments | None:
        return pool.select(chosen) if self.systems is None else None


def _ranked(names: list[str], found: tuple[Efficiency, ...]) -> dict[str, Efficiency]:
    pairs = zip(names, found, strict=True)
    return dict(sorted(pairs, key=lambda pair: -pair[1].data_efficiency.value))


def _usefulness(found: Efficiency) -> dict[str, dict[str, float]]:
    return {
        "correlation": found.correlation.to_dict(),
        "data_efficiency": found.data_efficiency.to_dict(),
    }


def _perfect(noise_ratio: float) -> float:
    if noise_ratio == np.inf:
        return 1.0
    return np.inf if noise_ratio == 0 else (1 + noise_ratio) / noise_ratio
