"""Campaigns whose truth is known, and draws from them: generated, and the paper's released one.

A campaign is a list of systems over the same items. Each has the human score of every output, its
metrics, and a way to draw one judgment of each chosen output.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from steelyard.paper.release import packaged_lines

PROMPTS = (
    ("cnndm", "grammar"),
    ("cnndm", "redundancy"),
    ("cnndm", "overall"),
    ("cnndm", "hter"),
    ("msmarco", "AnyCorrect"),
    ("msmarco", "AvgCorrect"),
)


@dataclass(frozen=True, eq=False)
class System:
    """A system's pool: human scores (N,), metrics (N, p), items (N,), and who judges."""

    human: np.ndarray
    metrics: np.ndarray
    items: np.ndarray
    judge: Callable  # (rng, chosen) -> judgments, raters or None
    judgments: list | None = None  # all judgments of each output, where they are known

    @property
    def truth(self):
        return self.human.mean()


@dataclass(frozen=True, eq=False)
class Drawn:
    """One judgment of each drawn output of a system, in the order of the items."""

    system: System
    chosen: np.ndarray
    human: np.ndarray
    raters: np.ndarray | None

    @property
    def metrics(self):
        return self.system.metrics[self.chosen]


def drawn(systems, n, *, shared, rng):
    """Draw n outputs of each system without replacement, on the same items or on each its own."""
    if shared:
        common = systems[0].items
        for one in systems[1:]:
            common = np.intersect1d(common, one.items)
        together = rng.choice(common, n, replace=False)
    found = []
    for one in systems:
        items = together if shared else rng.choice(one.items, n, replace=False)
        chosen = np.flatnonzero(np.isin(one.items, items))
        found.append(Drawn(one, chosen, *one.judge(rng, chosen)))
    return found


def released(task, prompt, *, reference=False):
    """The systems of the paper's campaign, the reference among them if asked, and the names of the metrics."""
    rows = {}
    for line in _lines(task, prompt, reference=reference):
        rows.setdefault(line.system, {}).setdefault(line.item, line)
    names = list(line.metrics)
    raters = sorted(
        {rater for one in rows.values() for line in one.values() for rater in line.raters}
    )
    code = {rater: number for number, rater in enumerate(raters)}
    items = sorted({item for one in rows.values() for item in one})
    number = {item: position for position, item in enumerate(items)}
    return [_released_system(one, prompt, names, code, number) for one in rows.values()], names


@cache
def _tasks():
    return packaged_lines()


def _lines(task, prompt, *, reference=False):
    return [
        line
        for line in _tasks()[task]
        if (reference or line.system != "reference") and prompt in line.human
    ]


def _released_system(rows, prompt, names, code, number):
    items = sorted(rows, key=number.__getitem__)
    lines = [rows[item] for item in items]
    judgments = [np.array(line.human[prompt]) for line in lines]
    raters = [np.array([code[name] for name in line.raters]) for line in lines]

    def judge(rng, chosen):
        which = [int(rng.integers(len(judgments[i]))) for i in chosen]
        pairs = list(zip(chosen, which, strict=True))
        return (
            np.array([judgments[i][j] for i, j in pairs]),
            np.array([raters[i][j] for i, j in pairs]),
        )

    return System(
        np.array([one.mean() for one in judgments]),
        np.array([[line.metrics[name] for name in names] for line in lines]),
        np.array([number[item] for item in items]),
        judge,
        judgments,
    )
