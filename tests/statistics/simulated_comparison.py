"""Campaigns with known differences: shared items, identical outputs, lenient and busy raters."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from steelyard.arrays import PoolMoments, judged_outputs, simple_draw
from steelyard.estimate import Options
from steelyard.estimate.controlled import JudgedSystem
from steelyard.estimate.differences import Shared, campaign_differences

SIZE = 400


@dataclass(frozen=True)
class Setting:
    """One kind of campaign; `shared` is the share of judged items that all systems have in common."""

    systems: int = 2
    n: int = 20
    shared: float = 1.0
    identical: float = 0.0
    raters: int = 0
    busy: bool = False
    judgments: int = 1
    kind: str = "normal"
    metric: bool = True


@dataclass(frozen=True, eq=False)
class World:
    """The truth: human scores (k, N), a metric, and which outputs are copies of the first's."""

    score: np.ndarray
    metric: np.ndarray
    copied: np.ndarray

    @classmethod
    def of(cls, setting, rng, *, means=None):
        k = setting.systems
        means = rng.normal(0, 0.3, k) if means is None else np.asarray(means)
        score = means[:, None] + np.sqrt(0.5) * (
            rng.standard_normal(SIZE) + rng.standard_normal((k, SIZE))
        )
        if setting.kind == "binary":
            score = 1 / (1 + np.exp(-1.5 * score))
        if setting.kind == "counts":
            score = -np.expm1(np.clip(1.2 * score, 0, None))
        # The metric likes some systems more than people do.
        favour = rng.normal(0, 1.0, k)[:, None]
        metric = favour + score + rng.standard_normal((k, SIZE))
        copied = np.zeros((k, SIZE), dtype=bool)
        copied[:, rng.permutation(SIZE)[: round(setting.identical * SIZE)]] = True
        for number in range(1, k):
            score[number, copied[number]] = score[0, copied[number]]
            metric[number, copied[number]] = metric[0, copied[number]]
        return cls(score, metric, copied)

    def shared(self, pair, judged):
        same = self.copied[0]
        gaps = [(one - one.mean())[~same].mean(keepdims=True) for one in self.metric[list(pair)]]
        differs = tuple(~same[judged[number].items] for number in pair)
        return Shared(
            SIZE, int(same.sum()), differs, tuple(gaps) if len(judged[0].metric[0]) else None
        )


def judged_systems(world, setting, rng):
    """Draw items, assign raters and let them judge."""
    common = rng.permutation(SIZE)
    together = round(setting.shared * setting.n)
    leniency = 0.4 * rng.standard_normal(max(setting.raters, 1))
    odds = np.full(max(setting.raters, 1), 1.0)
    if setting.busy:
        odds[0] = len(odds) - 1.0
    found = []
    for score, metric in zip(world.score, world.metric, strict=True):
        own = rng.permutation(common[together:])[: setting.n - together]
        items = np.repeat(np.concatenate([common[:together], own]), setting.judgments)
        raters = rng.choice(len(odds), len(items), p=odds / odds.sum())
        shift = leniency[raters] if setting.raters else 0.0
        if setting.kind == "binary":
            chance = np.clip(score[items] + 0.3 * shift, 0, 1)
            human = (rng.random(len(items)) < chance).astype(float)
        else:
            human = score[items] + shift + 0.7 * rng.standard_normal(len(items))
        order = np.lexsort((raters, human, items))
        human, raters, items = human[order], raters[order], items[order]
        sample = judged_outputs(human, None, items, raters=raters)
        distinct = np.unique(items)
        columns = metric[:, None] if setting.metric else np.empty((SIZE, 0))
        found.append(
            JudgedSystem(
                sample=sample,
                draw=simple_draw(sample, SIZE),
                metric=columns[distinct],
                items=distinct,
                raters=raters if setting.raters else None,
                pool=PoolMoments.of(columns) if setting.metric else None,
            )
        )
    return found


def comparisons(setting, *, runs, seed, worlds=5, means=None, **options):
    """Yield (differences, true differences) of seeded campaigns."""
    rng = np.random.default_rng(seed)
    known = [World.of(setting, rng, means=means) for _ in range(worlds)]
    pairs = list(combinations(range(setting.systems), 2))
    chosen = Options(raters_as="adjusted" if setting.raters else "fixed")
    for run in range(runs):
        world = known[run % worlds]
        judged = judged_systems(world, setting, rng)
        shared = [world.shared(pair, judged) for pair in pairs]
        found = campaign_differences(
            judged, pairs, shared, options=replace(chosen, **options), seed=run
        )
        truth = [world.score[a].mean() - world.score[b].mean() for a, b in pairs]
        yield found, truth
