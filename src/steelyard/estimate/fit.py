"""An estimate as weights on the judged outputs."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Draw, JudgedOutputs

__all__ = [
    "Centred",
    "Fit",
    "Form",
    "design_weights",
    "named_method",
    "regression_weights",
    "solution",
]

Floats = NDArray[np.float64]
Form = Literal["hajek", "horvitz-thompson"]


@dataclass(frozen=True, eq=False)
class Fit:
    r"""A slope, and the estimate as weights on the judged outputs.

    Given the metrics and the draw, every estimate here is
    :math:`\hat\mu = c + \sum_i w_i \bar y_i`, so its variance follows from the weights alone.

    Attributes
    ----------
    kind : str
        Name of the slope; "given" for a number from elsewhere.
    slope : (p,) array
        The slope a; the mean over the pool of slopes that differ between strata.
    estimate : float
        The point estimate.
    weights, plain : (n,) array
        The weights w with the slope's part (of the full slope when it is shrunk), and without it.
    residual : (n,) array
        What the fit leaves of the outputs' mean judgments.
    columns, solver : (n, q) and (q, n) array
        What the slope fits to mean judgments y: ``columns @ (solver @ y)``; q is 0 for a slope from
        elsewhere.
    freedom : (H,) array or None
        Degrees of freedom of the residuals in each stratum; None if they follow from traces.
    intercept : bool
        Whether the strata's means are fitted too, as they are but for Horvitz and Thompson's form.
    """

    kind: str
    slope: Floats
    estimate: float
    weights: Floats
    plain: Floats
    residual: Floats
    columns: Floats
    solver: Floats
    freedom: Floats | None
    intercept: bool = True

    @property
    def from_this_sample(self) -> bool:
        """Whether the slope was estimated on the outputs that it corrects."""
        return self.kind not in {"given", "pooled"}

    @property
    def degrees_of_freedom(self) -> float:
        """Degrees of freedom of all residuals, where they are counted."""
        return float(len(self.residual) - 1 if self.freedom is None else self.freedom.sum())

    @property
    def residual_variance(self) -> float:
        """Variance of mean judgments around the fit of a simple draw."""
        return float(self.residual @ self.residual / self.degrees_of_freedom)


@dataclass(frozen=True, eq=False)
class Centred:
    """Judgments and metrics around their strata's means.

    Attributes
    ----------
    y : (n,) array
        Mean judgments.
    g : (n, p) array
        Metrics.
    plain, weights : (n,) array
        Weight of each output in the estimate without a metric, and in a regression.
    shift : (p,) array
        d, the weighted mean metric of the sample minus the pool's.
    S : (p, p) array
        Weighted sums of squares and products of the metrics.
    C : (p,) array
        Weighted sums of products of metric and judgment.
    intercept : bool
        As in `Fit`.
    """

    y: Floats
    g: Floats
    plain: Floats
    weights: Floats
    shift: Floats
    S: Floats
    C: Floats
    intercept: bool

    @classmethod
    def of(
        cls, sample: JudgedOutputs, draw: Draw, pool_mean: Floats, *, form: Form = "hajek"
    ) -> "Centred":
        """Centre the judged outputs; `pool_mean` is where the estimate is wanted."""
        plain, k = design_weights(draw, form), regression_weights(draw)
        y = sample.mean - draw.means(sample.mean[:, np.newaxis], plain)[draw.stratum, 0]
        g = sample.metric - draw.means(sample.metric, plain)[draw.stratum]
        weighted = g * k[:, np.newaxis]
        shift = plain @ sample.metric - pool_mean
        intercept = draw.probability is None or form == "hajek"
        return cls(y, g, plain, k, shift, weighted.T @ g, weighted.T @ y, intercept)

    def fit(
        self,
        kind: str,
        sample: JudgedOutputs,
        *,
        slope: Floats,
        solver: Floats,
        freedom: Floats | None,
    ) -> "Fit":
        """Return the estimate with one slope for all outputs, which `solver` makes of judgments."""
        metric = self.g if self.intercept else sample.metric
        y = self.y if self.intercept else sample.mean
        # Around their mean, so that equal judgments give exactly that number.
        centre = sample.mean.mean() if self.intercept else 0.0
        mean = centre + self.plain @ (sample.mean - centre)
        return Fit(
            kind=kind,
            slope=slope,
            estimate=float(mean - slope @ self.shift),
            weights=self.plain - solver.T @ self.shift if len(solver) else self.plain,
            plain=self.plain,
            residual=y - metric @ slope,
            columns=metric if len(solver) else metric[:, :0],
            solver=solver,
            freedom=freedom,
            intercept=self.intercept,
        )


def named_method(draw: Draw, estimator: str) -> str:
    """Return the name of an estimator with that of the draw before it."""
    if draw.simple:
        return "sample-mean" if estimator == "mean" else estimator
    design = "spread-" if draw.place is not None else ""
    if draw.probability is not None:
        design = "weighted-"
    elif len(draw.names) > 1:
        design = "post-stratified-" if draw.poststratified else "stratified-"
    return f"{'clustered-' if draw.cluster is not None else ''}{design}{estimator}"


def design_weights(draw: Draw, form: Form) -> Floats:
    """Return the weight of each output's mean judgment in the estimate without a metric."""
    if draw.probability is None:
        return (draw.share / draw.count)[draw.stratum]
    expanded = 1 / draw.probability
    if form == "horvitz-thompson":
        return np.asarray(expanded / draw.size.sum())
    return np.asarray(expanded * (draw.share / draw.total(expanded))[draw.stratum])


def regression_weights(draw: Draw) -> Floats:
    """Return the weight of each output in a regression, as its draw asks for."""
    if draw.probability is not None:
        return np.asarray(1 / draw.probability)
    if len(draw.names) == 1:
        return np.ones(len(draw.stratum))
    # The weights that give the stratified mean the least variance (Cochran, section 7.10).
    pairs = np.maximum(draw.count * (draw.count - 1), 1)
    limited = 1 - draw.count / draw.size if draw.identified else 1.0
    k = draw.share**2 * limited / pairs
    return np.asarray((k if k.any() else draw.share**2 / pairs)[draw.stratum])


def solution(matrix: Floats, right: Floats) -> Floats:
    """Solve a linear system in double precision."""
    return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
