"""Simulated campaigns whose truth is known, each seeded by its name and numbers.

A kind is a shape of human scores and of judgments. The first metric is good and the others are weak, unless the
kind says otherwise. ``version-KIND`` is a campaign of that kind in which the last system is a new version: the older ones are judged
on 200 items, the new one on n.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np
from scipy.special import ndtr, ndtri

OLDER = 200  # items that an older system is judged on, where there is a new version
_LENIENCY, _TASTE, _NOISE = 0.3, 0.3, 0.5
# of `shape-` kinds: a judgment is a shape of quality, noise and leniency
_SHAPED_NOISE, _SHAPED_LENIENCY = 0.7, 0.5
_QUANTILES = ndtri((np.arange(60) + 0.5) / 60)
_SHAPES = {
    "normal": lambda z: z,
    "skewed": lambda z: np.exp(0.7 * z),
    "ceiling": lambda z: np.clip(np.round(4.6 + 1.2 * z), 1, 5),
    "binary": lambda z: (z > -0.4).astype(float),
    "three-levels": lambda z: 0.5 * ((z > -0.7) + (z > 0.5)),
    "curved": lambda z: (z + 1) ** 2,
    "ties": lambda z: np.clip(np.round(2 * (z - 1)), 0, 4),
}


@dataclass(frozen=True)
class Cell:
    """Campaigns of one kind: `k` systems, `n` judged items of `pool`, `p` metrics.

    `same`: all systems are judged on the same items. `raters` 0: nobody knows who judged, and each output has one judgment;
    otherwise every fifth output has a second one. `equal`: the true means of all systems are equal.
    """

    kind: str
    k: int = 5
    n: int = 30
    p: int = 6
    same: bool = True
    raters: int = 8
    equal: bool = False
    pool: int = 300

    @property
    def name(self):
        items = "same" if self.same else "own"
        equal = " equal" if self.equal else ""
        return f"{self.kind}{equal} k={self.k} n={self.n} p={self.p} {items} raters={self.raters}"

    @property
    def shape(self):
        """The kind without what is said about versions."""
        return self.kind.removeprefix("version-")

    @property
    def new_version(self):
        return self.kind != self.shape

    @property
    def truly_equal(self):
        return self.equal or self.shape in ALWAYS_EQUAL

    @property
    def counted(self):
        """The systems whose errors count."""
        return np.array([self.k - 1]) if self.new_version else np.arange(self.k)

    def campaign(self, run):
        """The campaign of one replay."""
        rng = np.random.default_rng([crc32(f"{self.name} pool={self.pool}".encode()), run])
        world = KINDS[self.shape](self, rng)
        return _judged(self, world, rng)


@dataclass(frozen=True, eq=False)
class Campaign:
    """Metrics (k, N, p) and texts (k, N) or None of all outputs; one row for each judgment; true means (k,)."""

    metrics: np.ndarray
    texts: np.ndarray | None
    system: np.ndarray
    item: np.ndarray
    rater: np.ndarray | None
    score: np.ndarray
    truth: np.ndarray

    def only(self, system):
        """The same with the judgments of one system."""
        kept = self.system == system
        rater = None if self.rater is None else self.rater[kept]
        return replace(
            self,
            system=self.system[kept],
            item=self.item[kept],
            rater=rater,
            score=self.score[kept],
        )


@dataclass(frozen=True, eq=False)
class _World:
    """Human scores (k, N), metrics (k, N, p), how judgments come about, and who judges."""

    human: np.ndarray
    metrics: np.ndarray
    judge: Callable  # (rng, system, item, leniency of the rater) -> scores
    panel: "_Panel | None"
    texts: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class _Panel:
    """The chance of each rater by system (k, R), and how much each adds to a score of it (k, R)."""

    chance: np.ndarray
    lenient: np.ndarray

    def draw(self, rng, system, other_than=None):
        sums = self.chance.cumsum(1)[system]
        rater = (rng.random(len(system))[:, None] * sums[:, -1:] >= sums).sum(1)
        if other_than is not None:
            again = rater == other_than
            if again.any():
                rater[again] = self.draw(rng, system[again], other_than[again])
        return rater


def _judged(cell, world, rng):
    k, size = world.human.shape
    sizes = np.full(k, cell.n)
    if cell.new_version:
        sizes[:-1] = OLDER
    shared = rng.permutation(size)
    items = [(shared if cell.same else rng.permutation(size))[:one] for one in sizes]
    twice = [one[: len(one) // 5] if world.panel is not None else one[:0] for one in items]
    system = np.repeat(np.arange(k), sizes)
    again = np.repeat(np.arange(k), [len(one) for one in twice])
    rater, lenient = None, np.zeros(len(system) + len(again))
    if world.panel is not None:
        first = world.panel.draw(rng, system)
        place = np.cumsum(sizes) - sizes
        other = np.concatenate(
            [first[at : at + len(one)] for at, one in zip(place, twice, strict=True)]
        )
        rater = np.concatenate([first, world.panel.draw(rng, again, other)])
    system, item = np.concatenate([system, again]), np.concatenate(items + twice)
    if rater is not None:
        lenient = world.panel.lenient[system, rater]
    score = world.judge(rng, system, item, lenient)
    return Campaign(
        world.metrics, world.texts, system, item, rater, score, truth=world.human.mean(1)
    )


def _panel(cell, rng, *, leniency=_LENIENCY, taste=0.0, chance=None):
    if cell.raters == 0:
        return None
    if chance is None:
        chance = np.ones((cell.k, cell.raters))
    lenient = leniency * rng.standard_normal(chance.shape[1])
    return _Panel(chance, lenient + taste * rng.standard_normal(chance.shape))


def _equal(human):
    """The same scores for every system, in the order of its own: equal means, and metrics that are as good."""
    return np.sort(human[0])[np.argsort(np.argsort(human, axis=1), axis=1)]


def _qualities(cell, rng):
    """What the good metric sees (k, N), what is the item's (N,), and all metrics."""
    good, item = rng.standard_normal((cell.k, cell.pool)), rng.standard_normal(cell.pool)
    metrics = 0.4 * good[..., None] + 0.9 * rng.standard_normal((cell.k, cell.pool, cell.p))
    metrics[..., :1] = good[..., None]
    return good, item, metrics


def _quality(cell, rng):
    good, item, metrics = _qualities(cell, rng)
    own = rng.standard_normal(good.shape)
    return 0.6 * good + 0.5 * item + 0.6 * own + _steps(cell), metrics


def _steps(cell):
    """Each system is a little better than the one before."""
    return 0.3 * np.arange(cell.k)[:, None] / max(cell.k - 1, 1)


def _rated(human):
    return lambda rng, system, item, lenient: (
        human[system, item] + lenient + _NOISE * rng.standard_normal(len(item))
    )


def _yes_or_no(chance):
    return lambda rng, system, item, _: (rng.random(len(item)) < chance[system, item]) * 1.0


def _of_sketch(kind):
    def world(cell, rng):
        good, item, metrics = _qualities(cell, rng)
        own = rng.standard_normal(good.shape)
        human = 0.6 * good + 0.5 * item + 0.6 * own
        if kind == "useless":
            human = 0.8 * item + 0.8 * own
        if kind == "curved":
            human = 0.5 * good**2 + 0.4 * item + 0.4 * own
        human = human + _steps(cell)
        if kind == "skewed":
            human = np.exp(0.9 * human)
        if kind == "ceiling":
            human = np.minimum(human + 1.2, 1.5)
        if kind == "spreads":
            human = human * np.exp(np.linspace(-1, 1, cell.k))[:, None]
        if kind == "flipped":
            human = human * np.where(np.arange(cell.k) % 2, 1, -1)[:, None]
        if kind in CHANCES:
            human = ndtr(CHANCES[kind](human))
        if cell.equal:
            # equal spreads would be another kind
            human = (
                human - human.mean(1, keepdims=True) + human.mean()
                if kind == "spreads"
                else _equal(human)
            )
        judge = _yes_or_no(human) if kind in CHANCES else _rated(human)
        return _World(human, metrics, judge, _panel(cell, rng))

    return world


# kinds whose judgments are 0 or 1, and the chance of 1 before it is made a share
CHANCES = {
    "binary": lambda f: 1.2 * f,
    "rare": lambda f: f - 2.2,
    "shares-middle": lambda f: 0.6 * (f - 0.15),
    "shares-ceiling": lambda f: 0.6 * (f - 0.15) + 1.9,
}


def _shaped(shape):
    """Judgments are a shape of what the rater saw; human scores are their means over raters and noise."""

    def world(cell, rng, *, loadings=None, chance=None, metrics=None):
        item = rng.standard_normal(cell.pool)
        quality = np.sqrt(0.5) * (item + rng.standard_normal((cell.k, cell.pool)))
        level = quality + 0.5 * rng.standard_normal((cell.k, 1))
        level = _equal(level) if cell.equal else level
        panel = _panel(cell, rng, leniency=_SHAPED_LENIENCY, chance=chance)
        noise = _SHAPED_NOISE if panel is None else np.hypot(_SHAPED_NOISE, _SHAPED_LENIENCY)
        human = shape(level[..., None] + noise * _QUANTILES).mean(-1)
        if loadings is None:
            loadings = np.where(np.arange(cell.p) == 0, 0.6, 0.25)
        error = rng.standard_normal((*quality.shape, cell.p))
        seen = quality[..., None] * loadings + np.sqrt(1 - loadings**2) * error
        if metrics is not None:
            seen = metrics(quality, seen, rng)

        def judge(rng, system, item, lenient):
            error = _SHAPED_NOISE * rng.standard_normal(len(item))
            return shape(level[system, item] + error + lenient)

        return _World(human, seen, judge, panel)

    return world


def _good_judge(cell, rng):
    loadings = np.where(np.arange(cell.p) == 0, 0.9, 0.25)
    return _shaped(_SHAPES["normal"])(cell, rng, loadings=loadings)


def _weak_metrics(cell, rng):
    loadings = np.abs(rng.normal(0.25, 0.1, cell.p))
    return _shaped(_SHAPES["normal"])(cell, rng, loadings=loadings)


def _adversarial(cell, rng):
    """The first metric has another sign for some systems, the second is its copy, the third has outliers."""

    def spoilt(quality, seen, rng):
        sign = rng.choice([-1, 1], (cell.k, 1, 1))
        tricks = [
            sign * seen[..., :1],
            sign * seen[..., :1] + 1e-6 * rng.standard_normal((*quality.shape, 1)),
            0.3 * quality[..., None] + rng.standard_cauchy((*quality.shape, 1)),
        ]
        changed = np.concatenate([*tricks, seen[..., 3:]], axis=-1)[..., : cell.p]
        return changed + rng.normal(0, 2, (cell.k, 1, 1))

    return _shaped(_SHAPES["normal"])(cell, rng, metrics=spoilt)


def _busy_rater(cell, rng):
    """One rater gives six tenths of the judgments."""
    chance = np.full((cell.k, max(cell.raters, 1)), 0.4 / max(cell.raters - 1, 1))
    chance[:, 0] = 0.6
    return _shaped(_SHAPES["normal"])(cell, rng, chance=chance)


def _crowded(*, taste=0.0, own_raters=False, own_share=None, equal=False):
    """Raters with leniency, and taste for systems; with panels for each system, or more of its own than of others."""

    def world(cell, rng):
        human, metrics = _quality(cell, rng)
        if equal or cell.equal:
            human = _equal(human)
        chance = None
        if own_raters:
            chance = np.repeat(np.eye(cell.k), cell.raters, axis=1)
        if own_share is not None:
            home = np.arange(cell.raters) % cell.k == np.arange(cell.k)[:, None]
            counts = np.maximum(home.sum(1, keepdims=True), 1)
            others = np.maximum(cell.raters - counts, 1)
            chance = np.where(home, own_share / counts, (1 - own_share) / others)
        panel = _panel(cell, rng, taste=taste, chance=chance)
        return _World(human, metrics, _rated(human), panel)

    return world


def _huge(cell, rng):
    """Up to three errors in an output, and one of 25 in every hundredth output."""
    human, metrics = _quality(cell, rng)
    chance = ndtr(0.8 * ((_equal(human) if cell.equal else human) - 1))
    huge = np.zeros(chance.shape)
    for row in huge:
        row[rng.choice(cell.pool, max(round(0.01 * cell.pool), 1), replace=False)] = 25.0

    def judge(rng, system, item, _):
        return huge[system, item] + rng.binomial(3, chance[system, item])

    return _World(huge + 3 * chance, metrics, judge, _panel(cell, rng))


def _nearly_all_equal(share):
    """All judgments are 5, but half of those of a `share` of the outputs, which are 4."""

    def world(cell, rng):
        _, _, metrics = _qualities(cell, rng)
        chance = np.zeros(metrics.shape[:2])
        for row in chance:
            row[rng.choice(cell.pool, round(share * cell.pool), replace=False)] = 0.5
        worse = _yes_or_no(chance)
        return _World(5 - chance, metrics, lambda *drawn: 5 - worse(*drawn), _panel(cell, rng))

    return world


def _copies(cell, rng):
    """All systems give the same text to half of the items; each text has its metrics and human score."""
    human, metrics = _quality(cell, rng)
    half = cell.pool // 2
    human[:, :half], metrics[:, :half] = human[0, :half], metrics[0, :half]
    if cell.equal:
        human[:, half:] = _equal(human[:, half:])
    owner = np.arange(cell.k)[:, None] * (np.arange(cell.pool) >= half)
    texts = np.array(
        [[f"answer {item} as given by {one}" for item, one in enumerate(row)] for row in owner]
    )
    return _World(human, metrics, _rated(human), _panel(cell, rng), texts)


# kinds whose systems are always equal
ALWAYS_EQUAL = ("taste", "taste-own-raters", "no-taste", "equal", "nearly-equal")
SKETCH = (
    "normal",
    "useless",
    "skewed",
    "curved",
    "ceiling",
    "spreads",
    "binary",
    "rare",
    "flipped",
)
KINDS = (
    {kind: _of_sketch(kind) for kind in (*SKETCH, "shares-middle", "shares-ceiling")}
    | {f"shape-{name}": _shaped(shape) for name, shape in _SHAPES.items()}
    | {
        "good-judge": _good_judge,
        "weak-metrics": _weak_metrics,
        "adversarial": _adversarial,
        "busy-rater": _busy_rater,
        "taste": _crowded(taste=_TASTE, equal=True),
        "taste-own-raters": _crowded(taste=_TASTE, own_raters=True, equal=True),
        "no-taste": _crowded(equal=True),
        "crowd": _crowded(own_share=0.8),
        "huge": _huge,
        "equal": _nearly_all_equal(0.04),
        "nearly-equal": _nearly_all_equal(0.2),
        "copies": _copies,
    }
)
NAMES = (*KINDS, *(f"version-{kind}" for kind in KINDS))
