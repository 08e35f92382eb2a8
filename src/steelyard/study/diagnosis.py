"""Diagnosis: variance components, correlations, data efficiency, and a verdict."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from steelyard.arrays import PoolMoments
from steelyard.study.judged import Cell
from steelyard.study.verdict import verdict
from steelyard.variance import (
    Agreement,
    Efficiency,
    Quantity,
    agreement,
    efficiency_of,
    efficiency_of_each,
    variance_components,
)

__all__ = ["Diagnosis", "diagnose"]


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What one system's judgments under one prompt tell about raters and metrics.

    Attributes
    ----------
    system, prompt : str
        Whose judgments; system ``*`` is all systems as one pool.
    item_variance, rater_variance, noise_ratio : Quantity
        Variance components.
    metrics : dict of str to Efficiency
        Each metric alone, the most useful first.
    together : Efficiency or None
        All metrics at once, when there are several.
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
        The metrics over the pool, None when there are no metrics.
    level : float
        Level of all intervals.
    resamples : int
        Bootstrap resamples.
    rng : numpy.random.Generator
        Source of randomness.
    """
    # constant beyond rounding, as the estimators see it
    scale = 1e-12 * np.abs(cell.metric).max(axis=0, initial=0)
    varying = np.flatnonzero(cell.metric.std(axis=0) > scale).tolist()
    notes = [
        f"{metrics[j]} is constant on the judged outputs and can save nothing"
        for j in range(len(metrics))
        if j not in varying
    ]
    components = variance_components(
        cell.human, cell.items, level=level, resamples=resamples, rng=rng
    )
    found: dict[str, Efficiency] = {}
    together = None
    if varying and pool is not None:
        metric, part = cell.metric[:, varying], pool.select(varying)
        each = efficiency_of_each(
            cell.human, metric, part, items=cell.items, level=level, resamples=resamples, rng=rng
        )
        found = _ranked([metrics[j] for j in varying], each)
        if len(varying) > 1:
            together = efficiency_of(
                cell.human,
                metric,
                part,
                items=cell.items,
                level=level,
                resamples=resamples,
                rng=rng,
            )
    best = next(iter(found), None)
    notes.extend(components.notes)
    return Diagnosis(
        system=cell.system,
        prompt=cell.prompt,
        item_variance=components.item,
        rater_variance=components.rater,
        noise_ratio=components.noise_ratio,
        metrics=found,
        together=together,
        agreement=agreement(cell.human, cell.items, cell.raters),
        n_outputs=len(np.unique(cell.items)),
        n_judgments=len(cell.human),
        n_raters=len(np.unique(cell.raters)),
        level=level,
        verdict=verdict(
            components.noise_ratio.value,
            metric=best,
            correlation=0.0 if best is None else found[best].correlation.value,
            efficiency=None if best is None else found[best].data_efficiency,
        ),
        notes=tuple(notes),
    )


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
