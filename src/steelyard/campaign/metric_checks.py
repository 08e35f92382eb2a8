"""Metrics that judged outputs have, and others lack or all have alike: they came with the judgments."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from scipy.special import chdtrc, gammaln

from steelyard.arrays import Floats
from steelyard.single.pool import PoolMoments

__all__ = ["copies", "filled_in", "judged_gaps", "that_differ"]


# Of metrics whose gaps have nothing to do with the draw, at most this share is left out.
_FALSE_ALARMS = 1e-5
# Share of a metric's sum of squares below which what is left of it is rounding.
_ROUNDING = 1e-9
# Fewer judged outputs than this may agree with a metric by chance.
_COPIES = 10


def judged_gaps(
    rows: pl.DataFrame,
    metrics: Sequence[str],
    gaps: Mapping[str, Mapping[str, int]],
    sizes: Mapping[str, int],
    *,
    simply_drawn: bool = True,
) -> dict[str, str]:
    """Return a note on each metric that judged outputs have more often, or less often, than others.

    The mean of a metric over the pool is known only where gaps have nothing to do with the draw. A
    metric on the judged outputs alone, such as a copy of the scores, would seem to explain them, and
    knows nothing of the rest.

    Parameters
    ----------
    rows : polars.DataFrame
        Item, system and metrics of every judged output.
    metrics : sequence of str
        Names of the metrics.
    gaps : mapping of str to mapping of str to int
        On how many outputs of a system a metric is missing.
    sizes : mapping of str to int
        Number of outputs of each system.
    simply_drawn : bool
        Whether all outputs had the same chance.

    Returns
    -------
    dict
        By metric, where chance makes such a share of judged outputs hardly ever; with unequal draws
        only where all judged outputs have it and no other.
    """
    names = [name for name in metrics if any(name in own for own in gaps.values())]
    if not names:
        return {}
    judged = rows.unique(["item", "system"]).group_by("system", maintain_order=True)
    has = [pl.col(name).is_finite().fill_null(False).sum() for name in names]
    counts = judged.agg(pl.len().alias(" judged"), *has)
    size = np.array([sizes[system] for system in counts["system"]], dtype=np.float64)
    n = counts[" judged"].to_numpy().astype(np.float64)
    notes = {}
    for name in names:
        lacking = [gaps.get(system, {}).get(name, 0) for system in counts["system"]]
        present, here = size - lacking, counts[name].to_numpy().astype(np.float64)
        apart = bool((here == n).all() and (present == n).all())
        if (apart or simply_drawn) and _chance(here, n, present, size) < _FALSE_ALARMS:
            notes[name] = (
                f"metric {name} is not used: {here.sum():.0f} of {n.sum():.0f} judged outputs have it, and "
                f"{(present - here).sum():.0f} of {(size - n).sum():.0f} others, so it came with the "
                "judgments: score all outputs, or leave it out"
            )
    return notes


def filled_in(
    rows: pl.DataFrame, metrics: Sequence[str], pools: Mapping[str, PoolMoments]
) -> dict[str, str]:
    """Return a note on each metric that is one value on all outputs that nobody judged.

    A metric that was made from the judgments, with 0 or a mean put in elsewhere, has no gaps, seems
    to explain the scores, and knows nothing of the rest. What is left of the pool's sum of squares
    without the judged outputs shows it.

    Parameters
    ----------
    rows : polars.DataFrame
        Item, system and metrics of every judged output.
    metrics : sequence of str
        Names of the metrics.
    pools : mapping of str to PoolMoments
        Moments of these metrics over each system's outputs.

    Returns
    -------
    dict
        By metric, where a draw picks all the outputs that differ hardly ever by chance.
    """
    judged = rows.unique(["item", "system"]).partition_by("system", as_dict=True)
    cells = [
        (pools[system], own.select(metrics).to_numpy())
        for (system,), own in judged.items()
        if system in pools and own.height < pools[system].size
    ]
    if not metrics or not cells:
        return {}
    n = np.array([len(values) for _, values in cells], dtype=np.float64)
    size = np.array([pool.size for pool, _ in cells], dtype=np.float64)
    differ = np.array([that_differ(values, pool) for pool, values in cells])
    notes = {}
    for number in np.flatnonzero(np.isfinite(differ).all(axis=0)):
        own, name = differ[:, number], metrics[int(number)]
        if _chance(own, n, own, size) < _FALSE_ALARMS:
            notes[name] = (
                f"metric {name} is not used: it is the same on all {(size - n).sum():.0f} outputs that "
                f"nobody judged and differs on {own.sum():.0f} of {n.sum():.0f} judged ones, so it "
                "came with the judgments: score all outputs, or leave it out"
            )
    return notes


def copies(rows: pl.DataFrame, metrics: Sequence[str]) -> tuple[str, ...]:
    """Return a note on each metric that is the mean judgment of every judged output.

    No estimator can tell a perfect metric from scores that people corrected, where those of the
    judged outputs are theirs and the others are not.

    Parameters
    ----------
    rows : polars.DataFrame
        The judgments of one system under one prompt, with the metrics of their outputs.
    metrics : sequence of str
        Names of the metrics.
    """
    found = rows.group_by("item").agg(pl.col("score").mean(), pl.col(metrics).first())
    if found.height < _COPIES or found["score"].n_unique() < 2:
        return ()
    scores = found["score"].to_numpy()
    return tuple(
        f"metric {name} is the mean judgment of all {found.height} judged outputs: if it was made from "
        "the judgments, these intervals are far too narrow; leave it out"
        for name in metrics
        if np.allclose(found[name].to_numpy(), scores, rtol=_ROUNDING, atol=0)
    )


def that_differ(values: Floats, pool: PoolMoments) -> Floats:
    """Return how many judged outputs differ from the one value of the others; NaN if they vary."""
    others = pool.size - len(values)
    off = values - pool.mean
    value = -off.sum(axis=0) / others
    whole = pool.size * np.diagonal(pool.covariance)
    left = whole - np.square(off).sum(axis=0) - others * np.square(value)
    differ = np.square(off - value) > _ROUNDING * whole
    return np.where(left <= _ROUNDING * whole, differ.sum(axis=0), np.nan)


def _chance(here: Floats, n: Floats, present: Floats, size: Floats) -> float:
    """Return the p-value of the judged outputs that have a metric, over all systems.

    The tails of hypergeometric numbers on either side, put together by Fisher's rule.
    """
    open_ = (present > 0) & (present < size) & (n < size)
    tails = [
        _log_tails(*(int(one[system]) for one in (here, n, present, size)))
        for system in np.flatnonzero(open_)
    ]
    if not tails:
        return 1.0
    sums = np.maximum(-2 * np.sum(tails, axis=0), 0.0)
    return min(float(2 * chdtrc(2 * len(tails), sums).min()), 1.0)


def _log_tails(here: int, n: int, present: int, size: int) -> tuple[float, float]:
    """Return the logarithms of the chances of so few, and of so many, that have the metric."""
    number = np.arange(max(0, n + present - size), min(n, present) + 1)
    log = -(
        gammaln(number + 1)
        + gammaln(present - number + 1)
        + gammaln(n - number + 1)
        + gammaln(size - present - n + number + 1)
    )
    log -= np.logaddexp.reduce(log)
    few, many = log[number <= here], log[number >= here]
    return float(np.logaddexp.reduce(few)), float(np.logaddexp.reduce(many))
