"""Judged outputs of a campaign after the control that all its systems teach is taken off."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Draw, JudgedOutputs, PoolMoments
from steelyard.estimate.borrowed import moderated_deviations
from steelyard.estimate.learned import learned_control

__all__ = [
    "Controlled",
    "JudgedSystem",
    "controlled",
    "judgments_paid",
    "less_control",
    "shared_outputs",
    "varies",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Differences below this share of the values themselves are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class JudgedSystem:
    """What a campaign knows of one system.

    Attributes
    ----------
    sample : JudgedOutputs
        Its judged outputs, without metrics.
    draw : Draw
        How they were drawn.
    metric : (n, p) array
        Metrics of the judged outputs; NaN where one is missing.
    items : (n,) array of int
        Number of each output's item in the whole campaign.
    raters : (M,) array of int or None
        Number of each judgment's rater in the whole campaign; None when raters are unknown.
    pool : PoolMoments or None
        Moments of the metrics over the system's pool, a missing value counting as the mean.
    clusters : (n,) array of int or None
        Number of each output's cluster in the whole campaign; None where items stand for themselves.
    texts : (n,) array of int or None
        Number of each output's text in the whole campaign, the same for systems that share its
        judgments; None where no judgment counts for several systems.
    """

    sample: JudgedOutputs
    draw: Draw
    metric: Floats
    items: Integers
    raters: Integers | None
    pool: PoolMoments | None
    clusters: Integers | None = None
    texts: Integers | None = None

    @property
    def units(self) -> Integers:
        """What errs independently: each output's cluster, or else its item."""
        return self.items if self.clusters is None else self.clusters


@dataclass(frozen=True, eq=False)
class Controlled:
    """Systems with their controls taken off.

    Attributes
    ----------
    values : list of (n,) array
        The control of each judged output, zero on average over the pool.
    samples : list of JudgedOutputs
        Judged outputs less their control.
    slopes, shares : (k, p) array
        Slope of each metric, and its share in the control of a system.
    """

    values: list[Floats]
    samples: list[JudgedOutputs]
    slopes: Floats
    shares: Floats


def controlled(systems: Sequence[JudgedSystem], *, differences: bool = False) -> Controlled:
    """Take the learned control off the judged outputs of all systems.

    With `differences` it is scaled for those between systems, not for their means. Scores that are all equal follow no metric: a control would only add its own spread to them.
    """
    deviation = _common_deviation(systems)
    known = deviation > 0
    coefficients = np.zeros((len(systems), len(deviation)))
    samples = [one.sample for one in systems]
    values = [np.zeros(one.n_outputs) for one in samples]
    usable = [number for number, one in enumerate(samples) if varies(one.mean)]
    if usable and known.any():
        sizes = [samples[number].n_outputs for number in usable]
        scores = [samples[number].mean for number in usable]
        learned = learned_control(
            np.concatenate(scores),
            np.concatenate([_scaled(systems[one], deviation)[:, known] for one in usable]),
            systems=np.repeat(np.arange(len(usable)), sizes),
            items=np.concatenate([systems[number].units for number in usable]),
            spread=moderated_deviations(scores),
            pool_sizes=np.array([_drawn_from(systems[number].draw) for number in usable]),
            differences=differences,
        )
        coefficients[np.ix_(np.array(usable), known)] = learned.coefficients
        parts = np.split(learned.values, np.cumsum(sizes)[:-1])
        for number, control in zip(usable, parts, strict=True):
            values[number] = control
            samples[number] = less_control(samples[number], control)
    sizes_of = np.abs(coefficients)
    total = np.maximum(sizes_of.sum(axis=1, keepdims=True), 1e-300)
    slopes = coefficients / np.where(known, deviation, 1.0)
    return Controlled(values, samples, slopes, sizes_of / total)


def shared_outputs(systems: Sequence[JudgedSystem]) -> float:
    r"""Return the mean share of judged outputs whose judgments two systems have in common.

    Of two systems it is :math:`n_{ab}/\sqrt{n_a n_b}`, the correlation of their variances.
    """
    texts = [one.texts for one in systems if one.texts is not None]
    if len(texts) < len(systems) or len(systems) < 2:
        return 0.0
    code = np.unique(np.concatenate(texts), return_inverse=True)[1]
    root = np.repeat([1 / np.sqrt(len(one)) for one in texts], [len(one) for one in texts])
    # The square of a sum is the sum over pairs; each with itself makes one per system.
    total = float(np.sum(np.bincount(code, root) ** 2)) - len(systems)
    return max(total, 0.0) / (len(systems) * (len(systems) - 1))


def alike_squares(systems: Sequence[JudgedSystem], samples: Sequence[JudgedOutputs]) -> float:
    r"""Return the mean correlation of two systems' squared residuals, item by item.

    So much do their variances vary together from draw to draw: with :math:`z = (e^2 - \overline{e^2})` over its
    length, :math:`\sum_i z_{ai}z_{bi}` over the items that both were judged on.
    """
    if len(systems) < 2:
        return 0.0
    lengths = []
    for sample in samples:
        squares = (sample.mean - sample.mean.mean()) ** 2
        around = squares - squares.mean()
        lengths.append(around / max(float(np.sqrt(around @ around)), 1e-300))
    code = np.unique(np.concatenate([one.items for one in systems]), return_inverse=True)[1]
    # The square of a sum is the sum over pairs; each with itself makes one per system.
    total = float(np.sum(np.bincount(code, np.concatenate(lengths)) ** 2)) - len(systems)
    return max(total, 0.0) / (len(systems) * (len(systems) - 1))


def judgments_paid(systems: Sequence[JudgedSystem]) -> list[float]:
    """Return how many judgments each system paid for: of one that counts for k systems, 1/k."""
    texts = [one.texts for one in systems if one.texts is not None]
    if len(texts) < len(systems):
        return [float(one.sample.n_judgments) for one in systems]
    known, code = np.unique(np.concatenate(texts), return_inverse=True)
    writers = np.bincount(code, minlength=len(known))
    return [
        float(np.sum(one.sample.count / writers[np.searchsorted(known, own)]))
        for one, own in zip(systems, texts, strict=True)
    ]


def varies(values: Floats) -> bool:
    """Return whether values differ by more than rounding."""
    return float(np.ptp(values)) > _ROUNDING * float(np.abs(values).max())


def less_control(sample: JudgedOutputs, control: Floats) -> JudgedOutputs:
    """Return judged outputs less the control of each."""
    return replace(sample, mean=sample.mean - control, human=sample.human - control[sample.output])


def _common_deviation(systems: Sequence[JudgedSystem]) -> Floats:
    """Return each metric's standard deviation within pools, over all systems; 0 if it is rounding."""
    pools = [one.pool for one in systems if one.pool is not None]
    if not pools:
        return np.zeros(systems[0].metric.shape[1])
    deviation = np.sqrt(np.mean([np.diag(pool.covariance) for pool in pools], axis=0))
    size = np.max([np.maximum(np.abs(pool.low), np.abs(pool.high)) for pool in pools], axis=0)
    return np.where(deviation > _ROUNDING * size, deviation, 0.0)


def _scaled(system: JudgedSystem, deviation: Floats) -> Floats:
    """Return the metrics around the pool's mean, in common deviations, 0 where one is missing."""
    if system.pool is None:
        return np.zeros_like(system.metric)
    x = (system.metric - system.pool.mean) / np.where(deviation > 0, deviation, np.inf)
    return np.where(np.isfinite(x), x, 0.0)


def _drawn_from(draw: Draw) -> float:
    """Return the size of the pool that a draw with equal chances used up; infinite for any other."""
    return float(draw.size[0]) if draw.uniform and draw.identified else np.inf
