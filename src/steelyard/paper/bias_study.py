"""The authors' bias study: systems whose outputs are replaced by other systems' (figure 1a).

The paper does not give the rules. These are the rules of the authors' public code, and they reproduce all
of the released means. An output is *low* if its metric is below the mean metric of all outputs of all
systems. Each low output is replaced, if there is any, by another system's output for the same item:

``lr``
    a low one that people rate higher: of those, the one they rate lowest.
``ll``
    a low one that people rate lower: of those, the one they rate highest.
``ur``
    one that is not low: of those, the one that people rate lowest.
``ul``
    none, since its conditions contradict each other: the row repeats the system itself.

References
----------
A. T. Chaganty, active-evaluation, https://github.com/arunchaganty/active-evaluation, in
``src/zipteedo/stats.py``, for the rules; the implementation here is another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Bools, Floats
from steelyard.paper.release import PaperTask
from steelyard.single.interval import Interval

__all__ = [
    "CONDITIONS",
    "BiasRow",
    "FreshGain",
    "Grid",
    "bias_study",
    "fresh_gains",
    "replacements",
]

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
    human, metric : Interval
        Means with 80% intervals, by the authors' rule.
    released_human, released_metric : Interval or None
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
    human: Interval
    metric: Interval
    released_human: Interval | None
    released_metric: Interval | None
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


@dataclass(frozen=True, eq=False)
class Grid:
    """Human scores and metrics of n items by s systems; NaN where a system has no output.

    Attributes
    ----------
    human : (n, s) array
        Mean judgment as released.
    metric : (n, s) array
        ROUGE-L.
    judgments : (n, s, m) array
        Single judgments, NaN after the last.
    """

    human: Floats
    metric: Floats
    judgments: Floats

    @property
    def threshold(self) -> float:
        """Mean metric of all outputs: those below it are low."""
        return float(np.nanmean(self.metric))

    @classmethod
    def of(cls, task: PaperTask) -> "Grid":
        """Return the grid of a task; of an output judged twice over, the later line, as theirs."""
        prompt = task.names.bias_prompt
        items = dict.fromkeys(line.item for line in task.lines)
        rows = {item: row for row, item in enumerate(items)}
        most = max(len(line.raters) for line in task.lines)
        shape = (len(rows), len(task.systems))
        grid = cls(*(np.full(size, np.nan) for size in (shape, shape, (*shape, most))))
        for line in task.lines:
            if line.system in task.systems:
                cell = rows[line.item], task.systems.index(line.system)
                grid.human[cell] = line.gold[prompt]
                grid.metric[cell] = line.metrics[_METRIC]
                grid.judgments[cell] = np.nan
                grid.judgments[cell][: len(line.raters)] = line.human[prompt]
        return grid


def bias_study(task: PaperTask, *, draws: int, seed: int) -> list[BiasRow]:
    """Return each system and its four replacements."""
    grid = Grid.of(task)
    released = {row[0]: row[1:] for row in task.released("bias") or ()}
    return [
        _row(
            task,
            grid,
            system,
            condition,
            released=released.get(f"{system}-{condition}" if condition else system),
            draws=draws,
            rng=np.random.default_rng([seed, place]),
        )
        for place, system in enumerate(task.systems)
        for condition in ("", *CONDITIONS)
    ]


def _row(
    task: PaperTask,
    grid: Grid,
    system: str,
    condition: str,
    *,
    released: Sequence[float] | None,
    draws: int,
    rng: np.random.Generator,
) -> BiasRow:
    place = task.systems.index(system)
    there = ~np.isnan(grid.human[:, place])
    human, metric = grid.human[there], grid.metric[there]
    taken, candidates = replacements(
        human, metric, place, threshold=grid.threshold, condition=condition
    )
    weights = rng.multinomial(len(taken), np.full(len(taken), 1 / len(taken)), size=draws)
    row = np.arange(len(taken))
    return BiasRow(
        task=task.name,
        system=system,
        condition=condition,
        human=_mean(human[row, taken], weights),
        metric=_mean(metric[row, taken], weights),
        released_human=None if released is None else _released(released[:3]),
        released_metric=None if released is None else _released(released[3:]),
        replaced=int(candidates.any(axis=1).sum()),
        outputs=len(taken),
        at_random=(_average(human, candidates, place), _average(metric, candidates, place)),
    )


def replacements(
    human: Floats, metric: Floats, place: int, *, threshold: float, condition: str
) -> tuple[NDArray[np.int64], Bools]:
    """Choose the outputs of a system with replaced outputs.

    Human scores and metrics are those of s systems on n items, NaN where a system has no output, and
    `place` is the system's own column. Returns which system's output is taken on each item (n,), and
    which outputs the rule could choose from (n, s).
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


def _mean(values: Floats, weights: NDArray[np.int64]) -> Interval:
    """Return a mean with its basic bootstrap interval."""
    mean = float(values.mean())
    low, high = np.quantile(weights @ values / len(values), [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Interval(mean, 2 * mean - float(high), 2 * mean - float(low))


def _released(numbers: Sequence[float]) -> Interval:
    """Read a mean and its interval, whose upper end the authors put first."""
    mean, high, low = numbers
    return Interval(mean, low, high)


def _average(values: Floats, candidates: Bools, place: int) -> float:
    """Return the mean if each replacement were drawn at random from the candidates."""
    number = candidates.sum(axis=1)
    drawn = np.where(candidates, values, 0.0).sum(axis=1) / np.maximum(number, 1)
    return float(np.where(number > 0, drawn, values[:, place]).mean())


@dataclass(frozen=True)
class FreshGain:
    """What replacing outputs changes in the eyes of raters who chose, and of others.

    Attributes
    ----------
    task, system, condition : str
        Which.
    chosen : float
        Change of the mean judgment by which replacements were chosen, one per output.
    fresh : float
        Change of the mean of the other judgments of the same outputs.
    """

    task: str
    system: str
    condition: str
    chosen: float
    fresh: float


def fresh_gains(task: PaperTask, *, seed: int, splits: int = 200) -> list[FreshGain]:
    """Replace outputs by one judgment of each, and look at the change with the others.

    An output that is chosen because its judgment is high is on average not as good as that judgment:
    part of it is noise, which another rater does not share. Each split draws the judgment to choose
    by at random, and averages the others.
    """
    rng = np.random.default_rng(seed)
    grid = Grid.of(task)
    count = np.sum(~np.isnan(grid.judgments), axis=2)
    total = np.nansum(grid.judgments, axis=2)
    changes: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for _ in range(splits):
        # One number an item: identical outputs, which share their judgments, share this one too.
        which = (rng.random((len(count), 1)) * np.maximum(count, 1)).astype(np.int64)
        choosing = np.take_along_axis(grid.judgments, which[:, :, np.newaxis], axis=2)[:, :, 0]
        with np.errstate(invalid="ignore", divide="ignore"):
            others = (total - choosing) / (count - 1)
        for place, system in enumerate(task.systems):
            there = ~np.isnan(others[:, place])
            row = np.arange(int(there.sum()))
            for condition in ("lr", "ll"):
                taken, _ = replacements(
                    choosing[there],
                    grid.metric[there],
                    place,
                    threshold=grid.threshold,
                    condition=condition,
                )
                chosen, fresh = (
                    float(np.nanmean(scores[there][row, taken] - scores[there][:, place]))
                    for scores in (choosing, others)
                )
                changes.setdefault((system, condition), []).append((chosen, fresh))
    return [
        FreshGain(task.name, system, condition, *np.mean(pairs, axis=0).tolist())
        for (system, condition), pairs in changes.items()
    ]
