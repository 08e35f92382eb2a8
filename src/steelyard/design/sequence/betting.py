r"""Confidence sequences by betting: exact at every moment for scores within bounds.

Against a candidate mean m a gambler stakes a share of her capital on the next corrected judgment,

.. math:: K_t^\pm(m) = \prod_{s \le t} \bigl(1 \pm \lambda_s^\pm(m) (r_s - \mu_s(m))\bigr), \qquad
          \mu_s(m) = w_s m - k_s .

If m is the mean, the game is fair: the capital is a nonnegative martingale that starts at 1, and by
Ville's inequality it ever reaches :math:`2/\alpha` with probability at most :math:`\alpha/2`. The
sequence holds the candidates against which neither capital ever did. Bets :math:`\lambda_t` are those of
`gamblers`, limited by what may be lost,

.. math:: \lambda_t^+(m) = \min\Bigl(\lambda_t, \frac{c}{\mu_t(m) - \ell_t}\Bigr), \qquad
          \lambda_t^-(m) = \min\Bigl(\lambda_t, \frac{c}{h_t - \mu_t(m)}\Bigr),

where :math:`[\ell_t, h_t]` is the range of :math:`r_t`, so that no factor falls below :math:`1 - c`. Every
factor of :math:`K^+` falls as m rises and every factor of :math:`K^-` rises, limits included, so the
candidates that are left are an interval. A bet for n judgments is best at one time, so the capital is
divided among gamblers who have different n in mind; a sum of fair games is a fair game.

Without replacement a judgment tells more about m the fewer outputs are left: :math:`\mu_t(m)` moves
:math:`w_t` times as fast as m, and the bet that makes capital grow fastest is :math:`w_t` times as great.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.design.sequence.gamblers import GREATEST_LOSS, Gambler, gamblers
from steelyard.design.sequence.residuals import Residuals

__all__ = ["betting_ends", "capital"]

Floats = NDArray[np.float64]

# Ends are found to within this part of the score's range, which 20 halvings are enough for.
_NEAR = 1e-6
_HALVINGS = 20
# Halvings before the first chord.
_FIRST = 5
# Capital beyond this is counted as this, so that no product overflows.
_ENOUGH = 1e260


def betting_ends(
    residuals: Residuals,
    times: NDArray[np.int64],
    *,
    alpha: float,
    goal: float | None = None,
    running: bool = True,
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
    goal : float, optional
        Half-width at which the sequence is to be tightest, on the unit scale.
    running : bool
        Whether a candidate that was ever ruled out stays so: the running intersection.

    Returns
    -------
    low, high : (R, K) array
        On the unit scale.
    """
    ends = []
    for sign in (1, -1):
        players = gamblers(residuals, sign=sign, alpha=alpha, goal=goal)
        found = [
            _end(
                residuals.until(time),
                [player.until(time) for player in players],
                sign=sign,
                alpha=alpha,
                running=running,
            )
            for time in times
        ]
        ends.append(np.stack(found, axis=1))
    return ends[0], ends[1]


def capital(
    residuals: Residuals, mean: Floats, *, sign: int, alpha: float, goal: float | None = None
) -> Floats:
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
    goal : float, optional
        Half-width that the bets are tuned for, on the unit scale.

    Returns
    -------
    (R, T) array
    """
    players = gamblers(residuals, sign=sign, alpha=alpha, goal=goal)
    return _capital(residuals.weight, mean, players, sign=sign)


def _capital(weight: Floats, mean: Floats, players: list[Gambler], *, sign: int) -> Floats:
    expected = sign * weight * mean[:, np.newaxis]
    total = np.zeros_like(expected)
    with np.errstate(over="ignore"):
        for player in players:
            limit = np.maximum(expected - player.worst, 1e-300)
            bet = np.minimum(player.bet, np.divide(GREATEST_LOSS, limit, out=limit), out=limit)
            bet *= player.outcome - expected
            bet += 1
            wealth = np.cumprod(bet, axis=1, out=bet)
            wealth *= player.stake
            total += wealth
    return np.minimum(total, _ENOUGH, out=total)


def _end(
    residuals: Residuals, players: list[Gambler], *, sign: int, alpha: float, running: bool
) -> Floats:
    """Return the last candidate that is ruled out, coming from outside; (R,).

    The logarithm of the capital is nearly straight between two candidates that are near each other. So after
    some halvings the next one is where the chord between them meets the threshold (the Illinois method).
    """

    def excess(mean: Floats) -> Floats:
        wealth = _capital(residuals.weight, mean, players, sign=sign)
        most = wealth.max(axis=1) if running else wealth[:, -1]
        return np.asarray(np.log(np.maximum(most, 1e-300)) - np.log(2 / alpha))

    floor, ceiling = residuals.floor[:, -1], residuals.ceiling[:, -1]
    outside, inside = (floor, ceiling) if sign == 1 else (ceiling, floor)
    above, below = excess(outside), np.full(len(outside), np.nan)
    inside = np.where(above >= 0, inside, outside)
    last = np.ones(len(outside), dtype=bool)
    for step in range(_FIRST + 2 * _HALVINGS):
        going = np.abs(inside - outside) > _NEAR
        if not going.any():
            break
        tried = (outside + inside) / 2
        if _FIRST <= step < _HALVINGS:
            # Not a number where the inside is not known yet.
            with np.errstate(invalid="ignore"):
                chord = outside + (inside - outside) * above / (above - below)
            tried = np.where(np.isfinite(chord), chord, tried)
        found = excess(tried)
        ruled_out = found >= 0
        # A side that does not move counts half, so that the next chord comes down beyond the end.
        stays = np.where((ruled_out == last) & (step > _FIRST), 0.5, 1.0)
        above, below = (
            np.where(ruled_out, found, above * stays),
            np.where(ruled_out, below * stays, found),
        )
        outside = np.where(going & ruled_out, tried, outside)
        inside = np.where(going & ~ruled_out, tried, inside)
        last = ruled_out
    return outside
