"""What the answers of one contestant to all replays of a cell come to, beside plain t."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

DIED = "the process died"
# what a new version's own judgments say, without those of older ones
OWN = ", own judgments"


@dataclass(frozen=True)
class Figure:
    """A value with its standard error over replays."""

    value: float
    error: float

    def surely_above(self, most):
        return self.value - 2 * self.error > most

    def surely_below(self, least):
        return self.value + 2 * self.error < least


@dataclass(frozen=True, eq=False)
class Part:
    """Means, or differences: squared error and width relative to plain t, and how often intervals hold."""

    squares: np.ndarray  # (runs,) mean squared error of each replay
    held: np.ndarray  # (runs,) share of intervals that hold
    widths: np.ndarray  # (runs,) mean width
    error: Figure
    width: Figure
    holds: Figure


@dataclass(frozen=True, eq=False)
class Row:
    """All figures of one contestant in one cell; None where there is nothing to be said."""

    who: str
    means: Part
    differences: Part | None
    together: Figure | None
    false_claims: Figure | None
    wilson: Figure | None
    outside: float | None
    refused: float
    reason: str
    died: tuple[int, ...]  # the replays in which the process died
    seconds: float


def row(cell, who, answers, *, campaigns, plain, compared=True):
    """The figures of a contestant from its answers and plain t's, replay by replay."""
    counted = cell.counted
    truth = np.array([one.truth for one in campaigns])
    means, base = (_stacked(given, "means")[:, counted] for given in (answers, plain))
    missing = np.isnan(means[..., 0])
    differences = together = false_claims = None
    pairs = np.array(list(combinations(range(cell.k), 2)), dtype=int).reshape(-1, 2)
    kept = np.isin(pairs, counted).any(1)
    if compared and kept.any():
        apart = (truth[:, pairs[:, 0]] - truth[:, pairs[:, 1]])[:, kept]
        found, other = (_stacked(given, "differences")[:, kept] for given in (answers, plain))
        differences = _part(found[..., :3], other[..., :3], apart)
        absent = np.isnan(found[..., 0])
        there = ~absent.all(1)
        inside = absent | _within(found[..., 3:5], apart)
        together = share(inside.all(1)[there])
        if cell.truly_equal:
            false_claims = share((np.nan_to_num(found[..., 5]) != 0).any(1)[there])
        missing = np.concatenate([missing, absent], axis=1)
    width, outside = None, None
    wilson = _stacked(plain, "wilson")[:, counted]
    if not np.isnan(wilson).any():
        width = _ratio(_widths(means), wilson)
        beyond = (means[..., 1] < -1e-9) | (means[..., 2] > 1 + 1e-9)
        outside = float(beyond.mean())
    return Row(
        who,
        _part(means[..., :3], base[..., :3], truth[:, counted]),
        differences,
        together,
        false_claims,
        width,
        outside,
        refused=float(missing.mean()),
        reason=next((why for one in answers for why in one["refused"]), ""),
        died=tuple(run for run, one in enumerate(answers) if DIED in one["refused"]),
        seconds=_mean(np.array([one["seconds"] for one in answers])),
    )


def ratio(squares, others):
    """One mean over another, of the replays that both have, by the delta method."""
    both = ~(np.isnan(squares) | np.isnan(others))
    top, bottom = squares[both], others[both]
    if len(top) == 0 or bottom.mean() == 0:
        return Figure(np.nan, np.nan)
    value = top.mean() / bottom.mean()
    return Figure(value, _error(top - value * bottom) / bottom.mean())


def share(held):
    """A mean of shares; where all replays agree, its error is that of one more of either kind."""
    held = np.asarray(held, dtype=float)
    if len(held) == 0:
        return Figure(np.nan, np.nan)
    value = float(np.mean(held))
    guess = (np.sum(held) + 1) / (len(held) + 2)
    least = np.sqrt(guess * (1 - guess) / len(held))
    return Figure(value, _error(held) if np.ptp(held) > 0 else float(least))


def _part(found, plain, truth):
    """`found` and `plain` are estimate, low, high of each; a refusal leaves both out."""
    absent = np.isnan(found[..., 0]) | np.isnan(plain[..., 0])
    off = np.where(absent, np.nan, (found[..., 0] - truth) ** 2)
    base = np.where(absent, np.nan, (plain[..., 0] - truth) ** 2)
    inside = np.where(np.isnan(found[..., 0]), np.nan, _within(found[..., 1:3], truth))
    squares, held = _by_run(off), _by_run(inside)
    return Part(
        squares,
        held,
        _by_run(_widths(found)),
        error=ratio(squares, _by_run(base)),
        width=_ratio(_widths(found), _widths(plain)),
        holds=share(held[~np.isnan(held)]),
    )


def _ratio(values, others):
    absent = np.isnan(values) | np.isnan(others)
    both = (_by_run(np.where(absent, np.nan, one)) for one in (values, others))
    return ratio(*both)


def _stacked(answers, what):
    return np.array([one[what] for one in answers])


def _widths(found):
    return found[..., 2] - found[..., 1]


def _within(ends, truth):
    # An interval of one point that is the truth holds, however it was added up.
    slack = 1e-9 * (1 + np.abs(truth))
    return (ends[..., 0] <= truth + slack) & (truth <= ends[..., 1] + slack)


def _by_run(values):
    """The mean of each replay of what is there; NaN where nothing is."""
    there = ~np.isnan(values)
    sums = np.where(there, values, 0.0).sum(1)
    return np.divide(sums, there.sum(1), out=np.full(len(values), np.nan), where=there.any(1))


def _mean(values):
    return float(values[~np.isnan(values)].mean()) if not np.isnan(values).all() else np.nan


def _error(values):
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
