"""Moments of judged outputs, for a sample and for all its bootstrap resamples at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs, resampled_sums

__all__ = ["Moments", "moments", "resampled_moments"]

Floats = NDArray[np.float64]

# Columns of `_sums` before those of the metrics.
_PLAIN = 7


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of B samples of outputs.

    Attributes
    ----------
    size : int
        Outputs in each sample.
    rater : (B,) array
        Unbiased rater variance; NaN where no output has two judgments.
    item : (B,) array
        Unbiased item variance, negative where chance makes it so.
    mean : (B,) array
        Variance of the outputs' mean judgments.
    with_metric : (B, p) array
        Covariance of mean judgment and each metric.
    metric : (B, p, p) array
        Covariance of the metrics.
    """

    size: int
    rater: Floats
    item: Floats
    mean: Floats
    with_metric: Floats
    metric: Floats

    @property
    def total(self) -> Floats:
        """Variance of a single judgment of a random output."""
        return self.item + self.rater

    @property
    def reliability(self) -> Floats:
        """Item variance as a share of the total: 1 / (1 + noise ratio), bounded where that is not."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.total > 0, self.item / self.total, np.nan)

    def of_metric(self, index: int) -> "Moments":
        """Return the moments with one of the metrics alone."""
        one = slice(index, index + 1)
        return Moments(
            self.size,
            self.rater,
            self.item,
            self.mean,
            self.with_metric[:, one],
            self.metric[:, one, one],
        )


def moments(sample: JudgedOutputs) -> Moments:
    """Return the moments of a sample: B is 1."""
    sums = _features(sample).sum(axis=0, keepdims=True)
    return _from_sums(sums, sample.n_outputs, sample.n_metrics, factor=1.0)


def resampled_moments(
    sample: JudgedOutputs, *, resamples: int, rng: np.random.Generator
) -> Moments:
    """Return the moments of samples of outputs drawn with replacement.

    A variance of a resample is n / (n - 1) times too small on average for the sample's own; that
    factor is put back, so that the resamples scatter about the estimate (docs/methods/variance.md
    has the coverage with and without).
    """
    sums = resampled_sums(_features(sample), resamples=resamples, rng=rng)
    n = sample.n_outputs
    return _from_sums(sums, n, sample.n_metrics, factor=n / (n - 1))


def _features(sample: JudgedOutputs) -> Floats:
    """Return per output all that the moments are sums of, centred against loss of digits."""
    m = sample.count.astype(np.float64)
    y = sample.mean - sample.human.mean()
    # Equal judgments may differ from their mean by rounding; perfect agreement must be seen as such.
    within = np.where(sample.within > 1e-24 * np.ptp(sample.human) ** 2, sample.within, 0.0)
    g = sample.metric - sample.metric.mean(axis=0)
    products = (g[:, :, np.newaxis] * g[:, np.newaxis, :]).reshape(len(g), g.shape[1] ** 2)
    return np.column_stack(
        [m, m * m, m * y, m * y * y, within, y, y * y, g, y[:, np.newaxis] * g, products]
    )


def _from_sums(sums: Floats, n: int, p: int, *, factor: float) -> Moments:
    M, squares, my, myy, within, y, yy = sums[:, :_PLAIN].T
    g, yg = sums[:, _PLAIN : _PLAIN + p], sums[:, _PLAIN + p : _PLAIN + 2 * p]
    gg = sums[:, _PLAIN + 2 * p :].reshape(len(sums), p, p)
    scale = factor / (n - 1)
    between = (myy - my**2 / M) * scale
    effective = (M - squares / M) / (n - 1)
    rater = np.divide(within, M - n, out=np.full(len(M), np.nan), where=n < M)
    return Moments(
        size=n,
        rater=rater,
        item=(between - rater) / effective,
        mean=(yy - y**2 / n) * scale,
        with_metric=(yg - y[:, np.newaxis] * g / n) * scale,
        metric=(gg - g[:, :, np.newaxis] * g[:, np.newaxis, :] / n) * scale,
    )
