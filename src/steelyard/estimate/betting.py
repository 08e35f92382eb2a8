r"""An interval for the mean of bounded scores, valid for every distribution and sample size.

For a candidate mean m of scores in [0, 1] and a bet :math:`\theta \in [0, 1]`, the capital
:math:`\prod_i (1 - \theta + \theta x_i / m)` has expectation at most one when the mean is at most m,
for independent draws and, because draws without replacement are negatively associated
(Joag-Dev and Proschan, 1983), for them too. A mixture of such capitals over fixed bets is a capital
again, depends on no order of the scores, and by Markov's inequality exceeds 2/alpha with probability
at most alpha/2. The interval keeps the candidates that no capital rejects, on either side.
The idea of testing by betting is that of Waudby-Smith and Ramdas (2024); the fixed mixture takes the
place of their predictable bets so that the order of rows cannot matter.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import InvalidArgumentError

__all__ = ["betting_interval", "check_bounds"]

Floats = NDArray[np.float64]

_BETS = 24


def betting_interval(
    scores: Floats, *, bounds: tuple[float, float], level: float
) -> tuple[float, float]:
    """Return the ends of an interval for the mean of `scores`' population.

    Parameters
    ----------
    scores : (n,) array
        Independent draws, or draws without replacement, from scores within `bounds`.
    bounds : (float, float)
        Least and greatest possible score.
    level : float
        Confidence level.

    Returns
    -------
    low, high : float

    Raises
    ------
    InvalidArgumentError
        If a score lies outside `bounds`.

    Examples
    --------
    >>> low, high = betting_interval(np.ones(30), bounds=(0, 1), level=0.95)
    >>> round(low, 3), high
    (0.823, 1.0)
    """
    check_bounds(scores, bounds)
    least, greatest = bounds
    unit = np.clip((scores - least) / (greatest - least), 0, 1)
    values, counts = np.unique(unit, return_counts=True)
    bets = np.geomspace(0.5 / np.sqrt(len(unit)), 1, _BETS)
    threshold = np.log(2 / (1 - level)) + np.log(_BETS)
    low = _least_candidate(values, counts, bets, threshold)
    high = 1 - _least_candidate(1 - values, counts, bets, threshold)
    return least + low * (greatest - least), least + high * (greatest - least)


def check_bounds(scores: Floats, bounds: tuple[float, float]) -> None:
    """Raise if a score lies outside `bounds`."""
    least, greatest = bounds
    slack = 1e-9 * (greatest - least)
    if scores.min() < least - slack or scores.max() > greatest + slack:
        outside = scores.min() if scores.min() < least - slack else scores.max()
        raise InvalidArgumentError(
            f"`bounds` must enclose every score; got {outside:g} outside [{least:g}, {greatest:g}]"
        )


def _least_candidate(
    values: Floats, counts: NDArray[np.int64], bets: Floats, threshold: float
) -> float:
    """Return the least mean that the capital does not reject as too small."""

    def rejects(mean: float) -> bool:
        with np.errstate(divide="ignore"):
            gains = np.log1p(bets[:, np.newaxis] * (values / mean - 1))
        return bool(np.logaddexp.reduce(gains @ counts) >= threshold)

    return _bisect(rejects, float(values @ counts / counts.sum()))


def _bisect(rejects: Callable[[float], bool], high: float) -> float:
    """Return the boundary below `high`, on its rejected side so that the interval is not short."""
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        if middle <= 0:
            break
        if rejects(middle):
            low = middle
        else:
            high = middle
    return low
