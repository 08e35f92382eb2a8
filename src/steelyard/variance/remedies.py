"""Which of two remedies would save more judgments: a better metric, or raters who agree."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from steelyard.single.analysis import Analysis
from steelyard.single.correlation import explained, signed_square
from steelyard.single.moments import Moments
from steelyard.single.quantity import Quantity, percentiles, student_level

__all__ = ["Remedies", "remedies_in"]

Floats = NDArray[np.float64]

# Correlations are kept below this, where Fisher's transformation is finite.
_MOST = 1 - 1e-9


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
        Metrics that it is the best of. The interval of `saved` is then at the level at which those
        of all of them hold at once (Bonferroni), for any of them might have come out best.
    level : float
        Confidence level.
    """
    sample, here, there = found.sample, found.here, found.there
    if metric is not None:
        here, there = here.of_metric(metric), there.of_metric(metric)
        if pool_covariance is not None:
            pool_covariance = pool_covariance[metric : metric + 1, metric : metric + 1]
    (saved,), (perfect,) = _shares(here, metric, pool_covariance)
    sign = -1.0 if saved < 0 else 1.0
    drawn_saved, drawn_perfect = _shares(there, metric, pool_covariance)
    saved, drawn_saved = sign * float(saved), sign * drawn_saved
    repeated = student_level(level, float((sample.count > 1).sum()))
    return Remedies(
        saved=_best_of(saved, drawn_saved, level, chosen_from, sample.n_outputs),
        perfect=_held(float(perfect), drawn_perfect, repeated),
        noiseless=_held(float(1 - perfect + saved), 1 - drawn_perfect + drawn_saved, repeated),
        lead=_held(float(1 - 2 * perfect + saved), 1 - 2 * drawn_perfect + drawn_saved, repeated),
    )


def _best_of(saved: float, drawn: Floats, level: float, many: int, outputs: int) -> Quantity:
    """Return the share saved by the best of many, with an interval that allows for the choice.

    So far out there are few draws, so the ends of an ordinary interval are moved as much further
    as Student's quantiles are, on Fisher's scale of the correlation.
    """
    one = _held(saved, drawn, level)
    centre, *ends = (
        np.arctanh(np.clip(_root(end), -_MOST, _MOST)) for end in (one.value, one.low, one.high)
    )
    n = float(outputs)
    factor = np.sqrt(n / (n - 1)) * stdtrit(n - 1, 1 - (1 - level) / (2 * many))
    factor /= ndtri((1 + level) / 2)
    low, high = (np.tanh(centre + factor * (end - centre)) for end in ends)
    return Quantity(saved, min(_square(low), one.low), max(_square(high), one.high))


def _root(square: float) -> float:
    return float(np.sign(square) * np.sqrt(abs(square)))


def _square(root: float) -> float:
    return float(np.sign(root) * root**2)


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
