"""Worlds, and draws from them by the thousand, for `benchmarks.spread`."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.replays import PROMPTS, released
from steelyard.arrays import PoolMoments, judged_outputs, simple_draw, spread_draw
from steelyard.design.spread import common_value
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.slope import shrinkage

KINDS = ("linear", "curved", "binary", "skewed", "useless", "five weak", "four opposite")
SIZE, SIZES = 600, (10, 20, 50, 100, 200)
# Draws from each world where plain means are enough.
DRAWS = 16
_LOADINGS = {"five weak": [0.4] * 5, "four opposite": [0.5, 0.5, -0.5, -0.5], "useless": [0.0]}


@dataclass(frozen=True, eq=False)
class World:
    """Pools of systems over the same items: human scores (k, N), metrics (k, N, p), and who judges."""

    human: np.ndarray
    metrics: np.ndarray
    judge: object  # (rng, chosen) -> judgments (k, n)
    noise: np.ndarray  # variance of a judgment of an output, (k,)

    @property
    def truth(self):
        return self.human.mean(axis=1)

    def value(self):
        """What items are spread by: the mean over systems of each standardised metric, or what several have in common."""
        each = self.several()
        return each[:, 0] if each.shape[1] == 1 else common_value(each)

    def several(self):
        """The mean over systems of each standardised metric, (N, p)."""
        return np.mean([standardised(one) for one in self.metrics], axis=0)

    def simple_error(self, n):
        """Squared error of the plain mean after a simple draw, without noise, (k,)."""
        return _simple_error(self.human, n)

    def known_slope_error(self, n):
        """The same after the slopes that only the whole pool shows."""
        rest = [
            human - metric @ np.linalg.lstsq(metric - metric.mean(axis=0), human, rcond=None)[0]
            for human, metric in zip(self.human, self.metrics, strict=True)
        ]
        return _simple_error(np.array(rest), n)

    def judged(self, chosen, place, rng):
        """The chosen items of all systems, each output judged once; drawn simply where there is no place."""
        order = np.argsort(chosen)
        chosen = chosen[order]
        systems = []
        for score, metric in zip(self.judge(rng, chosen), self.metrics, strict=True):
            sample = judged_outputs(score, None, chosen)
            draw = simple_draw(sample, len(metric))
            if place is not None:
                draw = spread_draw(sample, 1 + place[order], len(metric))
            pool = PoolMoments.of(metric)
            systems.append(JudgedSystem(sample, draw, metric[chosen], chosen, None, pool))
        return systems


def _simple_error(human, n):
    return human.var(axis=1, ddof=1) * (1 / n - 1 / human.shape[1])


def standardised(values):
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def generated(kind, k, rng, size=SIZE):
    """Systems whose qualities share half of their variance by item, with metrics of a kind."""
    quality = np.sqrt(0.5) * (rng.standard_normal(size) + rng.standard_normal((k, size)))
    own = np.array(_LOADINGS.get(kind, [0.6]))
    error = rng.standard_normal((k, size, len(own)))
    metrics = own * quality[:, :, np.newaxis] + np.sqrt(1 - own**2) * error
    if kind == "binary":
        human = 1 / (1 + np.exp(-2 * quality))
        return World(human, metrics, partial(_yes_or_no, human), (human * (1 - human)).mean(axis=1))
    human = {
        "curved": metrics[:, :, 0] ** 2 + 0.5 * quality,
        "skewed": np.exp(1.2 * quality),
    }.get(kind, quality)
    deviation = 0.5 * human.std(axis=1)
    return World(human, metrics, partial(_noisy, human, deviation), deviation**2)


def _yes_or_no(human, rng, chosen):
    f = human[:, chosen]
    return (rng.random(f.shape) < f).astype(float)


def _noisy(human, deviation, rng, chosen):
    f = human[:, chosen]
    own = np.reshape(deviation, (-1, *(1,) * np.ndim(chosen)))
    return f + own * rng.standard_normal(f.shape)


def papers():
    """The paper's campaigns by prompt, on the items that all systems have."""
    for task, prompt in PROMPTS:
        systems, _ = released(task, prompt)
        common = systems[0].items
        for one in systems[1:]:
            common = np.intersect1d(common, one.items)
        inside = [np.flatnonzero(np.isin(one.items, common)) for one in systems]
        pairs = list(zip(systems, inside, strict=True))
        human = np.array([one.human[where] for one, where in pairs])
        metrics = np.array([one.metrics[where] for one, where in pairs])
        known = [[one.judgments[i] for i in where] for one, where in pairs]
        noise = np.array([np.mean([scores.var() for scores in own]) for own in known])
        yield prompt, World(human, metrics, partial(_one_of_theirs, known), noise)


def _one_of_theirs(known, rng, chosen):
    """One judgment of each chosen output, of all that it has, (k, ...)."""
    found = []
    for own in known:
        count = np.array([len(scores) for scores in own])
        first = np.cumsum(count) - count
        which = (rng.random(chosen.shape) * count[chosen]).astype(int)
        found.append(np.concatenate(own)[first[chosen] + which])
    return np.array(found)


def along(world, rng):
    """The items in the order of what they are spread by, ties at random."""
    value = world.value()
    return np.lexsort((rng.random(len(value)), value))


def ordered_pivotals(size, n, runs, rng):
    """Places (runs, n) that `ordered_pivotal` draws of 0, ..., size - 1, all runs side by side."""
    here, chance = np.zeros(runs, dtype=int), np.full(runs, n)
    drawn = np.zeros((runs, size), dtype=bool)
    every = np.arange(runs)
    for other in range(1, size):
        both = chance + n
        few = both < size
        weight, total = np.where(few, chance, size - n), np.where(few, both, 2 * size - both)
        first = rng.random(runs) * total < weight
        # With few the loser is out; otherwise one of them is drawn, and the loser goes on.
        done = ~few
        drawn[every[done], np.where(first, here, other)[done]] = True
        here = np.where(few == first, here, other)
        chance = np.where(few, both, both - size)
    return np.nonzero(drawn)[1].reshape(runs, n)


def cube(values, n, rng):
    """Which n outputs are drawn, balanced over values (N, p): the cube method (Deville and Tille 2004; Chauvet and Tille 2006).

    The chances walk at random where all balances are kept, until each is 0 or 1. In the end balances
    are given up one by one, the last first; the number of outputs is kept to the end.
    """
    size = len(values)
    chance = np.full(size, n / size)
    order = rng.permutation(size)
    balances = np.column_stack([np.ones(size), values])[order]
    count = balances.shape[1]
    while count:
        inside = np.flatnonzero((chance > 1e-9) & (chance < 1 - 1e-9))
        if len(inside) <= count:
            count -= 1
            continue
        some = inside[: count + 1]
        step = np.linalg.svd(balances[some, :count].T)[2][-1]
        length = np.maximum(np.abs(step), 1e-300)
        up = np.min(np.where(step > 0, 1 - chance[some], chance[some]) / length)
        down = np.min(np.where(step > 0, chance[some], 1 - chance[some]) / length)
        chance[some] += step * (up if rng.random() * (up + down) < down else -down)
    return order[chance > 0.5]


def from_sample(systems):
    """Estimates of each system by its own least-squares slopes, and by those shrunk, (2, k)."""
    found = []
    for one in systems:
        y, x = one.sample.mean, one.metric
        n, p = x.shape
        centred, rest = x - x.mean(axis=0), y - y.mean()
        slope = np.linalg.lstsq(centred, rest, rcond=None)[0]
        explained = centred @ slope @ rest
        left = max(rest @ rest - explained, 0.0)
        kept = shrinkage(np.array(explained), np.array(left), p, freedom=n - 1 - p)
        gap = slope @ (x.mean(axis=0) - one.pool.mean)
        found.append((y.mean() - gap, y.mean() - kept * gap))
    return np.array(found).T
