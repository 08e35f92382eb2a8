r"""Empirical Bernstein confidence sequences: exact, in closed form, for scores within bounds.

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

a supermartingale when m is the mean (Howard, Ramdas, McAuliffe and Sekhon 2021). Since
:math:`\mu_s(m) = w_s m - k_s`, each bet :math:`\lambda_s = \min(\lambda w_s, c/b_s)` gives the lower end

.. math:: \frac{\sum \lambda_s (r_s + k_s) - \sum \psi(\lambda_s b_s)(r_s - \hat\mu_s)^2/b_s^2
          - \log(2J/\alpha)}{\sum \lambda_s w_s} ,

and the union is over a geometric grid of J values of :math:`\lambda`, each for another size of the sum of
squares. The upper end is that of the mirrored judgments.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.design.sequence.residuals import Residuals

__all__ = ["bernstein_ends"]

Floats = NDArray[np.float64]

# From a handful of judgments to some hundred thousand: the best bet for n judgments of standard
# deviation s is about 3.5 / (s sqrt(n)).
_BETS = 4.0 * 0.5 ** np.arange(10)
_GREATEST_SHARE = 0.8
# A guess at the edge of the range would let a bet be as great as one likes.
_LEAST_RANGE = 0.05


def bernstein_ends(
    residuals: Residuals, *, alpha: float, running: bool = True
) -> tuple[Floats, Floats]:
    """Return the ends of the sequence after each judgment.

    Parameters
    ----------
    residuals : Residuals
        Corrected judgments of R runs.
    alpha : float
        Probability with which the sequence may ever miss the mean.

    running : bool
        Whether a candidate that was ever ruled out stays so: the running intersection.

    Returns
    -------
    low, high : (R, T) array
        On the unit scale.
    """
    mean = residuals.running[0]
    guess = np.concatenate([np.full((len(mean), 1), 0.5), mean[:, :-1]], axis=1)
    guess = np.clip(guess, 0, 1)
    low = _ends(residuals, guess, guess - residuals.low, sign=1, alpha=alpha)
    high = _ends(residuals, guess, residuals.high - guess, sign=-1, alpha=alpha)
    return residuals.possible(low, high, running=running)


def _ends(residuals: Residuals, guess: Floats, reach: Floats, *, sign: int, alpha: float) -> Floats:
    """Return the best bet's end after each judgment; (R, T)."""
    reach = np.maximum(reach, _LEAST_RANGE)
    squares = ((residuals.value - guess) / reach) ** 2
    total = residuals.value + residuals.offset
    threshold = np.log(2 * len(_BETS) / alpha)
    best = np.full(guess.shape, -np.inf)
    for bet in _BETS:
        stake = np.minimum(bet * residuals.weight, _GREATEST_SHARE / reach)
        share = stake * reach
        penalty = np.cumsum((-np.log1p(-share) - share) * squares, axis=1)
        gain = sign * np.cumsum(stake * total, axis=1) - penalty - threshold
        best = np.maximum(best, gain / np.cumsum(stake * residuals.weight, axis=1))
    return sign * best
