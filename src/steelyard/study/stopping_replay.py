"""Many replays of one stopping rule at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import PoolMoments
from steelyard.design.sequence.ends import sequence_ends
from steelyard.design.sequence.options import SequenceOptions
from steelyard.design.sequence.residuals import Residuals, predictable_residuals

__all__ = ["Outcome", "stopped_outcomes"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_ROUNDING = 1e-9
# Looks that are made at first.
_FIRST = 4


@dataclass(frozen=True)
class Outcome:
    """What one replay came to."""

    judgments: int
    reached: bool
    half_width: float
    error: float
    covered: bool


def stopped_outcomes(
    human: Floats, metric: Floats | None, options: SequenceOptions, *, look: int, goal: float
) -> list[Outcome]:
    """Follow a confidence sequence over R orders of a pool of N, until it is narrow enough.

    Parameters
    ----------
    human : (R, N) array
        One judgment of each output, in the order of each replay.
    metric : (R, N, p) array or None
        Metrics of the same outputs.
    options : SequenceOptions
        The sequence.
    look : int
        Judgments between two looks.
    goal : float
        The half-width at which to stop.

    Notes
    -----
    An interval is what all intervals up to its moment have in common, so it only narrows. A look
    is thus found by halving, and an interval that holds the truth at the end has always held it.
    Few judgments are looked at first, and more of those replays only that need them.
    """
    size = human.shape[1]
    pool = None if metric is None else PoolMoments.of(metric[0])
    metric = np.empty((*human.shape, 0)) if metric is None else metric
    truth = human.mean(axis=1)
    found: dict[int, Outcome] = {}
    left, most = np.arange(len(human)), _FIRST * look
    while len(left):
        most = min(most, size)
        part = _until(
            human[left, :most],
            metric[left, :most],
            pool,
            truth[left],
            options,
            look=look,
            goal=goal,
        )
        found |= {
            int(run): one
            for run, one in zip(left, part, strict=True)
            if one.reached or most == size
        }
        left = np.array([run for run in left if run not in found], dtype=np.int64)
        most *= 2
    return [found[run] for run in range(len(human))]


def _until(
    human: Floats,
    metric: Floats,
    pool: PoolMoments | None,
    truth: Floats,
    options: SequenceOptions,
    *,
    look: int,
    goal: float,
) -> list[Outcome]:
    """Follow the sequence as far as these judgments (R, T) go."""
    least, greatest = options.bounds
    scale = greatest - least
    most = human.shape[1]
    times = np.minimum(np.arange(look, most + look, look), most)
    residuals = predictable_residuals(
        (human - least) / scale, metric, pool=pool, pool_size=options.pool_size
    )
    if options.method == "betting":
        stop, low, high, missed = _halved(residuals, times, options, goal / scale)
    else:
        ends = sequence_ends(residuals, times, options=options)
        narrow = ends.high - ends.low <= 2 * goal / scale
        at = np.where(narrow.any(axis=1), narrow.argmax(axis=1), len(times) - 1)
        rows = np.arange(len(human))
        stop, low, high = times[at], ends.low[rows, at], ends.high[rows, at]
        missed = np.array([ends.contradicted[row, : one + 1].any() for row, one in enumerate(at)])
    estimates = residuals.fitted if options.method == "asymptotic" else residuals.estimate
    found = np.clip(estimates[np.arange(len(human)), stop - 1], low, high)
    truth = (truth - least) / scale
    held = (low - _ROUNDING <= truth) & (truth <= high + _ROUNDING) & ~missed
    width = scale * (high - low) / 2
    return [
        Outcome(int(n), bool(w <= goal), float(w), float(scale * e), bool(h))
        for n, w, e, h in zip(stop, width, found - truth, held, strict=True)
    ]


def _halved(
    residuals: Residuals, times: Integers, options: SequenceOptions, goal: float
) -> tuple[Integers, Floats, Floats, NDArray[np.bool_]]:
    """Return the first look at which each run is narrow enough, or the last; and the ends there."""
    runs = len(residuals.human)
    low, high = np.zeros(runs), np.ones(runs)
    missed = np.zeros(runs, dtype=bool)
    # The stop lies in (before, until], indices of `times`; the ends at `until` are known or not.
    before, until = np.full(runs, -1), np.full(runs, len(times) - 1)
    known = np.zeros(runs, dtype=bool)
    while True:
        between = until - before > 1
        open_still = between | ~known
        if not open_still.any():
            return times[until], low, high, missed
        middle = np.where(between, (before + until) // 2, until)
        for look in np.unique(middle[open_still]):
            chosen = np.flatnonzero(open_still & (middle == look))
            part = residuals.runs(chosen).until(int(times[look]))
            ends = sequence_ends(part, times[look : look + 1], options=options)
            kept = (ends.high[:, 0] - ends.low[:, 0] <= 2 * goal) | (look == until[chosen])
            stays = chosen[kept]
            until[stays], known[stays] = look, True
            low[stays], high[stays] = ends.low[kept, 0], ends.high[kept, 0]
            missed[stays] = ends.contradicted[kept, 0]
            before[chosen[~kept]] = look
