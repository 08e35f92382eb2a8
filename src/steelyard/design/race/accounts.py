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

**Metrics.** What they foretell of the next item, less the mean of that over the items that are left, has mean
0, and may be taken from the difference: the variance is less, but the range is wider, and the greatest bet smaller. Before every item the
gambler takes the one of the two bets that promises the greater growth.

The asymptotic race has no bets: the capital is that of Robbins's (1970) mixture for sums of normal
differences, with the variance that was found.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from steelyard.design.race.control import Correction
from steelyard.design.race.moments import ROUNDING, Moments
from steelyard.design.race.options import RaceMethod

__all__ = ["LEAST_ITEMS", "Accounts"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# The greatest share of the capital that may be lost on one item.
_GREATEST_LOSS = 0.97
# Imagined differences and their variance, so that a bet can be placed before the first.
_IMAGINED, _IMAGINED_VARIANCE = 2, 0.5
# Standard errors by which the mean is raised where the bets with and without metrics are compared.
_RAISED_TO_CHOOSE = 0.5
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
    corrects : tuple of bool
        Whether metrics correct the differences in the bets against each candidate.
    plain, corrected : Moments
        Of the differences on differing items so far, and of what the metrics left of them.
    shift : (R, K, K) array
        Sum of corrections, each over the number of items that were then left.
    logarithm : (R, C, K, K) array
        Logarithms of the capitals.
    """

    differing: NDArray[np.int64]
    candidates: Floats
    method: RaceMethod
    bounded: bool
    corrects: tuple[bool, ...]
    plain: Moments
    corrected: Moments
    shift: Floats
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
        corrects: Sequence[bool] = (True, True),
    ) -> "Accounts":
        """Return accounts with a capital of 1 each."""
        shape = runs, *differing.shape
        return cls(
            differing,
            candidates,
            method,
            bounded,
            tuple(corrects),
            Moments.none(shape),
            Moments.none(shape),
            np.zeros(shape),
            np.zeros((runs, *candidates.shape)),
        )

    def played(
        self, difference: Floats, live: Bools, correction: Correction | None = None
    ) -> Floats:
        """Play one item and return what it added to the logarithms; (R, C, K, K).

        Parameters
        ----------
        difference : (R, K, K) array
            Scores of b less scores of a; 0 where they are not judged.
        live : (R, K, K) array of bool
            Pairs of systems that are both in and differ on this item.
        correction : Correction, optional
            What the metrics foretell.
        """
        before = self.logarithm
        if self.method == "betting":
            gains = [
                self._gain(difference, sums, correction if corrects else None)
                for sums, corrects in zip(self.candidates, self.corrects, strict=False)
            ]
            self.logarithm = before + np.where(live[:, np.newaxis], np.stack(gains, axis=1), 0)
        self.plain = self.plain.with_one(difference, live)
        if correction is None:
            self.corrected = self.plain
        else:
            taken = np.where(live & correction.learned, correction.value, 0)
            self.corrected = self.corrected.with_one(difference - taken, live)
            self.shift = self.shift + taken / np.maximum(self.left, 1)
        if self.method == "asymptotic":
            told = (live & self._settled)[:, np.newaxis]
            found = [
                self._mixture(sums, self.mean, self.corrected)
                if corrects
                else self._mixture(sums, self.plain.mean, self.plain)
                for sums, corrects in zip(self.candidates, self.corrects, strict=False)
            ]
            self.logarithm = np.where(told, np.stack(found, axis=1), before)
        return np.asarray(self.logarithm - before)

    @property
    def count(self) -> NDArray[np.int64]:
        """Differing items so far."""
        return self.plain.count

    @property
    def left(self) -> NDArray[np.int64]:
        """Differing items that are still to come."""
        return np.asarray(self.differing - self.count)

    @property
    def total(self) -> Floats:
        """Sum of the differences so far."""
        return self.plain.total

    @property
    def mean(self) -> Floats:
        r"""Mean difference so far, corrected by the metrics; 0 where there is none.

        With the correction :math:`v_s` of item s it is :math:`\bar x - \frac{N-t}t \sum_s v_s/(N-s)`: the error of a mean without
        replacement is a sum of such steps, and this takes from each what was foretold.
        """
        return np.asarray(self.plain.mean - self.left * self.shift / np.maximum(self.count, 1))

    @property
    def variance(self) -> Floats:
        """Variance of the corrected differences so far, with the imagined ones of the exact race."""
        return self.corrected.variance if self.method == "asymptotic" else _imagined(self.corrected)

    def certain(self, sums: Floats) -> Bools:
        """Whether the differences sum to more than this whatever is still to come."""
        rest = self.left
        reach = rest if self.bounded else np.where(rest > 0, np.inf, 0)
        rounding = ROUNDING * np.sqrt(self.plain.square * self.count)
        return np.asarray(self.total - reach > sums + rounding)

    def _gain(self, difference: Floats, sums: Floats, correction: Correction | None) -> Floats:
        """Return what the better of the bets with and without metrics gains, in logarithms."""
        expected = (sums - self.total) / np.maximum(self.left, 1)
        variance = _imagined(self.plain)
        bet = _kelly(self._ahead(sums, self.total, variance), variance, 1 + expected)
        gain = np.log1p(bet * (difference - expected))
        if correction is None or not correction.learned.any():
            return np.asarray(gain)
        total, lower = self.mean * self.count, _imagined(self.corrected)
        greatest = 1 + expected + correction.most
        other = _kelly(self._ahead(sums, total, lower), lower, greatest)
        ahead = self._ahead(sums, total, lower, raised=_RAISED_TO_CHOOSE)
        pays = _growth(other, ahead, lower) > _growth(bet, ahead, variance)
        with_metrics = np.log1p(other * (difference - expected - correction.value))
        return np.where(pays & correction.learned, with_metrics, gain)

    def _ahead(
        self, sums: Floats, total: Floats, variance: Floats, *, raised: float = 1.0
    ) -> Floats:
        """Return what the next item is hoped to gain on average, its mean raised by so many standard errors."""
        heard = self.count + _IMAGINED
        hoped = total / heard + raised * np.sqrt(variance / heard)
        above = np.maximum(hoped - sums / np.maximum(self.differing, 1), 0)
        return np.asarray(above * self.differing / np.maximum(self.left, 1))

    def _mixture(self, sums: Floats, mean: Floats, moments: Moments) -> Floats:
        r"""Return the logarithm of Robbins's mixture over positive normal effects.

        With :math:`z = \sqrt{W} (\bar x - c)/\hat\sigma`, :math:`W = t/(1 - t/N)` and
        :math:`s = \rho^2 W` it is
        :math:`\log 2\Phi(z\sqrt{s/(1+s)}) - \frac12\log(1+s) + \frac{z^2}2 \frac s{1+s}`.
        A long tail against the bet has mostly not been met yet, and z is too large. With
        :math:`a = \gamma/\sqrt t < 0`, :math:`\gamma` the skewness, it is replaced by
        :math:`((1 + a z/3)^3 - 1)/a + a/6` (Hall 1992), which grows with z.
        """
        information = self.count * self.differing / np.maximum(self.left, 1)
        away = mean - sums / np.maximum(self.differing, 1)
        # beyond any evidence that is needed, and its cube still a number
        z = np.clip(away * np.sqrt(information / moments.variance), -1e6, 1e6)
        against = np.minimum(moments.skewness, 0) / np.sqrt(np.maximum(self.count, 1))
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
        enough = (self.count >= LEAST_ITEMS) & (self.left >= LEAST_ITEMS)
        found = self.corrected
        return np.asarray(enough & (found.quartic <= _GREATEST_SHARE * found.square**2))


def _imagined(moments: Moments) -> Floats:
    """Return the variance of differences and of the imagined ones together."""
    around = _IMAGINED * _IMAGINED_VARIANCE + moments.spread
    return np.asarray(around / (moments.count + _IMAGINED))


def _kelly(ahead: Floats, variance: Floats, greatest: Floats) -> Floats:
    """Return the bet for this mean and variance, where one item may lose `greatest` times the bet."""
    bet = ahead / (variance + ahead**2)
    return np.minimum(bet, _GREATEST_LOSS / np.maximum(greatest, 1e-300))


def _growth(bet: Floats, ahead: Floats, variance: Floats) -> Floats:
    """Return the mean logarithm of what a bet gains, about."""
    gain = 1 + bet * ahead
    return np.asarray(np.log(gain) - bet**2 * variance / (2 * gain**2))
