r"""A weighted mean of judgments that share items and raters, and its error.

With residuals :math:`e_j`, weights :math:`w_j` that add to 1 and :math:`u_i = \sum_{j \in i} w_j e_j` the part of item i of n, the
items give :math:`\tfrac{n}{n-1} \sum_i u_i^2`: :math:`s^2/n` for equal weights. A rater's taste of variance
:math:`\sigma_b^2` adds :math:`\sigma_b^2 \sum_r W_r^2`, with :math:`W_r` the sum of the rater's weights; what the items' part holds of it already
is taken off. Derived in docs/methods/comparison.md.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from steelyard.estimate.shared_spread import SharedSpread

__all__ = ["JudgmentMean", "MeanError"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# On fewer items the spread of items is not known well enough to tell what a finite pool spares.
_FEW_ITEMS = 5


@dataclass(frozen=True, eq=False)
class JudgmentMean:
    """Values (M,) of judgments with their weights, items and raters.

    Attributes
    ----------
    values, weights : (M,) array
        What is averaged; weights are not negative and add to 1.
    item, rater : (M,) array of int
        What each judgment is of, and who gave it, numbered from 0 without gaps.
    width : float
        Range of the scale of the values.
    padded : bool
        Whether the error counts one more item at either end of the scale, around 0 (Bonett and Price 2012).
    """

    values: Floats
    weights: Floats
    item: Integers
    rater: Integers
    width: float
    padded: bool = False

    @classmethod
    def over_items(
        cls,
        values: Floats,
        item: Integers,
        rater: Integers,
        *,
        width: float,
        padded: bool = False,
    ) -> "JudgmentMean":
        """Return the mean over items of the means of their judgments."""
        item = np.unique(item, return_inverse=True)[1]
        rater = np.unique(rater, return_inverse=True)[1]
        count = np.bincount(item)
        return cls(values, (1 / count / len(count))[item], item, rater, width, padded)

    @cached_property
    def estimate(self) -> float:
        """The mean."""
        return float(self.weights @ self.values)

    @cached_property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.item.max()) + 1

    @cached_property
    def item_weights(self) -> Floats:
        """The weight of each item."""
        return np.bincount(self.item, self.weights).astype(np.float64)

    @cached_property
    def rater_weights(self) -> Floats:
        """The weight of each rater."""
        return np.bincount(self.rater, self.weights).astype(np.float64)

    @cached_property
    def item_errors(self) -> Floats:
        """What each item adds to the error; their squares add to the variance of the mean."""
        found = np.bincount(self.item, self.weights * (self.values - self.estimate))
        if np.abs(found).max() <= 1e-12 * self.width * self.weights.max():
            return np.zeros_like(found)
        return np.asarray(found * np.sqrt(self.n_items / (self.n_items - 1)))

    @property
    def item_freedom(self) -> float:
        """Degrees of freedom of the items' part: n - 1 for equal weights."""
        squares = self.item_weights**2
        return max(float(squares.sum() ** 2 / (squares @ squares)) - 1, 1.0)

    @cached_property
    def rater_load(self) -> float:
        """What taste of variance 1 adds to the variance, beyond what is in the items' part."""
        cell = self.item * (int(self.rater.max()) + 1) + self.rater
        _, first, code = np.unique(cell, return_index=True, return_inverse=True)
        share = np.bincount(code, self.weights)
        total = float(self.rater_weights @ self.rater_weights)
        cross = float(
            (share * self.item_weights[self.item[first]]) @ self.rater_weights[self.rater[first]]
        )
        items = float(self.item_weights @ self.item_weights)
        held = float(share @ share) - 2 * cross + items * total
        return max(total - held * self.n_items / (self.n_items - 1), 0.0)

    @cached_property
    def half_squares(self) -> tuple[float, float, float]:
        """Half the mean squared difference of two judgments of different items.

        Of any raters, of the same rater, and of different raters; NaN where there are none.
        """
        everyone = np.zeros_like(self.item)
        cell = self.item * (int(self.rater.max()) + 1) + self.rater
        groups = [self._squares(one) for one in (everyone, self.item, self.rater, cell)]
        (all_sum, all_n), (item_sum, item_n), (rater_sum, rater_n), (both_sum, both_n) = groups
        any_sum, any_n = all_sum - item_sum, all_n - item_n
        same_sum, same_n = rater_sum - both_sum, rater_n - both_n
        return (
            _ratio(any_sum, any_n),
            _ratio(same_sum, same_n),
            _ratio(any_sum - same_sum, any_n - same_n),
        )

    def _squares(self, group: Integers) -> tuple[float, float]:
        """Return the sum of half squared differences within groups over ordered pairs, and their number."""
        code = np.unique(group, return_inverse=True)[1]
        count = np.bincount(code).astype(np.float64)
        centred = self.values - self.values.mean()
        sums, squares = np.bincount(code, centred), np.bincount(code, centred**2)
        return float((count * squares - sums**2).sum()), float((count**2).sum())

    @cached_property
    def within(self) -> tuple[float, int, int]:
        """Squares of judgments around their item's mean, degrees of freedom, items judged twice."""
        count = np.bincount(self.item)
        means = np.bincount(self.item, self.values) / count
        left = self.values - means[self.item]
        return float(left @ left), int((count - 1).sum()), int((count > 1).sum())

    def error(self, spread: "SharedSpread", pool_size: float) -> "MeanError":
        """Return the variance of the mean over a pool of `pool_size` items.

        Parameters
        ----------
        spread : SharedSpread
            What all means of the campaign show of raters and noise.
        pool_size : float
            Items that these were drawn from; infinite for items like these.
        """
        shown = float(self.item_errors @ self.item_errors)
        items = self._padded(shown) if self.padded else shown
        if items == 0:
            return self._least(spread)
        single = self.half_squares[0]
        single = single if np.isfinite(single) else items * self.n_items
        doubt = 2 * items**2 / self.item_freedom
        own = items
        if np.isfinite(pool_size) and spread.noise is not None and self.n_items >= _FEW_ITEMS:
            heard = float(self.weights @ self.weights) * self.n_items
            between = max(shown * self.n_items - spread.noise * single * heard, 0.0)
            own = max(items - between / pool_size, 0.0)
            doubt = 2 * max(own, (1 - self.n_items / pool_size) * items) ** 2 / self.item_freedom
        return MeanError(own, single, self.rater_load, doubt, self.item_freedom, spread)

    @property
    def centre(self) -> float:
        """The middle of an interval: the mean with one more item at either end, if it is padded."""
        return self.estimate * (self.n_items / (self.n_items + 2) if self.padded else 1.0)

    def _padded(self, items: float) -> float:
        """Return the items' part with one more item at either end of the scale."""
        n, end = self.n_items, self.width / 2
        squares = (n - 1) * n * items + 2 * end**2 + 2 * self.estimate**2
        squares -= (n + 2) * (self.estimate - self.centre) ** 2
        return squares / ((n + 1) * (n + 2))

    def _least(self, spread: "SharedSpread") -> "MeanError":
        """Return the variance that one more item might have shown, where nothing varies.

        One more item at the other end of the scale would give n + 1 items a variance of
        width^2 / (n + 1).
        """
        n = self.n_items
        single = self.width**2 / (n + 1)
        value = single / n
        return MeanError(
            value, single, self.rater_load, 2 * value**2 / (n - 1), self.item_freedom, spread
        )


@dataclass(frozen=True)
class MeanError:
    """The variance of a mean: its items' part and its raters' part.

    Attributes
    ----------
    items : float
        The items' part.
    single : float
        Variance of one judgment; the share `spread.rater_share` of it is raters' taste.
    load : float
        How often taste counts, as `JudgmentMean.rater_load`.
    doubt : float
        Variance of `items`.
    item_freedom : float
        Degrees of freedom that the items give.
    spread : SharedSpread
        What all means of the campaign show of raters.
    """

    items: float
    single: float
    load: float
    doubt: float
    item_freedom: float
    spread: "SharedSpread"

    @property
    def taste(self) -> float:
        """Variance of raters' taste."""
        return self.spread.rater_share * self.single

    @property
    def value(self) -> float:
        """The variance."""
        return self.items + self.taste * self.load

    @property
    def least_freedom(self) -> float:
        """Degrees of freedom if raters' taste were all: doubt about a small one is no reason for less."""
        return min(self.spread.freedom, self.item_freedom)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variance (Satterthwaite)."""
        doubt = self.doubt + (self.load * self.single) ** 2 * self.spread.doubt
        if doubt == 0:
            return float("inf")
        return max(2 * self.value**2 / doubt, self.least_freedom)


def _ratio(total: float, count: float) -> float:
    return total / count if count > 0 else float("nan")
