r"""A control of differences: what the metrics foretell of the next item, learned from the items before.

For two systems let :math:`\varphi_i` be what the metrics foretell of the difference on item i. It is fixed before the next item is
drawn, and known for all items that are left. So its mean over them, :math:`\bar\varphi`, is known, and the
correction :math:`\varphi_i - \bar\varphi` of the next item is 0 on average, whatever it was made from.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.design.race.options import RaceMethod
from steelyard.errors import InvalidArgumentError

__all__ = ["Correction", "RaceControl"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]

# The control is learned anew after this number of items, and whenever they have grown by this factor.
_FIRST, _GROWTH = 10, 1.2
# What metrics foretell is cut at so many standard deviations. A bet must survive the greatest of it, so that a short range
# counts more than the last of the variance; without bets only far outliers do harm.
_CUTS: dict[RaceMethod, float] = {"betting": 1.0, "asymptotic": 2.0}
# Variance that metrics explain over that which they do not: what the ridge chooses from.
_RATIOS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


@dataclass(frozen=True, eq=False)
class Correction:
    """What is taken from the difference of every pair on the next item; all are (R, K, K).

    Attributes
    ----------
    value : array
        What the metrics foretell of this item, less the mean of that over the items that are left.
    most : array
        The greatest that it may be on any item that is left.
    learned : array of bool, (R, 1, 1)
        Whether metrics were found to foretell anything.
    """

    value: Floats
    most: Floats
    learned: Bools


class RaceControl:
    r"""What metrics foretell of differences, in R campaigns side by side.

    One number per output, :math:`h = w\cdot g`, is made from the metrics g by ridge regression of judgments on metrics, both around the
    means of their item and of their system, over the items so far and all systems. The penalty is the one with the
    greatest marginal likelihood, and :math:`w = 0` if that is no greater than without metrics. For two systems a and b,
    :math:`\varphi = h_b - h_a` around its mean over the pool, cut at one standard deviation (at two in an asymptotic race).

    Parameters
    ----------
    metrics : (M, K, p) array
        Metrics of K systems' outputs for M items; finite.
    order : (R, N) array of int, optional
        Which of the M items are those of the pool, in each campaign; each once by default.
    codes : (M, K) array of int, optional
        Numbers of texts: equal where systems wrote the same for an item.
    method : {"betting", "asymptotic"}
        Kind of race.

    Examples
    --------
    A metric that is the score itself foretells it:

    >>> rng = np.random.default_rng(0)
    >>> scores = rng.uniform(size=(100, 2))
    >>> control = RaceControl(scores[:, :, np.newaxis])
    >>> for place in range(20):
    ...     _ = control.correction(place)
    ...     control.judged(place, scores[np.newaxis, place], np.ones((1, 2), dtype=bool))
    >>> found = control.correction(20)
    >>> round(float(found.value[0, 0, 1]), 2), round(float(scores[20, 1] - scores[20, 0]), 2)
    (-0.27, -0.25)
    """

    def __init__(
        self,
        metrics: ArrayLike,
        *,
        order: ArrayLike | None = None,
        codes: ArrayLike | None = None,
        method: RaceMethod = "betting",
    ) -> None:
        values = np.asarray(metrics, dtype=np.float64)
        if values.ndim != 3 or not np.isfinite(values).all():
            raise InvalidArgumentError(
                f"`metrics` must be finite numbers (items, systems, p); got the shape {values.shape}"
            )
        around = values - values.mean(axis=0)
        scale = np.sqrt((around**2).mean(axis=(0, 1)))
        self._metrics = np.where(scale > 0, around / np.where(scale > 0, scale, 1), 0.0)
        size, systems = values.shape[:2]
        self._order = np.arange(size)[np.newaxis] if order is None else np.asarray(order)
        alone = np.broadcast_to(np.arange(systems), (size, systems))
        self._codes = alone if codes is None else np.asarray(codes)
        runs, items = self._order.shape
        self._left = np.ones(items, dtype=bool)
        self._past: list[int] = []
        self._scores = np.full((runs, items, systems), np.nan)
        self._values = np.zeros((runs, items, systems))
        pairs = runs, systems, systems
        self._centre, self._cut = np.zeros(pairs), np.zeros(pairs)
        self._sum, self._most = np.zeros(pairs), np.zeros(pairs)
        self._rest = np.stack([differing_items(self._codes[row]) for row in self._order])
        self._learned = np.zeros((runs, 1, 1), dtype=bool)
        self._next = _FIRST
        self._deviations = _CUTS[method]

    def correction(self, item: int, running: Bools | None = None) -> Correction:
        """Return the correction for an item of the pool, which must not depend on its judgments.

        Parameters
        ----------
        item : int
            Its number in the pool.
        running : (R,) array of bool, optional
            Campaigns that go on.
        """
        if len(self._past) >= self._next:
            self._learn(running)
            self._next = int(np.ceil(_GROWTH * len(self._past)))
        mean = self._sum / np.maximum(self._rest, 1)
        return Correction(self._foretold(item) - mean, self._most - mean, self._learned)

    def judged(self, item: int, scores: Floats, playing: Bools) -> None:
        """Note the judgments (R, K) of an item, of the systems that are in."""
        self._scores[:, item] = np.where(playing, scores, np.nan)
        self._past.append(item)
        self._left[item] = False
        codes = self._codes[self._order[:, item]]
        apart = codes[:, :, np.newaxis] != codes[:, np.newaxis, :]
        self._rest -= apart
        self._sum -= np.where(apart, self._foretold(item), 0)

    def _foretold(self, item: int) -> Floats:
        own = self._values[:, item]
        away = own[:, np.newaxis, :] - own[:, :, np.newaxis] - self._centre
        return np.clip(away, -self._cut, self._cut)

    def _learn(self, running: Bools | None) -> None:
        for run in range(len(self._order)):
            if running is not None and not running[run]:
                continue
            past = self._order[run, self._past]
            weights = ridge_weights(self._scores[run, self._past], self._metrics[past])
            self._learned[run] = weights.any()
            self._spread(run, weights)

    def _spread(self, run: int, weights: Floats) -> None:
        """Make one number per output, and look how it differs between systems over the pool."""
        own = (self._metrics @ weights)[self._order[run]]
        codes = self._codes[self._order[run]]
        self._values[run] = own
        # one system after the other, so that memory grows with the pool and not with its pairs
        for a in range(own.shape[1]):
            apart = codes != codes[:, [a]]
            count = np.maximum(apart.sum(axis=0), 1)
            away = np.where(apart, own - own[:, [a]], 0)
            centre = away.sum(axis=0) / count
            away = np.where(apart, away - centre, 0)
            cut = self._deviations * np.sqrt((away**2).sum(axis=0) / count)
            left = np.clip(away[self._left], -cut, cut)
            self._centre[run, a], self._cut[run, a] = centre, cut
            self._sum[run, a] = left.sum(axis=0)
            self._most[run, a] = left.max(axis=0, initial=-np.inf)


def differing_items(codes: Integers) -> Integers:
    """Return on how many items (M, K) two systems wrote different texts; (K, K)."""
    return np.stack([(codes != codes[:, [a]]).sum(axis=0) for a in range(codes.shape[1])])


def ridge_weights(scores: Floats, metrics: Floats) -> Floats:
    """Return the weights of p metrics in what they foretell of scores, all 0 where they foretell nothing.

    Parameters
    ----------
    scores : (t, K) array
        Judgments of t items; NaN where a system was not judged.
    metrics : (t, K, p) array
        Metrics of the same outputs.
    """
    y = _around_means(scores[..., np.newaxis], scores)[..., 0].ravel()
    x = _around_means(metrics, scores).reshape(len(y), -1)
    judged = np.isfinite(scores)
    freedom = int(np.maximum(judged.sum(axis=1) - 1, 0).sum()) - (scores.shape[1] - 1)
    energy = float(y @ y)
    along, axes = np.linalg.eigh(x.T @ x)
    along = np.maximum(along, 0)
    if freedom < 2 or energy <= 0 or along.sum() <= 0:
        return np.zeros(metrics.shape[2])
    shared = axes.T @ (x.T @ y)
    best, found = 0.0, np.zeros(metrics.shape[2])
    for ratio in _RATIOS:
        # the penalty at which the metrics are expected to explain this much
        penalty = along.sum() / freedom / ratio
        unexplained = max(1 - float(np.sum(shared**2 / (along + penalty))) / energy, 1e-12)
        likelihood = -(np.log1p(along / penalty).sum() + freedom * np.log(unexplained)) / 2
        if likelihood > best:
            best, found = likelihood, axes @ (shared / (along + penalty))
    return np.asarray(found)


def _around_means(values: Floats, scores: Floats) -> Floats:
    """Return values (t, K, p) around the means of items, then of systems, 0 where nothing was judged."""
    judged = np.isfinite(scores)[..., np.newaxis]
    # An item that one system alone was judged on shows no difference.
    judged = judged & (judged.sum(axis=1, keepdims=True) > 1)
    for axis in (1, 0):
        total = np.where(judged, values, 0).sum(axis=axis, keepdims=True)
        values = values - total / np.maximum(judged.sum(axis=axis, keepdims=True), 1)
    return np.where(judged, values, 0)
