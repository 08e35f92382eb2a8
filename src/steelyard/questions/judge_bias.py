"""What a metric is beside the people: correlation, scale, biases, agreement, calibration."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import stdtrit

from steelyard.model.campaign import Floats
from steelyard.questions.judge_moments import JudgedMeans, Moments, Value, value_of

__all__ = ["BesidePeople", "CalibrationPoint", "ColumnBias", "PassFail"]

# More values of a metric than this are cut into bands.
_VALUES, _BANDS = 8, 5
# The relative error of the scale, where how much raters differ is assumed and not observed.
_ASSUMED_ERROR = 0.3


@dataclass(frozen=True)
class ColumnBias:
    """How much more a metric gives, at equal human score, to outputs with more of something.

    Attributes
    ----------
    column : str
        What it is, such as "words".
    bias : Value
        For one standard deviation more of it, in units of the human scores.
    is_clear : bool
        Whether it is there for sure, all columns considered.
    """

    column: str
    bias: Value
    is_clear: bool


@dataclass(frozen=True)
class CalibrationPoint:
    """The mean human score of outputs to which a metric gives about the same."""

    metric_from: float
    metric_to: float
    metric: float
    human: Value
    n_outputs: int


@dataclass(frozen=True)
class PassFail:
    """How a judge that says pass or fail does beside people who do.

    Attributes
    ----------
    sensitivity, specificity : Value
        The share of what a rater passes that the judge passes, and of what a rater fails that it fails.
    """

    sensitivity: Value
    specificity: Value


@dataclass(frozen=True, eq=False)
class BesidePeople:
    """One metric beside the human scores of the judged outputs.

    Attributes
    ----------
    judged : JudgedMeans
        The judged outputs.
    metric : (m,) array
        The metric of each.
    columns : mapping of str to (m,) array
        What a metric may be biased towards.
    pass_share : float
        Mean of the metric over all pools.
    level : float
        Confidence level.
    """

    judged: JudgedMeans
    metric: Floats
    columns: Mapping[str, Floats]
    pass_share: float
    level: float

    @cached_property
    def moments(self) -> Moments:
        """Moments of human score, metric and columns."""
        return Moments(
            self.judged, np.stack([self.judged.mean, self.metric, *self.columns.values()], axis=1)
        )

    @cached_property
    def _both(self) -> Floats:
        """Covariance of metric and human score within systems, kept away from 0."""
        found = self.moments.within[:, 0, 1]
        least = 1e-6 * np.sqrt(self.moments.within[:, 0, 0] * self.moments.within[:, 1, 1])
        return np.where(np.abs(found) < least, np.where(found < 0, -least, least), found)

    @cached_property
    def varies(self) -> bool:
        """Whether the metric differs between judged outputs of a system."""
        return bool(
            self.moments.within[0, 1, 1] > 1e-12 * max(float(np.mean(self.metric**2)), 1e-300)
        )

    @property
    def correlation(self) -> Value:
        """Correlation with the human score, corrected for raters' noise where that is known."""
        moments = self.moments
        spread = moments.signal if moments.has_noise else moments.within[:, 0, 0]
        found = moments.within[:, 0, 1] / np.sqrt(spread * moments.within[:, 1, 1])
        return value_of(found, self.level, ends=(-1.0, 1.0))

    @property
    def scale(self) -> Value:
        """How much a metric differs where human scores differ by 1."""
        if not self.moments.has_noise:
            return Value(float("nan"), float("nan"), float("nan"))
        found = self._both / self.moments.signal
        if not (found * found[0] > 0).all():
            return value_of(found, self.level)
        # a ratio of two variances is long in its upper tail
        logs = value_of(np.log(np.abs(found)), self.level)
        ends = sorted(np.sign(found[0]) * np.exp(one) for one in (logs.low, logs.high))
        return Value(float(found[0]), float(ends[0]), float(ends[1]))

    @cached_property
    def to_human(self) -> Floats:
        """What a difference of 1 in the metric is on the human scale, with and without each group."""
        return np.asarray(self.moments.signal / self._both)

    @property
    def assumed_variance(self) -> float:
        """What is added to the variance of `to_human` where raters' noise is assumed."""
        return 0.0 if self.moments.has_noise else float((_ASSUMED_ERROR * self.to_human[0]) ** 2)

    def biases(self) -> list[ColumnBias]:
        """Return the bias towards each column, at equal human score and equal other columns."""
        moments = self.moments
        spread = np.diagonal(moments.within[0])[2:]
        size = np.array([np.mean(one**2) for one in self.columns.values()])
        kept = np.flatnonzero(spread > 1e-9 * size) if len(size) else size.astype(np.int64)
        names = [list(self.columns)[place] for place in kept]
        if not names:
            return []
        those = [0, *(2 + kept)]
        a = moments.within[np.ix_(range(moments.groups + 1), those, those)].copy()
        a[:, 0, 0] = moments.signal
        a += 1e-9 * np.eye(len(those)) * np.maximum(np.diagonal(a[0]), 1e-150)
        slope = np.linalg.solve(a, moments.within[:, those, 1][..., None])[..., 0]
        width = np.sqrt(np.diagonal(a, axis1=1, axis2=2))
        unit = 1 / np.where(np.abs(slope[:, 0]) < 1e-9, 1e-9, slope[:, 0])
        clear = 1 - (1 - self.level) / len(names)
        found = []
        for place, name in enumerate(names, 1):
            one = slope[:, place] * width[:, place] * unit
            is_clear = value_of(one, clear).excludes_zero
            found.append(ColumnBias(name, value_of(one, self.level), is_clear))
        return found

    @property
    def kappa(self) -> Value:
        """Agreement with one rater: kappa with quadratic weights, for a metric on the human scale."""
        mean, cov = self.moments.whole
        noise = self._noise_beyond
        apart = cov[:, 0, 0] + cov[:, 1, 1] - 2 * cov[:, 0, 1] + noise
        off = (mean[:, 0] - mean[:, 1]) ** 2
        chance = cov[:, 0, 0] + noise + cov[:, 1, 1] + off
        return value_of(1 - (apart + off) / chance, self.level, ends=(-1.0, 1.0))

    @property
    def _noise_beyond(self) -> Floats:
        """Variance of one judgment beyond that of an output's mean."""
        noise = np.nan_to_num(self.moments.noise)
        return np.asarray(noise * (1 - self.moments.single))

    @property
    def explained(self) -> Floats:
        """Share of the variance of outputs' mean judgments that the metric explains within systems."""
        within = self.moments.within
        return np.asarray(np.clip(self._both**2 / (within[:, 0, 0] * within[:, 1, 1]), 1e-6, 0.999))

    @property
    def perfect(self) -> Value:
        """Share of judgments that a metric would save that is the human score itself."""
        if not self.moments.has_noise:
            return Value(float("nan"), float("nan"), float("nan"))
        found = self.moments.signal / self.moments.within[:, 0, 0]
        return value_of(found, self.level, ends=(0.0, 1.0))

    @property
    def noiseless(self) -> Value:
        """Share of judgments that this metric would save if raters always agreed."""
        if not self.moments.has_noise:
            return Value(float("nan"), float("nan"), float("nan"))
        within, signal = self.moments.within, self.moments.signal
        left = np.maximum(signal - self._both**2 / within[:, 1, 1], 0.0)
        return value_of(1 - left / within[:, 0, 0], self.level, ends=(0.0, 1.0))

    def pass_fail(self) -> PassFail | None:
        """Return sensitivity and specificity, where judge and people say pass or fail."""
        if not (np.isin(self.metric, (0.0, 1.0)).all() and 0 < self.pass_share < 1):
            return None
        sums, products = self.moments.sums.sum(axis=1), self.moments.products.sum(axis=1)
        mass = self.moments.mass.sum(axis=1)
        passed = products[:, 0, 1] / np.maximum(sums[:, 1], 1e-9)
        failed = (sums[:, 0] - products[:, 0, 1]) / np.maximum(mass - sums[:, 1], 1e-9)
        p = self.pass_share
        right, missed = p * passed, (1 - p) * failed
        rejected, wrong = (1 - p) * (1 - failed), p * (1 - passed)
        return PassFail(
            value_of(right / np.maximum(right + missed, 1e-9), self.level, ends=(0.0, 1.0)),
            value_of(rejected / np.maximum(rejected + wrong, 1e-9), self.level, ends=(0.0, 1.0)),
        )

    def calibration(self) -> list[CalibrationPoint]:
        """Return the mean human score in bands of the metric."""
        g, judged = self.metric, self.judged
        values = np.unique(g)
        if len(values) > _VALUES:
            edges = np.unique(np.quantile(g, np.arange(1, _BANDS) / _BANDS))
            band = np.searchsorted(edges, g, side="right")
        else:
            band = np.searchsorted(values, g)
        found = []
        for one in np.unique(band):
            own = band == one
            weight = judged.weight[own]
            items, item = np.unique(judged.item[own], return_inverse=True)
            if len(items) < 2:
                continue
            mean = float(np.average(judged.mean[own], weights=weight))
            off = np.bincount(item, weight * (judged.mean[own] - mean))
            error = np.sqrt(len(items) / (len(items) - 1) * np.sum(off**2)) / weight.sum()
            reach = float(stdtrit(len(items) - 1, (1 + self.level) / 2) * error)
            found.append(
                CalibrationPoint(
                    metric_from=float(g[own].min()),
                    metric_to=float(g[own].max()),
                    metric=float(np.average(g[own], weights=weight)),
                    human=Value(mean, mean - reach, mean + reach),
                    n_outputs=int(own.sum()),
                )
            )
        return found
