r"""Confidence sequences by betting: exact at every moment for scores within bounds.

Against a candidate mean m a gambler stakes a share of her capital on the next corrected judgment,

.. math:: K_t^\pm(m) = \prod_{s \le t} \bigl(1 \pm \lambda_s^\pm(m) (r_s - \mu_s(m))\bigr), \qquad
          \mu_s(m) = w_s m - k_s .

If m is the mean, the game is fair: the capital is a nonnegative martingale that starts at 1, and by
Ville's inequality it ever reaches :math:`2/\alpha` with probability at most :math:`\alpha/2`. The
sequence holds the candidates against which neither capital ever did. Every factor of :math:`K^+` falls
as m rises and every factor of :math:`K^-` rises, bets included, so these candidates are an interval.

Bets are Waudby-Smith and Ramdas's (2024) predictable plug-ins, which follow the variance seen so far,

.. math:: \lambda_t = w_t \sqrt{\frac{2 \log(2/\alpha)}{\hat\sigma_{t-1}^2\, \tau_t}}, \qquad
          \lambda_t^+(m) = \min\Bigl(\lambda_t, \frac{c}{\mu_t(m) - \ell_t}\Bigr), \qquad
          \lambda_t^-(m) = \min\Bigl(\lambda_t, \frac{c}{h_t - \mu_t(m)}\Bigr),

where :math:`[\ell_t, h_t]` is the range of :math:`r_t`, so that no factor falls below :math:`1 - c`. Their bets
for a sample of known size n have :math:`\tau_t = n`, those for a sequence
:math:`\tau_t = W_t \log(1 + W_t)`. The first are best at one time and the second at none, so the capital is
divided evenly among gamblers of the first kind, with n on a geometric grid, and one of the second. A sum
of fair games is a fair game; at n = 500 the half-width for binary scores is 0.062, against 0.112
with the second kind alone.

Without replacement a judgment tells more about m the fewer outputs are left: :math:`\mu_t(m)` moves
:math:`w_t` times as fast as m, and the bet that makes capital grow fastest is :math:`w_t` times as great.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.design.sequence.residuals import Residuals

__all__ = ["betting_ends", "capital"]

Floats = NDArray[np.float64]

# The greatest share of the capital that may be lost on one judgment.
_STAKE = 0.9
# Numbers of judgments that a gambler each has in mind.
_HORIZONS = (64, 256, 1024, 4096, 16384)
# Halvings of what is possible: ends are found to within 1e-6 of the score's range.
_HALVINGS = 20
# Capital beyond this is counted as this, so that the exponential does not overflow.
_ENOUGH = 600.0


def betting_ends(
    residuals: Residuals, times: NDArray[np.int64], *, alpha: float, running: bool = True
) -> tuple[Floats, Floats]:
    """Return the ends of the sequence after each of `times` judgments.

    Parameters
    ----------
    residuals : Residuals
        Corrected judgments of R runs.
    times : (K,) array
        Numbers of judgments, each at least 1.
    alpha : float
        Probability with which the sequence may ever miss the mean.
    running : bool
        Whether a candidate that was ever ruled out stays so: the running intersection.

    Returns
    -------
    low, high : (R, K) array
        On the unit scale.
    """
    bets = _bets(residuals, alpha)
    low, high = (
        [
            _end(residuals.until(t), bets[..., :t], sign=sign, alpha=alpha, running=running)
            for t in times
        ]
        for sign in (1, -1)
    )
    return np.stack(low, axis=1), np.stack(high, axis=1)


def capital(residuals: Residuals, mean: Floats, *, sign: int, alpha: float) -> Floats:
    r"""Capital against `mean` after each judgment.

    Parameters
    ----------
    residuals : Residuals
        Corrected judgments of R runs.
    mean : (R,) array
        The candidate of each run, between its last `floor` and `ceiling`.
    sign : {1, -1}
        Whether to bet that the mean is greater, or that it is smaller.
    alpha : float
        The doubt that the bets are tuned for; `mean` is ruled out once the capital reaches
        :math:`2/\alpha`.

    Returns
    -------
    (R, T) array
    """
    return _capital(residuals, mean, _bets(residuals, alpha), sign=sign)


def _capital(residuals: Residuals, mean: Floats, bets: Floats, *, sign: int) -> Floats:
    conditional = residuals.weight * mean[:, np.newaxis] - residuals.offset
    worst = residuals.low if sign == 1 else residuals.high
    limit = _STAKE / np.maximum(sign * (conditional - worst), 1e-300)
    surprise = sign * (residuals.value - conditional)
    total = np.zeros_like(surprise)
    for bet in bets:
        stake = np.minimum(bet, limit)
        stake *= surprise
        wealth = np.cumsum(np.log1p(stake, out=stake), axis=1)
        total += np.exp(np.minimum(wealth, _ENOUGH, out=wealth), out=wealth)
    return np.asarray(total / len(bets))


def _bets(residuals: Residuals, alpha: float) -> Floats:
    """Return the bet of each gambler before each judgment, (J, R, T)."""
    variance = residuals.running[1]
    known = np.concatenate([np.full((len(variance), 1), 0.25), variance[:, :-1]], axis=1)
    once = residuals.weight * np.sqrt(2 * np.log(2 / alpha) / known)
    information = residuals.information
    always = np.sqrt(information * np.log1p(information))
    return np.stack([once / np.sqrt(horizon) for horizon in _HORIZONS] + [once / always])


def _end(residuals: Residuals, bets: Floats, *, sign: int, alpha: float, running: bool) -> Floats:
    """Return the last candidate that is ruled out, coming from outside; (R,)."""
    floor, ceiling = residuals.floor[:, -1], residuals.ceiling[:, -1]
    outside, inside = (floor, ceiling) if sign == 1 else (ceiling, floor)
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        wealth = _capital(residuals, middle, bets, sign=sign)
        ruled_out = (wealth.max(axis=1) if running else wealth[:, -1]) >= 2 / alpha
        outside = np.where(ruled_out, middle, outside)
        inside = np.where(ruled_out, inside, middle)
    return outside
