"""The plain mean as weights on the judged outputs, and the share of a slope to keep."""

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Draw, JudgedOutputs
from steelyard.errors import NotEstimableError
from steelyard.estimate.fit import Centred, Fit

__all__ = ["plain_fit", "shrinkage"]

Floats = NDArray[np.float64]


def plain_fit(sample: JudgedOutputs, draw: Draw) -> Fit:
    """Return the estimate without metrics of outputs drawn by `draw`."""
    if sample.n_outputs < 2:
        raise NotEstimableError(
            f"an interval needs at least 2 judged outputs; got {sample.n_outputs}: judge more "
            "outputs"
        )
    centred = Centred.of(sample, draw, np.empty(0))
    freedom = draw.count - 1 if draw.probability is None else None
    solver = np.empty((0, sample.n_outputs))
    return centred.fit("given", sample, slope=np.empty(0), solver=solver, freedom=freedom)


def shrinkage(explained: Floats, residual: Floats, n_metrics: int, *, freedom: float) -> Floats:
    r"""Share of a least-squares slope to keep: :math:`E / (E + 3 p R / \nu)`.

    A worthless metric explains one residual variance :math:`R/\nu` of the sum of squares E on
    average. The constant 3 was chosen by measurement (docs/decisions/0002-slope.md).

    Parameters
    ----------
    explained, residual : array
        Explained and residual sums of squares, E and R, on any common scale.
    n_metrics : int
        Number of metrics p.
    freedom : float
        Residual degrees of freedom.
    """
    noise = 3 * n_metrics * residual / freedom
    return np.divide(
        explained, explained + noise, out=np.zeros_like(noise), where=np.asarray(explained > 0)
    )
