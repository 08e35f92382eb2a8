"""An estimate as weights on the judged outputs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs

__all__ = ["Centred", "Fit", "solution"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fit:
    r"""A slope, and the estimate as weights on the judged outputs.

    Given the metrics, every estimate here is
    :math:`\hat\mu = c + \sum_i w_i \bar y_i` with :math:`\sum_i w_i = 1`, so its variance follows
    from the weights alone.

    Attributes
    ----------
    kind : str
        Name of the slope; "given" for a number from elsewhere.
    slope : (p,) array
        The slope a.
    estimate : float
        The point estimate.
    weights : (n,) array
        The weights w; of the full slope when it is shrunk.
    residual_variance : float
        Variance of mean judgments around the fit.
    degrees_of_freedom : int
        Degrees of freedom of `residual_variance`.
    """

    kind: str
    slope: Floats
    estimate: float
    weights: Floats
    residual_variance: float
    degrees_of_freedom: int

    @property
    def from_this_sample(self) -> bool:
        """Whether the slope was estimated on the outputs that it corrects."""
        return self.kind not in {"given", "pooled"}


@dataclass(frozen=True, eq=False)
class Centred:
    """Judgments and metrics around the sample's means.

    Attributes
    ----------
    y : (n,) array
        Mean judgments.
    g : (n, p) array
        Metrics.
    shift : (p,) array
        d, the sample's mean metric minus the pool's.
    S : (p, p) array
        Sums of squares and products of the metrics.
    C : (p,) array
        Sums of products of metric and judgment.
    """

    y: Floats
    g: Floats
    shift: Floats
    S: Floats
    C: Floats

    @classmethod
    def of(cls, sample: JudgedOutputs, pool_mean: Floats) -> "Centred":
        """Centre the judged outputs; `pool_mean` is where the estimate is wanted."""
        mean = sample.metric.mean(axis=0)
        y, g = sample.mean - sample.mean.mean(), sample.metric - mean
        return cls(y, g, mean - pool_mean, g.T @ g, g.T @ y)


def solution(matrix: Floats, right: Floats) -> Floats:
    """Solve a linear system in double precision."""
    return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
