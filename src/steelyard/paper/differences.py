"""Our data efficiencies against the released ones, in units of their Monte Carlo errors.

The released tables hold mean ratios of interval lengths that are not squared, from draws of their own.
Their error is not released; it is taken from ours: settings that share system and prompt have the same
plain mean, followed with other draws each time, and the scatter of its mean log length is the error of
one such curve. The authors drew the two curves of a ratio apart, so their ratio has the error of two.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from steelyard.paper.names import Setting
from steelyard.paper.trajectories import Followed
from steelyard.single.trajectory import Curve

__all__ = ["KINDS", "ReleasedDifference", "curve_error", "differences", "implied_distance"]

EfficiencyKind = Literal["metric", "noiseless raters", "perfect metric"]
KINDS: tuple[EfficiencyKind, ...] = ("metric", "noiseless raters", "perfect metric")
# Draws behind the released numbers.
_THEIR_DRAWS = 1000
_START, _STOP = 0.2, 0.9


@dataclass(frozen=True)
class ReleasedDifference(Setting):
    """One number of the authors' tables beside ours.

    Attributes
    ----------
    kind : str
        With the metric; the same with noiseless raters; with a perfect metric.
    released : float
        Mean ratio of lengths as released.
    reproduced : float
        Mean ratio of lengths, ours.
    z : float
        Difference of their logarithms over its standard error.
    slope_error : float
        Variance of the slope's error, in units in which it would be 1 if the residual variance and
        the metric were all that went into it; see `implied_distance`.
    """

    kind: EfficiencyKind
    released: float
    reproduced: float
    z: float
    slope_error: float

    @property
    def near(self) -> bool:
        """Whether the two are within two Monte Carlo errors."""
        return abs(self.z) < 2


def differences(followed: Sequence[Followed]) -> list[ReleasedDifference]:
    """Return all released data efficiencies beside ours; settings without one are left out."""
    if not followed:
        return []
    draws = followed[0].trajectory.draws
    theirs = float(np.sqrt(2 * draws / _THEIR_DRAWS)) * curve_error(followed)
    return [
        ReleasedDifference(
            *one.key,
            kind=kind,
            released=released,
            reproduced=curve.length_ratio,
            z=float(
                np.log(released / curve.length_ratio)
                / np.hypot(theirs, curve.monte_carlo_error / (2 * curve.data_efficiency))
            ),
            slope_error=_slope_error(one, kind),
        )
        for one in followed
        for kind, released, curve in _pairs(one)
    ]


def _pairs(one: Followed) -> Iterable[tuple[EfficiencyKind, float, Curve]]:
    curves = one.trajectory
    if one.released is not None:
        yield "metric", one.released, curves.corrected
    if one.released_noiseless is not None:
        yield "noiseless raters", one.released_noiseless, curves.noiseless_raters
    # The same for every metric: once is enough.
    if one.released_perfect is not None and one.metric == "rouge-l":
        yield "perfect metric", one.released_perfect, curves.perfect_metric


def _slope_error(one: Followed, kind: EfficiencyKind) -> float:
    """Return (1 + r) / (1 - r), r being the squared correlation of what is averaged and the metric."""
    square = max(1 - 1 / one.trajectory.corrected.data_efficiency, 0.0)
    if kind == "noiseless raters":
        # With v the variance of judgments over that of mean judgments, DE = v / (1 - r v).
        noiseless = one.trajectory.noiseless_raters.data_efficiency
        square *= noiseless / (1 + square * noiseless)
    return (1 + square) / (1 - square)


def curve_error(followed: Sequence[Followed]) -> float:
    """Return the Monte Carlo error of a curve's mean log length, over 20% to 90% of its way."""
    groups: dict[tuple[str, ...], list[float]] = {}
    for one in followed:
        length = one.trajectory.plain.length
        part = length[int(_START * len(length)) : int(_STOP * len(length))]
        groups.setdefault(one.key[:3], []).append(float(np.log(part).mean()))
    squares = sum(float(np.var(group) * len(group)) for group in groups.values())
    freedom = sum(len(group) - 1 for group in groups.values())
    return float(np.sqrt(squares / freedom)) if freedom else float("nan")


def implied_distance(cell: Iterable[ReleasedDifference]) -> float:
    r"""Return how far off the metric's mean must have been to explain released efficiencies.

    Let the metric be centred at a distance of :math:`\delta` standard deviations from its mean. The
    slope of the paper's Algorithm 1 divides a sample covariance by the variance of the pool, so that
    its variance is :math:`(1 + r) \sigma_y^2 / (n \sigma_g^2)` for normal scores with squared
    correlation r, against a residual variance of :math:`(1 - r) \sigma_y^2`. Data efficiency falls by
    the factor :math:`1 + \delta^2 (1 + r) / (1 - r)`.

    Zero where released efficiencies are not below ours.
    """
    excess = [((one.reproduced / one.released) ** 2 - 1) / one.slope_error for one in cell]
    return float(np.sqrt(max(float(np.mean(excess)), 0.0)))
