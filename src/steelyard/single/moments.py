"""Moments of judged outputs, for a sample and for all its bootstrap draws at once."""

from dataclasses import dataclass, replace

import numpy as np

from steelyard.arrays import Floats, Ints
from steelyard.single.judged import JudgedSample

__all__ = ["SampleMoments", "drawn_moments", "moments"]


# Columns of `_features` before those of the metrics, and that of the squares within outputs.
_PLAIN = 7
_WITHIN = 4
# Weights held at one time: bounds the memory of a block of draws.
_BLOCK = 2_000_000


@dataclass(frozen=True, eq=False)
class SampleMoments:
    """Moments of B samples of outputs.

    Draws have `rater` and `item` twice, as a (2, B) array: with an imagined output on which raters
    agree and that is far from the mean, and with one on which they disagree.

    Attributes
    ----------
    freedom : int
        Outputs of each sample less the means taken off them: one, or one a system.
    effective : (B,) array
        Judgments an output, n0 of the analysis of variance.
    rater : (B,) or (2, B) array
        Unbiased rater variance; NaN where no output has two judgments.
    item : (B,) or (2, B) array
        Unbiased item variance, negative where chance makes it so.
    mean : (B,) array
        Variance of the outputs' mean judgments.
    with_metric : (B, p) array
        Covariance of mean judgment and each metric.
    metric : (B, p) array
        Variance of each metric.
    """

    freedom: int
    effective: Floats
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

    @property
    def between(self) -> Floats:
        """Mean square between outputs: the rater variance at which it would be all noise."""
        return self.item * self.effective + self.rater


def moments(
    sample: JudgedSample,
    *,
    adjusted: JudgedSample | None = None,
    systems: Ints | None = None,
) -> SampleMoments:
    """Return the moments of a sample: B is 1.

    Parameters
    ----------
    sample : JudgedSample
        Judgments grouped by output.
    adjusted : JudgedSample, optional
        The same judgments less each rater's leniency, for item and rater variance.
    systems : (n,) array of int, optional
        Number of the system of each output; all moments are then within systems.
    """
    sums = _features(sample, adjusted, systems).sum(axis=0, keepdims=True)
    return _from_sums(sums, sample, systems, factor=1.0)


def drawn_moments(
    sample: JudgedSample,
    *,
    adjusted: JudgedSample | None = None,
    systems: Ints | None = None,
    scale: float = 1.0,
    disagreement: float,
    resamples: int,
    rng: np.random.Generator,
) -> SampleMoments:
    r"""Return the moments of the sample under random weights of its outputs.

    The Bayesian bootstrap (Rubin 1981): weights are exponential. An imagined output joins the sample
    in the name of those that were not seen, with a weight of its own, and the interval of a quantity
    holds the draws with both extremes of it (Gaffke 2005; for two-valued scores these are Clopper's
    and Pearson's limits). Derived in docs/methods/paper-estimators.md.

    Parameters
    ----------
    sample, adjusted, systems
        As in `moments`. Means of systems are those of the sample: an output is drawn as its
        distance from them.
    scale : float
        Factor of the squares within outputs.
    disagreement : float
        Variance of two judgments of the imagined output where raters disagree on it. Where they
        agree, it is as far from the mean as the farthest output.
    resamples : int
        Number of draws B.
    rng : numpy.random.Generator
        Source of randomness.
    """
    features = _features(sample, adjusted, systems)
    features[:, _WITHIN] *= scale
    n = sample.n_outputs
    sums, imagined = _weighted_sums(features, resamples=resamples, rng=rng)
    # Under these weights a variance is n / (n + 1) times too small on average.
    found = _from_sums(sums, sample, systems, factor=(n + 1) / n)
    repeated = sums[:, 0] - n
    rater = np.stack(
        [
            (sums[:, _WITHIN] + imagined * squares) / (repeated + imagined)
            for squares in (0.0, disagreement)
        ]
    )
    between = found.between
    far = imagined * float(features[:, 3].max()) / found.freedom
    item = (np.stack([between + far, between]) - rater) / found.effective
    return replace(found, rater=rater, item=item)


def _weighted_sums(
    features: Floats, *, resamples: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return sums under exponential weights of mean 1, and the weight of one output more."""
    n, k = features.shape
    sums, imagined = np.empty((resamples, k)), np.empty(resamples)
    block = max(1, _BLOCK // n)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        weights = rng.standard_exponential(size=(size, n))
        total = weights.sum(axis=1) / n
        part = slice(start, start + size)
        sums[part] = weights @ features / total[:, np.newaxis]
        imagined[part] = rng.standard_exponential(size=size) / total
    return sums, imagined


def _features(sample: JudgedSample, adjusted: JudgedSample | None, systems: Ints | None) -> Floats:
    """Return per output all that the moments are sums of, centred against loss of digits."""
    judged = sample if adjusted is None else adjusted
    system = np.zeros(sample.n_outputs, dtype=np.int64) if systems is None else systems
    m = sample.count.astype(np.float64)
    of_system = np.bincount(system, weights=m)[system]
    z = _centred(judged.mean - judged.human.mean(), system, m)
    y = _centred(sample.mean - sample.human.mean(), system)
    # Equal judgments may differ from their mean by rounding; perfect agreement must be seen as such.
    within = np.where(judged.within > 1e-24 * np.ptp(judged.human) ** 2, judged.within, 0.0)
    g = sample.metric - sample.metric.mean(axis=0)
    g = np.column_stack([np.empty((len(g), 0)), *(_centred(column, system) for column in g.T)])
    squares = m * m * (m.sum() / of_system)
    return np.column_stack(
        [m, squares, m * z, m * z * z, within, y, y * y, g, y[:, np.newaxis] * g, g * g]
    )


def _centred(values: Floats, system: Ints, weights: Floats | None = None) -> Floats:
    """Return values less the weighted mean of their system."""
    w = np.ones(len(values)) if weights is None else weights
    mean = np.bincount(system, weights=w * values) / np.bincount(system, weights=w)
    return np.asarray(values - mean[system])


def _from_sums(
    sums: Floats, sample: JudgedSample, systems: Ints | None, *, factor: float
) -> SampleMoments:
    n, p = sample.n_outputs, sample.n_metrics
    freedom = n - (1 if systems is None else int(systems.max()) + 1)
    M, squares, my, myy, within, y, yy = sums[:, :_PLAIN].T
    g, yg, gg = (sums[:, _PLAIN + k * p : _PLAIN + (k + 1) * p] for k in range(3))
    scale = factor / freedom
    between = (myy - my**2 / M) * scale
    effective = (M - squares / M) / freedom
    rater = np.divide(within, M - n, out=np.full(len(M), np.nan), where=n < M)
    return SampleMoments(
        freedom=freedom,
        effective=effective,
        rater=rater,
        item=(between - rater) / effective,
        mean=(yy - y**2 / n) * scale,
        with_metric=(yg - y[:, np.newaxis] * g / n) * scale,
        metric=(gg - g**2 / n) * scale,
    )
