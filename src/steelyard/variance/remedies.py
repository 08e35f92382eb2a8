"""Which of two remedies would save more judgments: a better metric, or raters who agree."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.variance.analysis import Analysis
from steelyard.variance.correlation import explained, signed_square
from steelyard.variance.interval import percentiles, student_level
from steelyard.variance.moments import Moments
from steelyard.variance.quantity import Quantity

__all__ = ["Remedies", "remedies_in"]

Floats = NDArray[np.float64]

# Draws beyond the ends of an interval, so that these are not made by chance, and in all.
_TAIL = 8
_MOST_DRAWS = 50_000


@dataclass(frozen=True)
class Remedies:
    """Shares of the judgments of a plain mean that each remedy would save, with intervals.

    Attributes
    ----------
    saved : Quantity
        By the metric as it is; 0 without one. Below zero where the metric's correlation may have
        the other sign.
    perfect : Quantity
        By a perfect metric.
    noiseless : Quantity
        By this metric with raters who always agree.
    lead : Quantity
        `noiseless` less `perfect`: above zero where rater noise holds back more than the metric.
    """

    saved: Quantity
    perfect: Quantity
    noiseless: Quantity
    lead: Quantity


def remedies_in(
    found: Analysis,
    metric: int | None,
    pool_covariance: Floats | None,
    *,
    chosen_from: int = 1,
    level: float,
    rng: np.random.Generator,
) -> Remedies:
    r"""Return what a better metric and better raters would save.

    With :math:`\gamma` the noise ratio and :math:`\rho` the correlation, a perfect metric saves
    :math:`1/(1+\gamma)` and noiseless raters :math:`1 - (1-\rho^2)/(1+\gamma)`.

    Parameters
    ----------
    found : Analysis
        The analysed sample.
    metric : int or None
        Column of the best metric; None without metrics.
    pool_covariance : (p, p) array or None
        Covariance of the metrics over the pool.
    chosen_from : int
        Metrics that it is the best of. Intervals are then at the level at which those of all of them
        hold at once (Bonferroni), for any of them might have come out best.
    level : float
        Confidence level.
    rng : numpy.random.Generator
        Source of randomness of draws that are needed so far out.
    """
    model, here, there = found.model, found.here, found.there
    at_once = 1 - (1 - level) / chosen_from
    outputs, repeated = (
        min(student_level(at_once, float(count)), 1 - _TAIL / _MOST_DRAWS)
        for count in (model.sample.n_outputs, (model.sample.count > 1).sum())
    )
    needed = int(np.ceil(_TAIL / (1 - outputs)))
    if metric is not None:
        here, there = here.of_metric(metric), there.of_metric(metric)
        if chosen_from > 1 and needed > len(there.effective):
            drawn = model.residual_draws(resamples=needed, rng=rng, metric=metric)
            there = model.with_leniency(drawn, rng=rng)
        if pool_covariance is not None:
            pool_covariance = pool_covariance[metric : metric + 1, metric : metric + 1]
    saved, perfect = _shares(here, metric, pool_covariance)
    sign = -1.0 if saved[0] < 0 else 1.0
    drawn_saved, drawn_perfect = _shares(there, metric, pool_covariance)
    value, drawn_saved = sign * float(saved[0]), sign * drawn_saved
    best = float(perfect[0])
    return Remedies(
        saved=_held(value, drawn_saved, outputs),
        perfect=_held(best, drawn_perfect, repeated),
        noiseless=_held(1 - best + value, 1 - drawn_perfect + drawn_saved, repeated),
        lead=_held(1 - 2 * best + value, 1 - 2 * drawn_perfect + drawn_saved, repeated),
    )


def _shares(
    found: Moments, metric: int | None, pool_covariance: Floats | None
) -> tuple[Floats, Floats]:
    """Return the shares saved by the metric, with its sign, and by a perfect one."""
    perfect = np.clip(found.reliability, 0.0, 1.0)
    if metric is None:
        return np.zeros_like(perfect), perfect
    return signed_square(found, explained(found, pool_covariance)) * perfect, perfect


def _held(value: float, drawn: Floats, level: float) -> Quantity:
    low, high = percentiles(drawn, level)
    return Quantity(value, min(low, value), max(high, value))
