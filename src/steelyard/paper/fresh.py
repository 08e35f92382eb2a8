"""What replacing outputs is worth in the eyes of raters who did not choose the replacements."""

from dataclasses import dataclass

import numpy as np

from steelyard.paper.bias_study import Grid, replacements
from steelyard.paper.release import PaperTask

__all__ = ["FreshGain", "fresh_gains"]


@dataclass(frozen=True)
class FreshGain:
    """What replacing outputs changes for those who chose, and for others.

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


def fresh_gains(task: PaperTask, *, seed: int, splits: int = 200) -> list[FreshGain]:
    """Replace outputs by one judgment of each, and look at the change with the others.

    An output that is chosen because its judgment is high is on average not as good as that judgment:
    part of it is noise, which another rater does not share. Each split draws the judgment to choose
    by at random, and averages the others.

    Parameters
    ----------
    task : PaperTask
        Released judgments.
    seed : int
        Seed of the splits.
    splits : int
        Number of splits to average over.
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
        FreshGain(task.name, system, condition, *np.mean(found, axis=0).tolist())
        for (system, condition), found in changes.items()
    ]
