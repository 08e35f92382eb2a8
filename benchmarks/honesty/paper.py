"""The campaigns that the paper released, as kinds: their full judgments are the truth."""

from dataclasses import dataclass, replace
from functools import cache, reduce
from zlib import crc32

import numpy as np

from benchmarks.honesty.systems import PROMPTS, System, released

# Items that all four systems of a prompt have.
POOL = 500
_BOUNDS = {"grammar": (-1.0, 1.0), "redundancy": (-1.0, 1.0), "overall": (-1.0, 1.0)}
_BOUNDS |= {"AnyCorrect": (0.0, 1.0), "AvgCorrect": (0.0, 1.0)}


@dataclass(frozen=True)
class Released:
    """The four systems of one prompt, on the items that all have, judged on the same items."""

    task: str
    prompt: str
    systems: int = 4
    own_items: bool = False

    @property
    def name(self):
        return f"{self.task}, {self.prompt}"

    @property
    def bounds(self):
        return _BOUNDS.get(self.prompt)

    def campaign(self, _rng):
        return _systems(self.task, self.prompt)

    def rng(self, *numbers, seed=0):
        return np.random.default_rng([seed, crc32(self.name.encode()), *numbers])


@cache
def _systems(task, prompt):
    """The systems on the items of all, their metrics on the scale of the scores, the best one first."""
    systems, _ = released(task, prompt)
    together = reduce(np.intersect1d, [one.items for one in systems])
    systems = [_on_items(one, together) for one in systems]
    with_human = np.mean([_correlations(one) for one in systems], axis=0)
    order = np.argsort(-np.abs(with_human))
    return [_on_scale(one, order, np.sign(with_human[order])) for one in systems]


def _on_items(one, items):
    kept = np.flatnonzero(np.isin(one.items, items))

    def judge(rng, chosen):
        return one.judge(rng, kept[chosen])

    return System(one.human[kept], one.metrics[kept], items, judge)


def _correlations(one):
    return [np.corrcoef(values, one.human)[0, 1] for values in one.metrics.T]


def _on_scale(one, order, signs):
    """Signs and scale by hindsight, as if somebody had mapped each metric to the scores before."""
    values = signs * one.metrics[:, order]
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    return replace(one, metrics=one.human.mean() + one.human.std() * values)


KINDS = tuple(Released(*one) for one in PROMPTS)
