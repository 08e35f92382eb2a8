"""The control of every judged output of a campaign, and what it leaves of the judgments."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Draw, JudgedOutputs
from steelyard.estimate.borrowed import borrowed_spread
from steelyard.estimate.judged_system import JudgedSystem
from steelyard.estimate.learned import learned_control

__all__ = [
    "Controls",
    "controlled_samples",
    "corrected",
    "learned_controls",
    "moderated_spreads",
    "varies",
]

Floats = NDArray[np.float64]

# Differences below this share of the values themselves are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Controls:
    """Controls of judged outputs, with coefficients (k, p) on scaled metrics, and on the metrics."""

    values: list[Floats]
    coefficients: Floats
    slopes: Floats


def learned_controls(systems: Sequence[JudgedSystem]) -> Controls:
    """Return the control of each judged output, zero on average over its pool.

    Scores that are all equal follow no metric: a control would only add its own spread to them.
    """
    deviation = _common_deviation(systems)
    usable = [number for number, one in enumerate(systems) if varies(one.sample.mean)]
    values = [np.zeros(one.sample.n_outputs) for one in systems]
    coefficients = np.zeros((len(systems), len(deviation)))
    sizes = [systems[number].sample.n_outputs for number in usable]
    known = deviation > 0
    if not usable or not known.any():
        return Controls(values, coefficients, coefficients)
    scaled = [_scaled(systems[number], deviation)[:, known] for number in usable]
    scores = [systems[number].sample.mean for number in usable]
    learned = learned_control(
        np.concatenate(scores),
        np.concatenate(scaled),
        systems=np.repeat(np.arange(len(usable)), sizes),
        items=np.concatenate([systems[number].units for number in usable]),
        spread=moderated_spreads(scores),
        pool_sizes=np.array([_drawn_from(systems[number].draw) for number in usable]),
    )
    ends = np.cumsum(sizes)
    for position, number in enumerate(usable):
        values[number] = learned.values[ends[position] - sizes[position] : ends[position]]
        coefficients[number, known] = learned.coefficients[position]
    return Controls(values, coefficients, coefficients / np.where(known, deviation, np.inf))


def controlled_samples(systems: Sequence[JudgedSystem]) -> tuple[list[JudgedOutputs], Floats]:
    """Return judged outputs after the learned control is taken off, and its slopes (k, p)."""
    controls = learned_controls(systems)
    return corrected(systems, controls.values), controls.slopes


def corrected(systems: Sequence[JudgedSystem], controls: Sequence[Floats]) -> list[JudgedOutputs]:
    """Return the judged outputs of each system with their controls taken off."""
    return [
        replace(
            one.sample,
            mean=one.sample.mean - control,
            human=one.sample.human - control[one.sample.output],
        )
        for one, control in zip(systems, controls, strict=True)
    ]


def moderated_spreads(scores: Sequence[Floats]) -> Floats:
    """Return a moderated standard deviation of each system's scores, never near zero."""
    own = np.array([one.var(ddof=1) if len(one) > 1 else 0.0 for one in scores])
    freedom = np.array([len(one) - 1.0 for one in scores])
    lent = borrowed_spread(own, freedom)
    whole = float(own @ freedom) / max(float(freedom.sum()), 1.0)
    if whole <= 0:
        return np.ones(len(scores))
    moderated = [
        lent.moderated(variance, known)[0] if known else whole
        for variance, known in zip(own, freedom, strict=True)
    ]
    return np.asarray(np.sqrt(np.maximum(moderated, 0.02 * whole)))


def varies(values: Floats) -> bool:
    """Return whether values differ by more than rounding."""
    return float(np.ptp(values)) > _ROUNDING * float(np.abs(values).max())


def _common_deviation(systems: Sequence[JudgedSystem]) -> Floats:
    """Return each metric's standard deviation within pools, over all systems."""
    known = [one.pool for one in systems if one.pool is not None]
    if not known:
        return np.zeros(systems[0].metric.shape[1])
    variance = np.mean([np.diag(pool.covariance) for pool in known], axis=0)
    size = np.max([np.maximum(np.abs(pool.low), np.abs(pool.high)) for pool in known], axis=0)
    return np.where(np.sqrt(variance) > 1e-12 * size, np.sqrt(variance), 0.0)


def _drawn_from(draw: Draw) -> float:
    """Return the size of the pool that a simple draw used up; infinite for any other draw."""
    return float(draw.size[0]) if draw.simple and draw.identified else np.inf


def _scaled(system: JudgedSystem, deviation: Floats) -> Floats:
    """Return the metrics around the pool's mean, in common deviations, 0 where one is missing."""
    if system.pool is None:
        return np.zeros_like(system.metric)
    x = (system.metric - system.pool.mean) / np.where(deviation > 0, deviation, np.inf)
    return np.where(np.isfinite(x), x, 0.0)
