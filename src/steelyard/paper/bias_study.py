"""The authors' bias study: systems whose outputs are replaced by other systems' (figure 1a).

The rules come out of the released means, all of which they reproduce. An output is *low* if its metric
is below the mean metric of all outputs of all systems. Each low output is replaced, if there is any, by
another system's output for the same item:

``lr``
    a low one that people rate higher: of those, the one they rate lowest.
``ll``
    a low one that people rate lower: of those, the one they rate highest.
``ur``
    one that is not low: of those, the one that people rate lowest.
``ul``
    none: the row repeats the system itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.data.release import ReleasedOutput
from steelyard.paper.release import Task
from steelyard.variance import Quantity

__all__ = ["CONDITIONS", "BiasRow", "FreshGain", "bias_study", "fresh_gains", "replacements"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Condition = Literal["ll", "lr", "ul", "ur"]

CONDITIONS: tuple[Condition, ...] = ("lr", "ll", "ur", "ul")
_METRIC, _LEVEL = "rouge-l", 0.80


@dataclass(frozen=True)
class BiasRow:
    """Mean human score and mean metric of a system, or of a system with replaced outputs.

    Attributes
    ----------
    task, system : str
        Which.
    condition : str
        How outputs were replaced; empty for the system itself.
    human, metric : Quantity
        Means with 80% intervals, by the authors' rule.
    released_human, released_metric : Quantity or None
        The authors' results.
    replaced : int
        Number of outputs replaced.
    outputs : int
        Number of outputs.
    at_random : tuple of float
        The two means if each replacement were drawn at random from those that the rule chooses from.
    """

    task: str
    system: str
    condition: str
    human: Quantity
    metric: Quantity
    released_human: Quantity | None
    released_metric: Quantity | None
    replaced: int
    outputs: int
    at_random: tuple[float, float]

    @property
    def largest_difference(self) -> float:
        """Greatest difference of the two means from the released ones; NaN without those."""
        if self.released_human is None or self.released_metric is None:
            return float("nan")
        return max(
            abs(self.human.value - self.released_human.value),
            abs(self.metric.value - self.released_metric.value),
        )


@dataclass(frozen=True)
class FreshGain:
    """What replacing outputs changes in the eyes of those who chose, and of others.

    Attributes
    ----------
    task, system, condition : str
        Which.
    chosen : float
        Change of the mean judgment by which replacements were chosen, one an output.
    fresh : float
        Change of the mean of the other judgments of the same outputs.
    """

    task: str
    system: str
    condition: str
    chosen: float
    fresh: float


def bias_study(task: Task, *, draws: int, seed: int) -> list[BiasRow]:
    """Return each system and its four replacements.

    Parameters
    ----------
    task : Task
        Released judgments.
    draws : int
        Bootstrap draws of the intervals.
    seed : int
        Their seed.
    """
    outputs, human = _table(task, lambda line: line.gold[task.names.bias_prompt])
    _, metric = _table(task, lambda line: line.metrics[_METRIC])
    released = {row[0]: row[1:] for row in task.released("bias") or ()}
    rows = []
    for place, system in enumerate(task.systems):
        there = ~np.isnan(human[:, place])
        mine = (human[there], metric[there], place)
        threshold = float(np.nanmean(metric))
        for condition in ("", *CONDITIONS):
            rng = np.random.default_rng([seed, place])
            taken, candidates = replacements(*mine, threshold=threshold, condition=condition)
            row = np.arange(len(taken))
            values = mine[0][row, taken], mine[1][row, taken]
            theirs = released.get(f"{system}-{condition}" if condition else system)
            rows.append(
                BiasRow(
                    task=task.name,
                    system=system,
                    condition=condition,
                    human=_mean(values[0], draws, rng),
                    metric=_mean(values[1], draws, rng),
                    released_human=None if theirs is None else _released(theirs[:3]),
                    released_metric=None if theirs is None else _released(theirs[3:]),
                    replaced=int(candidates.any(axis=1).sum()),
                    outputs=len(taken),
                    at_random=(
                        _average(mine[0], candidates, place),
                        _average(mine[1], candidates, place),
                    ),
                )
            )
    assert len(outputs) == len(human)
    return rows


def replacements(
    human: Floats, metric: Floats, place: int, *, threshold: float, condition: str
) -> tuple[NDArray[np.int64], Flags]:
    """Choose the outputs of a system with replaced outputs.

    Parameters
    ----------
    human, metric : (n, s) array
        Human score and metric of s systems on n items; NaN where a system has no output.
    place : int
        Which column is the system's own.
    threshold : float
        Metrics below it are low.
    condition : str
        How outputs are replaced; empty for not at all.

    Returns
    -------
    (n,) array of int
        Which system's output is taken on each item.
    (n, s) array of bool
        Which outputs the rule could choose from.
    """
    own_human, own_metric = human[:, [place]], metric[:, [place]]
    low = (metric < threshold) & (own_metric < threshold)
    none = np.zeros(human.shape, dtype=bool)
    candidates = {
        "lr": low & (human > own_human),
        "ll": low & (human < own_human),
        "ur": (metric > threshold) & (own_metric < threshold),
    }.get(condition, none)
    sign = -1.0 if condition.endswith("l") else 1.0
    # The lowest (or highest) human score, and among equal ones the lowest (or highest) metric.
    score = np.where(candidates, sign * human, np.inf)
    ties = candidates & (score == score.min(axis=1, keepdims=True))
    chosen = np.where(ties, sign * metric, np.inf).argmin(axis=1)
    return np.where(candidates.any(axis=1), chosen, place), candidates


def fresh_gains(task: Task, *, seed: int, splits: int = 100) -> list[FreshGain]:
    """Tell what replacements chosen by one judgment are worth in the eyes of other raters.

    Outputs that were chosen because their judgment is high are on average not as good as that
    judgment: part of it is noise. Each split chooses by one judgment of every output, drawn at
    random, and looks at the others.

    Parameters
    ----------
    task : Task
        Released judgments.
    seed : int
        Seed of the splits.
    splits : int
        Number of splits to average over.
    """
    rng = np.random.default_rng(seed)
    prompt = task.names.bias_prompt
    _, metric = _table(task, lambda line: line.metrics[_METRIC])
    _, total = _table(task, lambda line: sum(line.human[prompt]))
    _, count = _table(task, lambda line: len(line.human[prompt]))
    threshold = float(np.nanmean(metric))
    gains: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for _ in range(splits):
        _, choosing = _table(task, lambda line: float(rng.choice(line.human[prompt])))
        fresh = (total - choosing) / (count - 1)
        for place, system in enumerate(task.systems):
            there = ~np.isnan(metric[:, place])
            row = np.arange(int(there.sum()))
            for condition in ("lr", "ll"):
                taken, _ = replacements(
                    choosing[there], metric[there], place, threshold=threshold, condition=condition
                )
                changes = [
                    float((scores[there][row, taken] - scores[there][:, place]).mean())
                    for scores in (choosing, fresh)
                ]
                gains.setdefault((system, condition), []).append((changes[0], changes[1]))
    return [
        FreshGain(task.name, system, condition, *map(float, np.mean(found, axis=0)))
        for (system, condition), found in gains.items()
    ]
