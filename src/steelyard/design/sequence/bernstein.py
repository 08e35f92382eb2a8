r"""Empirical Bernstein confidence sequences: exact, in closed form but for a few steps.

Mnih, Szepesvári and Audibert's (2008) stopping rule holds an empirical Bernstein bound at all times by
a union over a geometric grid. Their proof needs independent draws of one distribution; a slope that is
learnt along the way, and draws without replacement, make the corrected judgments neither. So the bound is
put together here from supermartingales, which need only the mean given the past. For a predictable
guess :math:`\hat\mu_t` and :math:`b_t \ge \hat\mu_t - \ell_t` with :math:`\ell_t` the least value of
:math:`r_t`, Fan, Grama and Liu's (2015) inequality
:math:`e^{\theta\xi - \psi(\theta)\xi^2} \le 1 + \theta\xi` for :math:`\xi \ge -1`,
:math:`0 \le \theta < 1`, :math:`\psi(\theta) = -\log(1-\theta) - \theta`, makes

.. math:: \exp \sum_{s \le t} \Bigl\{\lambda_s (r_s - \mu_s(m))
          - \psi(\lambda_s b_s) \frac{(r_s - \hat\mu_s)^2}{b_s^2} \Bigr\}

a supermartingale when m is the mean (Howard, Ramdas, McAuliffe and Sekhon 2021). So is the mean of
several, here over bets :math:`\lambda` in geometric progression and, with a goal, one that is best for it. As
:math:`\mu_s(m) = w_s m - k_s`, the logarithm of that mean is a convex and falling function of m, and the
lower end is where it meets :math:`\log(2/\alpha)`. Newton's steps from the left never pass that point, so
the end holds after any number of them. The upper end is that of the mirrored judgments.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.design.sequence.residuals import Residuals

__all__ = ["bernstein_ends"]

Floats = NDArray[np.float64]

# From a handful of judgments to some hundred thousand: the best bet for n judgments of standard
# deviation s is about 3 / (s sqrt(n)).
_BETS = 4.0 * 0.5 ** np.arange(10)
_GREATEST_SHARE = 0.8
# A guess at the edge of the range would let a bet be as great as one likes.
_LEAST_RANGE = 0.05
# Shares of the slope among which each bet chooses.
_SHARES = (1.0, 0.75, 0.5, 0.25, 0.0)
# Weight of the bet that has the goal in mind, if there is a goal.
_GOAL_STAKE = 0.75
_STEPS = 5


def bernstein_ends(
    residuals: Residuals, *, alpha: float, goal: float | None = None, running: bool = True
) -> tuple[Floats, Floats]:
    """Return the ends of the sequence after each judgment.

    Parameters
    ----------
    residuals : Residuals
        Corrected judgments of R runs.
    alpha : float
        Probability with which the sequence may ever miss the mean.
    goal : float, optional
        Half-width at which the sequence is to be tightest, on the unit scale.
    running : bool
        Whether a candidate that was ever ruled out stays so: the running intersection.

    Returns
    -------
    low, high : (R, T) array
        On the unit scale.
    """
    low, high = (
        sign * _end(residuals, sign=sign, threshold=float(np.log(2 / alpha)), goal=goal)
        for sign in (1, -1)
    )
    return residuals.possible(low, high, running=running)


def _end(residuals: Residuals, *, sign: int, threshold: float, goal: float | None) -> Floats:
    """Return the lower end for the judgments, or the mirrored ones, after each; (R, T)."""
    # Without metrics there is nothing to choose.
    shares = _SHARES if (residuals.least < residuals.greatest).any() else (0.0,)
    choices = [(share, residuals.spread(share), _reach(residuals, share, sign)) for share in shares]
    bets = [np.asarray(bet) for bet in _BETS]
    stakes = np.full(len(bets), 1 / len(bets))
    if goal is not None:
        # where the derivative of bet * goal - penalty vanishes
        bets.append(goal / (choices[0][1] + goal * choices[0][2]))
        stakes = np.append(stakes * (1 - _GOAL_STAKE), _GOAL_STAKE)
    gains, rates = [], []
    for bet, stake in zip(bets, stakes, strict=True):
        gain, rate = _gain(residuals, choices, bet, sign=sign)
        gains.append(gain + np.log(stake))
        rates.append(rate)
    return _crossing(np.stack(gains), np.stack(rates), threshold)


def _reach(residuals: Residuals, share: float, sign: int) -> Floats:
    """Return how far a corrected judgment can fall below the guess: the mean judgment so far."""
    if sign == 1:
        reach = residuals.known + share * residuals.greatest
    else:
        reach = 1 - residuals.known - share * residuals.least
    return np.maximum(reach, _LEAST_RANGE)


def _gain(
    residuals: Residuals, choices: list[tuple[float, Floats, Floats]], bet: Floats, *, sign: int
) -> tuple[Floats, Floats]:
    r"""Return the logarithm of a supermartingale: its value at m = 0, and how it falls with m.

    A bet that suits n judgments has :math:`\lambda^2 \hat\sigma^2 / 2 = \log(2/\alpha)/n`; the share of
    the slope is that with which the distance told by then is least, as in `gamblers`.
    """
    shape = residuals.human.shape
    least, used, reach = np.full(shape, np.inf), np.zeros(shape), np.ones(shape)
    doubt = bet**2 * choices[0][1] / 2
    for share, variance, far in choices:
        risk = np.minimum(bet * residuals.weight * far, _GREATEST_SHARE)
        distance = (doubt + _penalty(risk) * variance / far**2) * far / risk
        better = distance < least
        np.copyto(least, distance, where=better)
        np.copyto(used, share, where=better)
        np.copyto(reach, far, where=better)
    placed = np.minimum(bet * residuals.weight, _GREATEST_SHARE / reach)
    value = residuals.human - used * residuals.shift
    squares = ((value - residuals.known) / reach) ** 2
    won = sign * placed * (value + residuals.offset) - _penalty(placed * reach) * squares
    return np.cumsum(won, axis=1), np.cumsum(placed * residuals.weight, axis=1)


def _penalty(share: Floats) -> Floats:
    return np.asarray(-np.log1p(-share) - share)


def _crossing(gains: Floats, rates: Floats, threshold: float) -> Floats:
    """Return where log sum exp(gains - rates * m) comes down to the threshold, from the left."""
    end = ((gains - threshold) / rates).max(axis=0)
    for _ in range(_STEPS):
        wealth = gains - rates * end
        top = wealth.max(axis=0)
        share = np.exp(wealth - top)
        mass = share.sum(axis=0)
        above = top + np.log(mass) - threshold
        end = end + np.maximum(above, 0) * mass / (share * rates).sum(axis=0)
    return np.asarray(end)
