r"""Judgments corrected by a metric, with a slope that knows only the judgments before.

Scores are on the unit scale. After correction judgment t is
:math:`r_t = y_t - a_t'(g_t - \bar g_t)`: the slope :math:`a_t` comes from the judgments before t, and
:math:`\bar g_t` is the mean metric of the outputs that judgment t could have been of. Whatever the
slope, the correction has expectation zero given the past, so the mean of :math:`r_t` given the past is

.. math:: \operatorname{E}_{t-1} r_t = w_t m - k_t ,

with m the mean that is sought. Draws with replacement: :math:`w_t = 1`, :math:`k_t = 0`. Draws without
replacement from N outputs: the sum of the scores that are left is what is left of :math:`N m`, so
:math:`w_t = N/(N-t+1)` and :math:`k_t = \sum_{i<t} y_i / (N-t+1)`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import PoolMoments
from steelyard.estimate.slope import shrinkage

__all__ = ["Residuals", "predictable_residuals"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Residuals:
    """Corrected judgments of R runs of T judgments each, on the unit scale.

    Attributes
    ----------
    value : (R, T) array
        Corrected judgments r.
    low, high : (R, T) array
        Least and greatest value that the corrected judgment could have taken, given the past.
    weight : (T,) array
        :math:`w_t`, how fast the mean given the past moves with the mean that is sought.
    offset : (R, T) array
        :math:`k_t`.
    floor, ceiling : (R, T) array
        What the mean can be at all once these judgments are in: 0 and 1 for draws with
        replacement; otherwise the outputs left over can at worst all score 0, or all 1.
    left : (T,) array
        Outputs that are not judged yet after each judgment; infinite with replacement.
    """

    value: Floats
    low: Floats
    high: Floats
    weight: Floats
    offset: Floats
    floor: Floats
    ceiling: Floats
    left: Floats

    def until(self, time: int) -> "Residuals":
        """Return the first `time` judgments."""
        return Residuals(
            self.value[:, :time],
            self.low[:, :time],
            self.high[:, :time],
            self.weight[:time],
            self.offset[:, :time],
            self.floor[:, :time],
            self.ceiling[:, :time],
            self.left[:time],
        )

    def run(self, number: int) -> "Residuals":
        """Return one of the runs."""
        one = slice(number, number + 1)
        return Residuals(
            self.value[one],
            self.low[one],
            self.high[one],
            self.weight,
            self.offset[one],
            self.floor[one],
            self.ceiling[one],
            self.left,
        )

    def possible(self, low: Floats, high: Floats, *, running: bool) -> tuple[Floats, Floats]:
        """Cut ends after each judgment, (R, T), to what is possible, then and ever before."""
        low, high = np.maximum(low, self.floor), np.minimum(high, self.ceiling)
        if running:
            return np.maximum.accumulate(low, axis=1), np.minimum.accumulate(high, axis=1)
        return low, high

    @property
    def information(self) -> Floats:
        r"""Sums of squared weights, :math:`W_t = \sum_{s \le t} w_s^2`; shape (T,).

        One draw with replacement counts 1. Without replacement :math:`W_t` is close to
        :math:`t / (1 - t/N)`, which is where the finite pool's factor comes from.
        """
        return np.cumsum(self.weight**2)

    @property
    def estimate(self) -> Floats:
        r"""Unbiased estimates after each judgment, :math:`\sum w_s (r_s + k_s) / W_t`; (R, T)."""
        return np.cumsum(self.weight * (self.value + self.offset), axis=1) / self.information

    @property
    def running(self) -> tuple[Floats, Floats]:
        r"""Mean and variance of the corrected judgments after each judgment; both (R, T).

        They start from one imagined judgment of mean 1/2 and variance 1/4, as in Waudby-Smith and
        Ramdas (2024, equation 15), so that a bet can be placed before any judgment.
        """
        count = np.arange(1, self.value.shape[1] + 1)
        mean = (0.5 + np.cumsum(self.value, axis=1)) / (count + 1)
        variance = (0.25 + np.cumsum((self.value - mean) ** 2, axis=1)) / (count + 1)
        return mean, variance


def predictable_residuals(
    human: Floats, metric: Floats, *, pool: PoolMoments | None, pool_size: int | None
) -> Residuals:
    """Correct judgments by their metrics with slopes from the judgments before.

    Parameters
    ----------
    human : (R, T) array
        Judgments on the unit scale, in the order of collection.
    metric : (R, T, p) array
        Metrics of the judged outputs; p may be 0.
    pool : PoolMoments or None
        The p metrics over the pool; None when there are none.
    pool_size : int or None
        Number of outputs N that are drawn without replacement; None for draws with replacement.

    Returns
    -------
    Residuals
    """
    runs, times = human.shape
    before = _before(human)
    if pool_size is None:
        rest = np.full(times, np.inf)
        weight, offset = np.ones(times), np.zeros((runs, times))
        floor, ceiling = np.zeros((runs, times)), np.ones((runs, times))
    else:
        rest = pool_size - np.arange(times, dtype=np.float64)
        weight, offset = pool_size / rest, before / rest
        floor = (before + human) / pool_size
        ceiling = floor + (rest - 1) / pool_size
    value, low, high = human, np.zeros((runs, times)), np.ones((runs, times))
    if pool is not None and metric.shape[2]:
        shift, least, greatest = _corrections(human, metric, pool, rest)
        value, low, high = human - shift, -greatest, 1 - least
    return Residuals(value, low, high, weight, offset, floor, ceiling, rest - 1)


def _corrections(
    human: Floats, metric: Floats, pool: PoolMoments, rest: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return what is taken off each judgment, and the least and greatest that it could be."""
    centred = metric - pool.mean
    basis = _whitening(pool.covariance)
    slope = predictable_slopes(human, centred @ basis) @ basis.T
    # The mean of what is left, relative to the pool's; the centred metrics of the pool sum to zero.
    centre = -_before(centred) / rest[:, np.newaxis]
    # Exact for one metric; for several, each is let range on its own.
    ends = np.stack([slope * (end - pool.mean - centre) for end in (pool.low, pool.high)])
    least, greatest = ends.min(axis=0).sum(axis=2), ends.max(axis=0).sum(axis=2)
    # Zero lies between them but for rounding, which matters when only equal outputs are left.
    shift = (slope * (centred - centre)).sum(axis=2)
    return shift, np.minimum(least, 0), np.maximum(greatest, 0)


def predictable_slopes(human: Floats, metric: Floats) -> Floats:
    """Slopes from the judgments before each, shrunk by their own uncertainty.

    Least squares with one imagined output at the pool's spread, so that metrics which happen to
    be equal so far give no wild slope, times `shrinkage`. Zero until more than p + 2 judgments
    are in.

    Parameters
    ----------
    human : (R, T) array
        Judgments.
    metric : (R, T, q) array
        Metrics that have mean 0, variance 1 and no correlation over the pool.

    Returns
    -------
    (R, T, q) array
    """
    n_metrics = metric.shape[2]
    y = human - 0.5
    count = np.arange(human.shape[1], dtype=np.float64)
    n = np.maximum(count, 1)
    sum_y, sum_g = _before(y), _before(metric)
    mean_g = sum_g / n[:, np.newaxis]
    C = _before(metric * y[..., np.newaxis]) - mean_g * sum_y[..., np.newaxis]
    products = metric[..., :, np.newaxis] * metric[..., np.newaxis, :]
    S = _before(products) - sum_g[..., :, np.newaxis] * mean_g[..., np.newaxis, :]
    slope = _solved(S + np.eye(n_metrics), C)
    explained = (C * slope).sum(axis=-1)
    total = _before(y**2) - sum_y**2 / n
    freedom = np.maximum(count - 1 - n_metrics, 1)
    residual = np.maximum(total - explained, 0) / freedom
    kept = shrinkage(explained, residual, n_metrics, freedom=1)
    kept[:, count <= n_metrics + 2] = 0
    return np.asarray(slope * kept[..., np.newaxis])


def _whitening(covariance: Floats) -> Floats:
    """Return the (p, q) map to uncorrelated metrics of variance 1, without constant directions."""
    spread, directions = np.linalg.eigh(covariance)
    kept = spread > 1e-12 * max(float(spread.max()), 1e-300)
    return np.asarray(directions[:, kept] / np.sqrt(spread[kept]))


def _solved(S: Floats, C: Floats) -> Floats:
    if S.shape[-1] == 1:  # a million systems of one equation are a division
        return np.asarray(C / S[..., 0])
    return np.asarray(np.linalg.solve(S, C[..., np.newaxis])[..., 0])


def _before(values: Floats) -> Floats:
    """Sums over the judgments before each one, along axis 1."""
    sums = np.zeros_like(values)
    np.cumsum(values[:, :-1], axis=1, out=sums[:, 1:])
    return sums
