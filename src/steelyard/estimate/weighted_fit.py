"""A weighted mean as weights on the judged outputs, with or without a slope."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs
from steelyard.errors import NotEstimableError
from steelyard.estimate.drawn import slope_solver
from steelyard.estimate.weighted_variance import ExpandedResiduals

__all__ = ["Form", "Slope", "Weighing", "WeightedFit", "fit_weighted", "weighted_least_squares"]

Floats = NDArray[np.float64]
Form = Literal["hajek", "horvitz-thompson"]


@dataclass(frozen=True, eq=False)
class Weighing:
    """Inclusion probabilities of the judged outputs, and what their sum is divided by."""

    probability: Floats
    pool_size: int
    form: Form

    @property
    def weights(self) -> Floats:
        """Weight of each output in the estimate without a slope of its own."""
        expanded = 1 / self.probability
        whole = expanded.sum() if self.form == "hajek" else self.pool_size
        return np.asarray(expanded / whole)


@dataclass(frozen=True, eq=False)
class Slope:
    """A slope, and how e/pi of each output pulls at it; None when it is from elsewhere."""

    kind: str
    value: Floats
    pull: Floats | None = None


@dataclass(frozen=True, eq=False)
class WeightedFit:
    """An estimate as weights on the judged outputs.

    Attributes
    ----------
    slope : Slope
        The slope; of no entries without a metric.
    estimate : float
        The point estimate.
    probability : (n,) array
        Inclusion probabilities.
    plain, weights : (n,) array
        Weight of each output's mean judgment in the estimate, without and with the slope's part.
    residuals : ExpandedResiduals
        What the fit leaves.
    """

    slope: Slope
    estimate: float
    probability: Floats
    plain: Floats
    weights: Floats
    residuals: ExpandedResiduals

    @property
    def exhausted(self) -> float:
        """What the finite pool takes off the sum of squared weights."""
        return float(self.plain**2 @ self.probability)


def weighted_least_squares(sample: JudgedOutputs, pi: Floats) -> Slope:
    """Return the slope of least squares with weights 1/pi and an intercept.

    Raises
    ------
    NotEstimableError
        If there are too few judged outputs, or a metric is constant or repeats others.
    """
    n, p = sample.n_outputs, sample.n_metrics
    if n <= p + 2:
        raise NotEstimableError(
            f"a slope on {p} metric(s) needs more than {p + 2} judged outputs; got {n}: "
            "judge more outputs, use fewer metrics, or give the slope"
        )
    centred = sample.metric - np.average(sample.metric, axis=0, weights=1 / pi)
    inverse = slope_solver(sample.metric, centred, weights=1 / pi, where="the judged outputs")
    pull = centred @ inverse
    return Slope("least-squares", np.asarray(pull.T @ (sample.mean / pi)), pull)


def fit_weighted(
    weigh: Weighing, sample: JudgedOutputs, slope: Slope, *, pool: Floats
) -> WeightedFit:
    """Return the estimate with this slope; `pool` holds the pool's mean metrics."""
    pi, w = weigh.probability, weigh.weights
    rest = sample.mean - sample.metric @ slope.value
    shift = w @ sample.metric - pool
    return WeightedFit(
        slope=slope,
        estimate=float(w @ rest + slope.value @ pool),
        probability=pi,
        plain=w,
        weights=w if slope.pull is None else w - (slope.pull @ shift) / pi,
        residuals=_expanded(weigh, sample, slope),
    )


def _expanded(weigh: Weighing, sample: JudgedOutputs, slope: Slope) -> ExpandedResiduals:
    """Return the residuals of the fit: around a slope of their own, and for Hajek around the mean."""
    pi, n = weigh.probability, sample.n_outputs
    y = sample.mean
    columns, solver = np.empty((n, 0)), np.empty((0, n))
    if slope.pull is None:
        y = y - sample.metric @ slope.value
    else:
        columns, solver = sample.metric, (slope.pull / pi[:, np.newaxis]).T
    if weigh.form == "hajek":
        # the weighted mean of what the slope leaves
        w = weigh.weights
        columns = np.column_stack([columns, np.ones(n)])
        solver = np.vstack([solver, w - (w @ columns[:, :-1]) @ solver])
    return ExpandedResiduals(y, pi, columns, solver)
