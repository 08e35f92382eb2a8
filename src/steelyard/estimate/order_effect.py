r"""Whether the output that is shown first is preferred for being first.

In :math:`x_j = \mu_p + \delta s_j + e_j`, x is the preference for system a of pair p (1, 0 or -1) and s is 1 if a was shown first
and -1 if b was. Least squares within pairs gives :math:`\hat\delta`, which is a weighted mean of
:math:`s_j (x_j - \hat\mu_p)` with weights that add to 1, so its error is that of `JudgmentMean`. Derived in
docs/methods/comparison.md.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, stdtr, stdtrit

from steelyard.estimate.judgment_mean import JudgmentMean
from steelyard.estimate.shared_spread import SharedSpread

__all__ = ["OrderEffect", "order_effect"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Orders that chance brings less often than this, over all pairs, are not balanced.
_CHANCE = 0.01


@dataclass(frozen=True, kw_only=True)
class OrderEffect:
    """How much more often the output that was shown first is preferred, than if it were shown second.

    Attributes
    ----------
    effect, standard_error, low, high : float
        Wins minus losses of the output shown first, for two systems that are equally good; NaN where the
        order never changed within a pair.
    p_value : float
        Of no effect, two-sided.
    n_judgments : int
        Judgments of which the order is known.
    first_shares : tuple of float
        Of each pair, in what share of these judgments the first system was shown first; NaN where none.
    balanced : bool
        Whether these shares differ from a half by no more than chance.
    """

    effect: float
    standard_error: float
    low: float
    high: float
    p_value: float
    n_judgments: int
    first_shares: tuple[float, ...]
    balanced: bool


def order_effect(
    net: Floats,
    first: Integers,
    pair: Integers,
    *,
    item: Integers,
    rater: Integers,
    raters: bool,
    level: float,
) -> OrderEffect | None:
    """Estimate the effect of being shown first from judgments of all pairs; None if no order is known.

    Parameters
    ----------
    net : (M,) array
        1 where system a of the pair was preferred, -1 where b was, 0 for a tie.
    first : (M,) array of int
        1 where a was shown first, -1 where b was, 0 where it is not known.
    pair, item, rater : (M,) array of int
        What each judgment is about, and who gave it.
    raters : bool
        Whether raters are a sample.
    level : float
        Level of the interval.
    """
    known = first != 0
    if not known.any():
        return None
    n_pairs = int(pair.max()) + 1
    x, s, pair = net[known], first[known].astype(np.float64), pair[known]
    count = np.bincount(pair, minlength=n_pairs)
    ahead = np.bincount(pair, s > 0, minlength=n_pairs)
    shares = np.divide(ahead, count, out=np.full(n_pairs, np.nan), where=count > 0)
    there = count > 0
    chance = _chance_of_order(ahead[there].astype(np.float64), count[there])
    balanced = chance.min() * len(chance) >= _CHANCE
    where = np.maximum(count, 1)
    turned = s - (np.bincount(pair, s, minlength=n_pairs) / where)[pair]
    size = float(turned @ turned)
    shown = OrderEffect(
        effect=np.nan,
        standard_error=np.nan,
        low=np.nan,
        high=np.nan,
        p_value=np.nan,
        n_judgments=len(x),
        first_shares=tuple(float(one) for one in shares),
        balanced=bool(balanced),
    )
    item, rater = (np.unique(one[known], return_inverse=True)[1] for one in (item, rater))
    if size <= 0 or item.max() < 1:
        return shown
    effect = float(turned @ x) / size
    means = np.bincount(pair, x - effect * s, minlength=n_pairs) / where
    mean = JudgmentMean(s * (x - means[pair]), turned * s / size, item, rater, width=2.0)
    error = mean.error(SharedSpread.of([mean], raters=raters, directions=1), np.inf)
    se = float(np.sqrt(error.value))
    reach = float(stdtrit(error.freedom, (1 + level) / 2)) * se
    return OrderEffect(
        effect=effect,
        standard_error=se,
        low=effect - reach,
        high=effect + reach,
        p_value=float(2 * stdtr(error.freedom, -abs(effect) / se)),
        n_judgments=len(x),
        first_shares=shown.first_shares,
        balanced=shown.balanced,
    )


def _chance_of_order(ahead: Floats, count: Integers) -> Floats:
    """Return the two-sided chance, by the exact binomial test, of each split of tossed coins."""
    below: Floats = bdtr(np.minimum(ahead, count - ahead), count, 0.5)
    return np.minimum(2 * below, 1.0)
