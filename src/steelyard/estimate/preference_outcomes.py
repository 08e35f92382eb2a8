"""One outcome of a pair of systems (net preference, win, tie, loss), with the learned control and its error."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import PoolMoments, judged_outputs, simple_draw
from steelyard.estimate.controlled import JudgedSystem, controlled
from steelyard.estimate.judgment_mean import JudgmentMean, MeanError
from steelyard.estimate.options import Options
from steelyard.estimate.shared_spread import SharedSpread

__all__ = ["JudgedPair", "Outcome", "learned_controls", "outcomes"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class JudgedPair:
    """The judgments of one pair of systems, on items on which the two differ.

    Attributes
    ----------
    a, b : int
        Numbers of the systems.
    net : (M,) array
        1 where a was preferred, -1 where b was, 0 for a tie.
    item, rater : (M,) array of int
        Numbers of items and raters in the whole campaign.
    items, identical : int
        Items that both systems have, and those on which their outputs are the same.
    metric : (D, p) array
        Metrics of a minus those of b on the items that differ; NaN where one is missing.
    place : (n,) array of int
        Which of these rows are the judged items, in the order of their numbers.
    """

    a: int
    b: int
    net: Floats
    item: Integers
    rater: Integers
    items: int
    identical: int
    metric: Floats
    place: Integers

    @property
    def differing(self) -> int:
        """Number of items on which the two differ."""
        return self.items - self.identical


@dataclass(frozen=True, eq=False)
class Outcome:
    """One outcome of a pair: net, win, tie or loss, with the control taken off and as it was judged."""

    pair: JudgedPair
    mean: JudgmentMean
    raw: JudgmentMean
    error: MeanError
    target: str

    @property
    def share(self) -> float:
        """Share of items on which the two differ."""
        return self.pair.differing / self.pair.items

    @cached_property
    def between_pools(self) -> float:
        """What the choice of the pool adds to the variance, for new outputs like these."""
        if self.target == "pool":
            return 0.0
        control = self.raw.item_errors @ self.raw.item_errors
        control -= self.mean.item_errors @ self.mean.item_errors
        more = float(control) * self.mean.n_items / self.pair.differing
        more += (1 - self.share) * self.mean.estimate**2 / self.pair.differing
        return max(more, -self.error.items)

    @property
    def variance(self) -> float:
        """Variance of the mean over items that differ."""
        return self.error.value + self.between_pools


def learned_controls(pairs: Sequence[JudgedPair]) -> list[Floats]:
    """Return the learned control of each judgment's net preference."""
    if not pairs or not pairs[0].metric.shape[1]:
        return [np.zeros(len(one.net)) for one in pairs]
    systems = []
    for one in pairs:
        sample = judged_outputs(one.net, None, one.item)
        known = np.isfinite(one.metric)
        total = np.where(known, one.metric, 0.0).sum(axis=0)
        filled = np.where(known, one.metric, total / np.maximum(known.sum(axis=0), 1))
        draw = simple_draw(sample, one.differing)
        items, pool = np.unique(one.item), PoolMoments.of(filled)
        systems.append(JudgedSystem(sample, draw, one.metric[one.place], items, None, pool))
    corrected = controlled(systems).samples
    controls = []
    for one, system, sample in zip(pairs, systems, corrected, strict=True):
        control = system.sample.mean - sample.mean
        controls.append(control[np.unique(one.item, return_inverse=True)[1]])
    return controls


def outcomes(
    pairs: Sequence[JudgedPair],
    values: Sequence[Floats],
    controls: Sequence[Floats],
    options: Options,
    *,
    width: float,
    padded: bool = False,
) -> list[Outcome]:
    """Return one outcome of every pair with its error."""
    raw, means = [], []
    for one, value, control in zip(pairs, values, controls, strict=True):
        raw.append(JudgmentMean.over_items(value, one.item, one.rater, width=width))
        means.append(
            JudgmentMean.over_items(
                value - control, one.item, one.rater, width=width, padded=padded
            )
        )
    systems = {number for one in pairs for number in (one.a, one.b)}
    spread = SharedSpread.of(
        means, raters=options.raters_as != "fixed", directions=max(len(systems) - 1, 1)
    )
    found = []
    for one, mean, judged in zip(pairs, means, raw, strict=True):
        size = one.differing if options.target == "pool" else np.inf
        found.append(Outcome(one, mean, judged, mean.error(spread, size), options.target))
    return found
