r"""Accounts: the capital of those who bet that one system is better than another.

For two systems let :math:`x_i = y_{bi} - y_{ai}` over the :math:`N` items on which their outputs differ, in
units of the range of scores, so that :math:`-1 \le x_i \le 1`. Items come in random order. If the differences
sum to at most :math:`N c`, then given the first :math:`t - 1` the next is on average at most

.. math:: \mu_t(c) = \frac{N c - \sum_{s<t} x_s}{N - t + 1},

and a gambler who bets :math:`\lambda_t \ge 0`, chosen before, has the capital
:math:`\prod_s (1 + \lambda_s (x_s - \mu_s(c)))`, which no such :math:`c` makes grow on average. By Ville's
inequality it ever reaches :math:`1/\alpha` with probability at most :math:`\alpha`. The bet is Kelly's for the
mean and variance so far, the mean raised by its standard error: whoever waits for proof before betting
loses what the first items could have told.

The asymptotic race has no bets: the capital is that of Robbins's (1970) mixture for sums of normal
differences, with the variance that was found.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from steelyard.design.race.options import RaceMethod

__all__ = ["LEAST_ITEMS", "Accounts"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# The greatest share of the capital that may be lost on one item.
_GREATEST_LOSS = 0.97
# Imagined differences and their variance, so that a bet can be placed before the first.
_IMAGINED, _IMAGINED_VARIANCE = 2, 0.5
# Of the size of a sum of differences: what rounding may make of a tie.
_ROUNDING = 1e-9
# Effects, in standard deviations of a difference, that the asymptotic race looks for.
_EFFECTS = (0.1, 0.3, 1.0)
# The asymptotic race says nothing before so many items, nor anything new when fewer are left, ...
LEAST_ITEMS = 50
# ... nor while a typical difference makes up more than this of the sum of squares.
_GREATEST_SHARE = 0.1


@dataclass(eq=False)
class Accounts:
    """The capital of every ordered pair of K systems, in R campaigns side by side.

    The entry [r, a, b, c] is that of who bets that b is better than a by more than candidate c.

    Attributes
    ----------
    differing : (K, K) array
        Items on which two systems' outputs differ.
    candidates : (C, K, K) array
        Sums of differences over the items that each bet is against: 0, and `-N margin`.
    method : {"betting", "asymptotic"}
        Kind of race.
    bounded : bool
        Whether no difference exceeds 1.
    count, total, square, cubic, quartic : (R, K, K) array
        Differing items so far, and sums of their differences, of squares, cubes and fourth powers.
    logarithm : (R, C, K, K) array
        Logarithms of the capitals.
    """

    differing: NDArray[np.int64]
    candidates: Floats
    method: RaceMethod
    bounded: bool
    count: NDArray[np.int64]
    total: Floats
    square: Floats
    cubic: Floats
    quartic: Floats
    logarithm: Floats

    @classmethod
    def opened(
        cls,
        differing: NDArray[np.int64],
        candidates: Floats,
        *,
        runs: int,
        method: RaceMethod,
        bounded: bool,
    ) -> "Accounts":
        """Return accounts with a capital of 1 each."""
        shape = runs, *differing.shape
        return cls(
            differing,
            candidates,
            method,
            bounded,
            np.zeros(shape, dtype=np.int64),
            np.zeros(shape),
            np.zeros(shape),
            np.zeros(shape),
            np.zeros(shape),
            np.zeros((runs, *candidates.shape)),
        )

    def played(self, difference: Floats, live: Bools) -> Floats:
        """Play one item and return what it added to the logarithms; (R, C, K, K).

        Parameters
        ----------
        difference : (R, K, K) array
            Scores of b less scores of a; 0 where they are not judged.
        live : (R, K, K) array of bool
            Pairs of systems that are both in and differ on this item.
        """
        before = self.logarithm
        if self.method == "betting":
            gains = [self._gain(difference, sums) for sums in self.candidates]
            self.logarithm = before + np.where(live[:, np.newaxis], np.stack(gains, axis=1), 0)
        known = np.where(live, difference, 0)
        self.count += live
        self.total += known
        self.square += known**2
        self.cubic += known**3
        self.quartic += known**4
        if self.method == "asymptotic":
            told = (live & self._settled)[:, np.newaxis]
            found = [self._mixture(sums) for sums in self.candidates]
            self.logarithm = np.where(told, np.stack(found, axis=1), before)
        return np.asarray(self.logarithm - before)

    @property
    def mean(self) -> Floats:
        """Mean difference so far; 0 where there is none."""
        return np.asarray(self.total / np.maximum(self.count, 1))

    @property
    def variance(self) -> Floats:
        """Variance of the differences so far, with the imagined one."""
        centred = np.maximum(self.square - self.total * self.mean, 0)
        if self.method == "asymptotic":
            return np.asarray(np.maximum(centred / np.maximum(self.count - 1, 1), 1e-300))
        return np.asarray((_IMAGINED * _IMAGINED_VARIANCE + centred) / (self.count + _IMAGINED))

    @property
    def skewness(self) -> Floats:
        """Skewness of the differences so far; 0 where they do not vary."""
        third = self.cubic - 3 * self.mean * self.square + 2 * self.count * self.mean**3
        spread = np.maximum(self.square - self.total * self.mean, 0)
        known = spread > _ROUNDING * self.square
        scale = np.where(known, spread, 1.0) ** 1.5
        return np.asarray(np.where(known, third * np.sqrt(self.count) / scale, 0.0))

    def certain(self, sums: Floats) -> Bools:
        """Whether the differences sum to more than this whatever is still to come."""
        rest = self.differing - self.count
        reach = rest if self.bounded else np.where(rest > 0, np.inf, 0)
        rounding = _ROUNDING * np.sqrt(self.square * self.count)
        return np.asarray(self.total - reach > sums + rounding)

    def _gain(self, difference: Floats, sums: Floats) -> Floats:
        rest = np.maximum(self.differing - self.count, 1)
        expected = (sums - self.total) / rest
        variance = self.variance
        heard = self.count + _IMAGINED
        hoped = self.total / heard + np.sqrt(variance / heard)
        ahead = np.maximum(hoped - sums / np.maximum(self.differing, 1), 0) * self.differing / rest
        bet = ahead / (variance + ahead**2)
        bet = np.minimum(bet, _GREATEST_LOSS / np.maximum(1 + expected, 1e-300))
        return np.asarray(np.log1p(bet * (difference - expected)))

    def _mixture(self, sums: Floats) -> Floats:
        r"""Return the logarithm of Robbins's mixture over positive normal effects.

        With :math:`z = \sqrt{W} (\bar x - c)/\hat\sigma`, :math:`W = t/(1 - t/N)` and
        :math:`s = \rho^2 W` it is
        :math:`\log 2\Phi(z\sqrt{s/(1+s)}) - \frac12\log(1+s) + \frac{z^2}2 \frac s{1+s}`.
        A long tail against the bet has mostly not been met yet, and z is too large. With
        :math:`a = \gamma/\sqrt t < 0`, :math:`\gamma` the skewness, it is replaced by
        :math:`((1 + a z/3)^3 - 1)/a + a/6` (Hall 1992), which grows with z.
        """
        information = self.count * self.differing / np.maximum(self.differing - self.count, 1)
        away = self.mean - sums / np.maximum(self.differing, 1)
        # beyond any evidence that is needed, and its cube still a number
        z = np.clip(away * np.sqrt(information / self.variance), -1e6, 1e6)
        against = np.minimum(self.skewness, 0) / np.sqrt(np.maximum(self.count, 1))
        less = z + against * z**2 / 3 + against**2 * z**3 / 27 + against / 6
        z = np.where(z > 0, np.maximum(less, 0), z)
        found = []
        for effect in _EFFECTS:
            scale = effect**2 * information
            kept = z * np.sqrt(scale / (1 + scale))
            found.append(log_ndtr(kept) + np.log(2) - np.log1p(scale) / 2 + kept**2 / 2)
        return np.asarray(np.logaddexp.reduce(found) - np.log(len(found)))

    @property
    def _settled(self) -> Bools:
        """Whether sums of differences are close to normal, as far as these can tell."""
        left = self.differing - self.count
        enough = (self.count >= LEAST_ITEMS) & (left >= LEAST_ITEMS)
        return np.asarray(enough & (self.quartic <= _GREATEST_SHARE * self.square**2))
