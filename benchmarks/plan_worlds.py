"""Campaigns of which everything is known, for the plans that are made from small pilots of them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from steelyard.paper.packaged import packaged_lines

SIZE = 1000
# Where a scale of few scores has its steps: eight of ten at the upper end, or three scores of
# which the middle one takes two thirds.
STEPS = {
    "ceiling": (-2.6, -1.9, -1.3, -0.85),
    "ties": (-1.0, 1.0),
    "likert": (-1.4, -0.5, 0.3, 1.2),
}


@dataclass(frozen=True, eq=False)
class World:
    """Pools of k systems: metrics (N, p) of each, and who judges: (rng, system, chosen, each)."""

    metrics: list
    judge: Callable
    raters: bool = False


@dataclass(frozen=True)
class Kind:
    """A simulated kind of campaign."""

    systems: int = 1
    shape: str = "normal"
    item: float = 0.5
    noise: float = 0.5
    leniency: float = 0.0
    raters: int = 30
    metric: float = 0.6
    metrics: int = 1
    apart: float = 0.0  # how much systems differ in spread
    steps: float = 0.0  # how far the best and the worst lie from the middle

    def world(self, rng):
        quality = rng.standard_normal((self.systems, SIZE))
        scale = np.exp(self.apart * rng.standard_normal(self.systems))
        # The same correlation with quality for all metrics together.
        error = rng.standard_normal((self.systems, SIZE, self.metrics))
        part = self.metric * np.sqrt(1 / max(self.metric, 1e-9) ** 2 - 1) * np.sqrt(self.metrics)
        metrics = [self.metric * q[:, None] + part * e for q, e in zip(quality, error, strict=True)]
        if not self.metric:
            metrics = list(error)
        own = np.sqrt(self.leniency) * rng.standard_normal(self.raters)
        place = np.linspace(-self.steps, self.steps, self.systems) if self.systems > 1 else [0.0]

        def judge(rng, system, chosen, each):
            who = np.argsort(rng.random((len(chosen), self.raters)), axis=1)[:, :each]
            q = quality[system, chosen][:, None]
            e = rng.standard_normal((len(chosen), each))
            if self.shape == "binary":
                middle = np.linspace(0, 0.8, self.systems)[system]
                chance = 1 / (1 + np.exp(-(middle + 1.5 * q)))
                scores = (rng.random(e.shape) < chance).astype(float)
            elif self.shape == "rare":
                scores = (rng.random(e.shape) < 1 / (1 + np.exp(2.5 - q))).astype(float)
            elif self.shape == "skewed":
                scores = rng.poisson(np.exp(0.7 * q), e.shape).astype(float)
            elif self.shape in STEPS:
                level = np.sqrt(self.item) * q + np.sqrt(self.noise) * e + own[who]
                level = place[system] + scale[system] * level
                scores = np.searchsorted(STEPS[self.shape], level).astype(float)
            elif self.shape == "errors":
                # Weights of errors: none in most texts, else a long tail down to -25.
                chance = 1 / (1 + np.exp(0.5 + place[system] + 1.2 * q + 0.5 * own[who]))
                weight = 1 + rng.gamma(0.6, 6.0, e.shape)
                scores = np.where(rng.random(e.shape) < chance, -np.minimum(weight, 25.0), 0.0)
            elif self.shape == "percent":
                level = np.sqrt(self.item) * q + np.sqrt(self.noise) * e + own[who]
                scores = np.clip(70 + 20 * (place[system] + scale[system] * level), 0, 100)
            else:
                level = np.sqrt(self.item) * q + np.sqrt(self.noise) * e
                scores = scale[system] * (level + own[who])
            return scores, who

        return World(metrics, judge, raters=self.leniency > 0)


KINDS = {
    "normal": Kind(),
    "useless metric": Kind(metric=0.0),
    "five metrics": Kind(metric=0.7, metrics=5),
    "binary": Kind(shape="binary"),
    "rare": Kind(shape="rare"),
    "skewed": Kind(shape="skewed"),
    "ceiling": Kind(shape="ceiling"),
    "ties": Kind(shape="ties"),
    "twenty metrics": Kind(metric=0.7, metrics=20),
    "ten useless": Kind(metric=0.0, metrics=10),
    "noisy raters": Kind(item=0.2, noise=2.0),
    "quiet raters": Kind(item=1.0, noise=0.05),
    "lenient raters": Kind(leniency=0.06, raters=40),
    "two systems": Kind(systems=2, apart=0.2),
    "five systems": Kind(systems=5, apart=0.2),
    "five, binary": Kind(systems=5, shape="binary"),
    "five, skewed": Kind(systems=5, shape="skewed", metric=0.0),
    "five, lenient": Kind(systems=5, leniency=0.06, raters=40),
}
# Kinds that were not looked at when anything was chosen.
FRESH = {
    "errors": Kind(shape="errors", metric=0.4),
    "six, errors": Kind(systems=6, shape="errors", metric=0.4, metrics=3, steps=0.6),
    "likert": Kind(shape="likert", metric=0.5, metrics=3),
    "ten, likert": Kind(systems=10, shape="likert", metric=0.5, metrics=3, apart=0.3, steps=0.6),
    "eight, percent": Kind(
        systems=8, shape="percent", leniency=0.3, raters=25, item=0.4, noise=0.3, steps=0.5
    ),
    "twelve, thirty metrics": Kind(systems=12, metrics=30, metric=0.6, apart=0.15),
}
RELEASED = {
    "paper, AnyCorrect": ("msmarco", "AnyCorrect"),
    "paper, AvgCorrect": ("msmarco", "AvgCorrect"),
    "paper, Overall": ("cnndm", "overall"),
    "paper, Edit": ("cnndm", "hter"),
    "paper, Grammar": ("cnndm", "grammar"),
    "paper, Redundancy": ("cnndm", "redundancy"),
}


def released(task, prompt):
    """The paper's systems, without the reference; judgments are of the raters who gave them."""
    rows = {}
    for line in packaged_lines()[task]:
        if line.system != "reference" and prompt in line.human:
            rows.setdefault(line.system, {}).setdefault(line.item, line)
    items = sorted(set.intersection(*(set(one) for one in rows.values())))
    systems = [[one[item] for item in items] for one in rows.values()]
    names = sorted(systems[0][0].metrics)
    metrics = [np.array([[out.metrics[m] for m in names] for out in one]) for one in systems]
    human = [[np.array(out.human[prompt]) for out in one] for one in systems]
    code = {
        name: i for i, name in enumerate(sorted({r for s in systems for o in s for r in o.raters}))
    }
    who = [[np.array([code[name] for name in out.raters]) for out in one] for one in systems]

    def judge(rng, system, chosen, each):
        found = np.empty((2, len(chosen), each))
        for row, output in enumerate(chosen):
            given = human[system][output]
            which = rng.choice(len(given), each, replace=each > len(given))
            found[:, row] = given[which], who[system][output][which]
        return found[0], found[1].astype(np.int64)

    return World(metrics, judge, raters=True)


def makers():
    """A function of a generator that returns a world, by name."""
    found = {name: kind.world for name, kind in (KINDS | FRESH).items()}
    return found | {
        name: lambda _, known=known: known
        for name, known in ((name, released(*one)) for name, one in RELEASED.items())
    }
