r"""Judgments corrected by a metric, with a slope that knows only the judgments before.

Scores are on the unit scale. After correction judgment t is
:math:`r_t = y_t - \kappa\, a_t'(g_t - \bar g_t)`: the slope :math:`a_t` comes from the judgments before t,
:math:`\kappa` is the share of it that is used, and :math:`\bar g_t` is the mean metric of the outputs that
judgment t could have been of. Whatever the slope, the correction has expectation zero given the past, so
the mean of :math:`r_t` given the past is

.. math:: \operatorname{E}_{t-1} r_t = w_t m - k_t ,

with m the mean that is sought. Draws with replacement: :math:`w_t = 1`, :math:`k_t = 0`. Draws without
replacement from N outputs: the sum of the scores that are left is what is left of :math:`N m`, so
:math:`w_t = N/(N-t+1)` and :math:`k_t = \sum_{i<t} y_i / (N-t+1)`.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import PoolMoments
from steelyard.design.sequence.sums import RunningSums, running_totals

__all__ = ["Residuals", "predictable_residuals"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Residuals:
    r"""Corrected judgments of R runs of T judgments each, on the unit scale.

    Attributes
    ----------
    human : (R, T) array
        Judgments y before correction.
    shift : (R, T) array
        What the whole slope takes off each judgment.
    least, greatest : (R, T) array
        Least and greatest that `shift` could have been, given the past; zero lies between them.
    known : (R, T) array
        Mean of the judgments before each, with one imagined judgment of 1/2.
    total, linear, quadratic : (R, T) array
        Coefficients of the residual sum of squares of the judgments before each, at the slope of
        that moment; see `spread`.
    weight : (T,) array
        :math:`w_t`, how fast the mean given the past moves with the mean that is sought.
    offset : (R, T) array
        :math:`k_t`.
    floor, ceiling : (R, T) array
        What the mean can be at all once these judgments are in: 0 and 1 for draws with
        replacement; otherwise the outputs left over can at worst all score 0, or all 1.
    left : (T,) array
        Outputs that are not judged yet after each judgment; infinite with replacement.
    fitted, fitted_variance, fitted_excess : (R, T) array
        The least-squares estimate from the judgments so far, their residual variance, and by how
        much, relative to it, the slope's own error raises the estimate's variance.
    """

    human: Floats
    shift: Floats
    least: Floats
    greatest: Floats
    known: Floats
    total: Floats
    linear: Floats
    quadratic: Floats
    weight: Floats
    offset: Floats
    floor: Floats
    ceiling: Floats
    left: Floats
    fitted: Floats
    fitted_variance: Floats
    fitted_excess: Floats

    def until(self, time: int) -> "Residuals":
        """Return the first `time` judgments."""
        return Residuals(*(getattr(self, each.name)[..., :time] for each in fields(self)))

    def run(self, number: int) -> "Residuals":
        """Return one of the runs."""
        return self.runs(np.array([number]))

    def runs(self, numbers: NDArray[np.int64]) -> "Residuals":
        """Return some of the runs."""
        arrays = [getattr(self, each.name) for each in fields(self)]
        return Residuals(*(a if a.ndim == 1 else a[numbers] for a in arrays))

    @property
    def value(self) -> Floats:
        """Corrected judgments r; (R, T)."""
        return self.human - self.shift

    @property
    def low(self) -> Floats:
        """Least value that each corrected judgment could have taken, given the past; (R, T)."""
        return -self.greatest

    @property
    def high(self) -> Floats:
        """Greatest value that each corrected judgment could have taken, given the past; (R, T)."""
        return 1 - self.least

    def spread(self, share: float) -> Floats:
        r"""Variance of the judgments before each one about this share of its slope; (R, T).

        .. math:: \frac{\frac14 + \sum_{s<t} (y_s - \bar y - \kappa\, a_t'(g_s - \bar g))^2}{t}

        It starts from one imagined judgment of variance 1/4, as in Waudby-Smith and Ramdas (2024,
        equation 15), so that a bet can be placed before any judgment. Earlier judgments count with
        the slope of now, not with the worse ones that they were corrected by.
        """
        count = np.arange(1, self.human.shape[1] + 1)
        squares = self.total - share * (2 * self.linear - share * self.quadratic)
        return np.asarray((0.25 + np.maximum(squares, 0)) / count)

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
    before = running_totals(human, before=True)
    rest = np.full(times, np.inf)
    weight, offset = np.ones(times), np.zeros((runs, times))
    floor, ceiling = np.zeros((runs, times)), np.ones((runs, times))
    if pool_size is not None:
        rest = pool_size - np.arange(times, dtype=np.float64)
        weight, offset = pool_size / rest, before / rest
        floor = (before + human) / pool_size
        ceiling = floor + (rest - 1) / pool_size
    centred, basis = _centred(metric, pool)
    past = RunningSums.of(human, centred @ basis, before=True)
    slope = past.shrunk_slope
    linear, quadratic = past.residual(slope)
    shift, least, greatest = _corrections(centred, slope @ basis.T, pool, rest)
    return Residuals(
        human,
        shift,
        least,
        greatest,
        (before + 0.5) / np.arange(1, times + 1),
        past.total,
        linear,
        quadratic,
        weight,
        offset,
        floor,
        ceiling,
        rest - 1,
        *_fits(RunningSums.of(human, centred @ basis, before=False), pool_size),
    )


def _centred(metric: Floats, pool: PoolMoments | None) -> tuple[Floats, Floats]:
    """Return metrics relative to the pool's mean, and the map that makes them uncorrelated."""
    if pool is None or not metric.shape[2]:
        return metric[..., :0], np.empty((0, 0))
    return metric - pool.mean, _whitening(pool)


def _corrections(
    centred: Floats, slope: Floats, pool: PoolMoments | None, rest: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return what is taken off each judgment, and the least and greatest that it could be."""
    if pool is None or not slope.shape[2]:
        none = np.zeros(slope.shape[:2])
        return none, none, none
    # The mean of what is left, relative to the pool's; the centred metrics of the pool sum to zero.
    centre = -running_totals(centred, before=True) / rest[:, np.newaxis]
    # Exact for one metric; for several, each is let range on its own.
    ends = np.stack([slope * (end - pool.mean - centre) for end in (pool.low, pool.high)])
    least, greatest = ends.min(axis=0).sum(axis=2), ends.max(axis=0).sum(axis=2)
    # Zero lies between them but for rounding, which matters when only equal outputs are left.
    shift = (slope * (centred - centre)).sum(axis=2)
    return shift, np.minimum(least, 0), np.maximum(greatest, 0)


def _fits(sums: RunningSums, pool_size: int | None) -> tuple[Floats, Floats, Floats]:
    """Return the least-squares estimates, residual variances and excesses after each judgment."""
    n_metrics = sums.cross.shape[-1]
    slope = sums.slope
    linear, quadratic = sums.residual(slope)
    freedom = np.maximum(sums.count - 1 - n_metrics, 1)
    variance = np.maximum(sums.total - 2 * linear + quadratic, 0) / freedom
    estimate = sums.human - (slope * sums.metric).sum(axis=-1)
    # The pool's mean is zero, so the sample's is how far the sample is off.
    excess = (sums.metric * sums.solved(sums.metric)).sum(axis=-1)
    share = 0 if pool_size is None else sums.count / pool_size
    return estimate, variance, excess * sums.count / np.maximum(1 - share, 1e-12)


def _whitening(pool: PoolMoments) -> Floats:
    """Return the (p, q) map to uncorrelated metrics of variance 1, without constant directions."""
    # In units of each metric's own spread, so that a small scale is not taken for no spread.
    deviation = np.sqrt(np.diag(pool.covariance))
    flat = deviation <= 1e-12 * np.maximum(np.abs(pool.low), np.abs(pool.high))
    scale = np.where(flat, np.inf, deviation)
    spread, directions = np.linalg.eigh(pool.covariance / np.outer(scale, scale))
    kept = spread > 1e-12
    return np.asarray(directions[:, kept] / np.sqrt(spread[kept]) / scale[:, np.newaxis])
