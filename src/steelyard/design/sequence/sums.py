"""Running sums of judgments and metrics, and the slopes that follow from them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.estimate.slope import shrinkage

__all__ = ["RunningSums", "running_totals"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RunningSums:
    r"""Means and centred sums of products of R runs, at each of T judgments.

    Attributes
    ----------
    count : (T,) array
        Judgments in the sums: 0, ..., T-1 before each judgment, 1, ..., T after it.
    human : (R, T) array
        Mean judgment; 0 when there is none.
    metric : (R, T, q) array
        Mean metrics.
    total : (R, T) array
        :math:`\sum (y - \bar y)^2`.
    cross : (R, T, q) array
        :math:`\sum (g - \bar g)(y - \bar y)`.
    square : (R, T, q, q) array
        :math:`\sum (g - \bar g)(g - \bar g)'`.
    """

    count: Floats
    human: Floats
    metric: Floats
    total: Floats
    cross: Floats
    square: Floats

    @classmethod
    def of(cls, human: Floats, metric: Floats, *, before: bool) -> "RunningSums":
        """Return the sums before each judgment, or after it.

        Parameters
        ----------
        human : (R, T) array
            Judgments on the unit scale.
        metric : (R, T, q) array
            Metrics that have mean 0, variance 1 and no correlation over the pool.
        before : bool
            Whether to leave the judgment itself out.
        """
        y = human - 0.5  # squares of small numbers lose fewer digits
        count = np.arange(human.shape[1], dtype=np.float64) + (0 if before else 1)
        n = np.maximum(count, 1)
        sum_y, sum_g = (running_totals(values, before=before) for values in (y, metric))
        mean_y, mean_g = sum_y / n, sum_g / n[:, np.newaxis]
        products = metric[..., :, np.newaxis] * metric[..., np.newaxis, :]
        cross = running_totals(metric * y[..., np.newaxis], before=before)
        square = running_totals(products, before=before)
        return cls(
            count,
            mean_y + 0.5,
            mean_g,
            np.maximum(running_totals(y**2, before=before) - sum_y * mean_y, 0),
            cross - mean_g * sum_y[..., np.newaxis],
            square - sum_g[..., :, np.newaxis] * mean_g[..., np.newaxis, :],
        )

    @property
    def slope(self) -> Floats:
        """Least squares with one imagined output at the pool's spread; (R, T, q).

        Metrics that happen to be equal so far then give no wild slope.
        """
        return self.solved(self.cross)

    @property
    def shrunk_slope(self) -> Floats:
        """`slope` shrunk by its own uncertainty; zero until more than q + 2 judgments are in."""
        q = self.cross.shape[-1]
        slope = self.slope
        explained = (self.cross * slope).sum(axis=-1)
        freedom = np.maximum(self.count - 1 - q, 1)
        residual = np.maximum(self.total - explained, 0) / freedom
        kept = shrinkage(explained, residual, q, freedom=1)
        kept[:, self.count <= q + 2] = 0
        return np.asarray(slope * kept[..., np.newaxis])

    def residual(self, slope: Floats) -> tuple[Floats, Floats]:
        r"""Return the coefficients of the residual sum of squares in a share of a slope.

        With the share :math:`\kappa` of a slope a it is
        :math:`\sum (y - \bar y)^2 - 2\kappa\, a'c + \kappa^2 a'Sa`; (R, T) each of a'c and a'Sa.
        """
        linear = (self.cross * slope).sum(axis=-1)
        turned = (self.square @ slope[..., np.newaxis])[..., 0]
        return linear, (slope * turned).sum(axis=-1)

    def solved(self, values: Floats) -> Floats:
        """Return (S + I)^-1 times values, (R, T, q)."""
        q = values.shape[-1]
        S = self.square + np.eye(q)
        if q == 0:
            return values
        if q == 1:  # a million systems of one equation are a division
            return np.asarray(values / S[..., 0])
        return np.asarray(np.linalg.solve(S, values[..., np.newaxis])[..., 0])


def running_totals(values: Floats, *, before: bool) -> Floats:
    """Sums over the judgments up to each one along axis 1, with it or without."""
    if not before:
        return np.cumsum(values, axis=1)
    sums = np.zeros_like(values)
    np.cumsum(values[:, :-1], axis=1, out=sums[:, 1:])
    return sums
