r"""Gamblers: how much each bets on the next corrected judgment, and how much of the slope she uses.

A gambler who has n judgments in mind bets Waudby-Smith and Ramdas's (2024) predictable plug-in

.. math:: \lambda_t = w_t \sqrt{\frac{2 \log(2/\alpha)}{\hat\sigma_{t-1}^2\, n}} .

By then she can tell a distance of :math:`\log(2/\alpha)/(n\lambda) + \lambda\hat\sigma^2/2`, which this
:math:`\lambda` makes least. But no bet may lose more than a share c of the capital on one judgment, so that
:math:`\lambda \le c/(\mu - \ell)` with :math:`\ell` the least value of the corrected judgment, and the more of the
slope is used, the smaller is the variance and the lower lies :math:`\ell`. She uses the share of the slope
that makes the distance least. All of this is known before the judgment, so her game is fair.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.design.sequence.residuals import Residuals

__all__ = ["GREATEST_LOSS", "Gambler", "gamblers"]

Floats = NDArray[np.float64]

# The greatest share of the capital that may be lost on one judgment.
GREATEST_LOSS = 0.95
# Numbers of judgments that a gambler each has in mind.
_HORIZONS = (64, 256, 1024, 4096, 16384)
# Shares of the slope among which each chooses.
_SHARES = (1.0, 0.75, 0.5, 0.25, 0.0)
# Share of the initial capital of the one who has the goal in mind, if there is a goal.
_GOAL_STAKE = 0.75


@dataclass(frozen=True, eq=False)
class Gambler:
    """One way to bet on one side.

    Attributes
    ----------
    stake : float
        Share of the initial capital.
    bet : (R, T) array
        Bet before each judgment, not yet limited by what may be lost.
    outcome : (R, T) array
        Corrected judgment plus offset, r + k, with the side's sign; its mean is that of w m.
    worst : (R, T) array
        The least that `outcome` could have been.
    """

    stake: float
    bet: Floats
    outcome: Floats
    worst: Floats

    def until(self, time: int) -> "Gambler":
        """Return the first `time` judgments."""
        arrays = (self.bet, self.outcome, self.worst)
        return Gambler(self.stake, *(array[:, :time] for array in arrays))


def gamblers(
    residuals: Residuals, *, sign: int, alpha: float, goal: float | None = None
) -> list[Gambler]:
    r"""Return the gamblers of one side; their stakes sum to 1.

    Five have 64 to 16384 judgments in mind, one :math:`W_t \log(1 + W_t)`. With a goal three
    quarters of the capital go to one who has in mind the number at which it would be reached,
    :math:`2 \log(2/\alpha)\, \hat\sigma_{t-1}^2 / h^2`.

    Parameters
    ----------
    residuals : Residuals
        Corrected judgments of R runs.
    sign : {1, -1}
        Whether to bet that the mean is greater, or that it is smaller.
    alpha : float
        The doubt that bets are tuned for.
    goal : float, optional
        Half-width to reach, on the unit scale.
    """
    doubt = float(np.log(2 / alpha))
    information = residuals.information
    horizons: list[Floats] = [np.asarray(float(n)) for n in _HORIZONS]
    horizons.append(information * np.log1p(information))
    stakes = [1 / len(horizons)] * len(horizons)
    if goal is not None:
        stakes = [stake * (1 - _GOAL_STAKE) for stake in stakes] + [_GOAL_STAKE]
        horizons.append(2 * doubt * residuals.spread(1.0) / goal**2)
    # Without metrics there is nothing to choose.
    shares = _SHARES if (residuals.least < residuals.greatest).any() else (0.0,)
    choices = [_Choice.of(residuals, share, sign=sign) for share in shares]
    return [
        _gambler(residuals, choices, stake, doubt / horizon, sign=sign)
        for stake, horizon in zip(stakes, horizons, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _Choice:
    """What a share of the slope would leave: the variance, and the greatest bet; (R, T) each."""

    share: float
    variance: Floats
    greatest: Floats

    @classmethod
    def of(cls, residuals: Residuals, share: float, *, sign: int) -> "_Choice":
        if sign == 1:
            reach = residuals.known + share * residuals.greatest
        else:
            reach = 1 - residuals.known - share * residuals.least
        greatest = GREATEST_LOSS / (reach * residuals.weight)
        return cls(share, residuals.spread(share), greatest)


def _gambler(
    residuals: Residuals, choices: list[_Choice], stake: float, doubt: Floats, *, sign: int
) -> Gambler:
    """Return the gambler whose doubt a judgment is log(2/alpha)/n."""
    shape = residuals.human.shape
    least, bet, share = np.full(shape, np.inf), np.zeros(shape), np.zeros(shape)
    for choice in choices:
        plain = np.sqrt(2 * doubt / choice.variance)
        placed = np.minimum(plain, choice.greatest)
        distance = doubt / placed + placed * choice.variance / 2
        better = distance < least
        np.copyto(least, distance, where=better)
        np.copyto(bet, plain, where=better)
        np.copyto(share, choice.share, where=better)
    outcome = residuals.human - share * residuals.shift + residuals.offset
    if sign == 1:
        worst = residuals.offset - share * residuals.greatest
    else:
        worst = share * residuals.least - 1 - residuals.offset
    return Gambler(stake, residuals.weight * bet, sign * outcome, worst)
