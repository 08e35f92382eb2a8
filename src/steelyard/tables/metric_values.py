"""Metrics of pools, gathered in a stream: their moments, and where they are missing."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import polars as pl

from steelyard.arrays import Floats
from steelyard.single.pool import PoolMoments
from steelyard.tables.rules import is_gap

__all__ = ["counted_gaps", "finite", "matrix_of", "pool_moments"]

Batches = Iterable[pl.DataFrame]


def finite(metric: str) -> pl.Expr:
    """A metric as a float, missing where it is no number that can be counted with."""
    return pl.when(~is_gap(metric)).then(pl.col(metric).cast(pl.Float64)).alias(metric)


def pool_moments(
    batches: Callable[[], Batches],
    metrics: Sequence[str],
    *,
    fill: bool,
    checked: Callable[[pl.DataFrame], None],
) -> dict[str, PoolMoments]:
    """Return the moments of metrics by system.

    Parameters
    ----------
    batches : callable
        Returns rows with the columns system and the metrics.
    metrics : sequence of str
        Their names.
    fill : bool
        Whether a missing value counts as the mean of the system's others; else `checked` is called with
        each batch, and raises if some are missing.
    checked : callable
        As said.
    """
    parts: dict[str, PoolMoments] = {}
    means = _means(batches(), metrics) if fill and counted_gaps(batches(), metrics) else {}
    for batch in batches():
        if not fill:
            checked(batch)
        for system, values in _by_system(batch, metrics):
            whole = np.where(np.isfinite(values), values, means[system]) if means else values
            part = PoolMoments.of(whole)
            parts[system] = parts[system].merge(part) if system in parts else part
    return parts


def counted_gaps(batches: Batches, metrics: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return on how many outputs of each system each metric is missing, where it is."""
    counts: dict[str, dict[str, int]] = {}
    for batch in batches:
        gaps = batch.group_by("system").agg(is_gap(name).sum() for name in metrics)
        for row in gaps.iter_rows(named=True):
            own = counts.setdefault(row["system"], {})
            for name in metrics:
                if row[name]:
                    own[name] = own.get(name, 0) + row[name]
    return {system: own for system, own in counts.items() if own}


def _means(batches: Batches, metrics: Sequence[str]) -> dict[str, Floats]:
    """Return the means of the finite values of each system; 0 where there are none."""
    sums: dict[str, Floats] = {}
    for batch in batches:
        for system, values in _by_system(batch, metrics):
            known = np.isfinite(values)
            part = np.stack([np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0)])
            sums[system] = sums[system] + part if system in sums else part
    return {system: total / np.maximum(count, 1) for system, (total, count) in sums.items()}


def _by_system(rows: pl.DataFrame, metrics: Sequence[str]) -> Iterator[tuple[str, Floats]]:
    """Yield each system with the metrics (n, p) of its outputs, in their order."""
    # One matrix for all: thousands of systems are slow to cut out of a data frame one by one.
    code = rows["system"].rank("dense").to_numpy().astype(np.int64) - 1
    order = np.argsort(code, kind="stable")
    ends = np.cumsum(np.bincount(code))
    names = rows["system"].gather(order[ends - 1]).to_list()
    # By columns, along which numpy adds up in pairs: digits far from zero are kept.
    values = np.asfortranarray(matrix_of(rows, metrics)[order])
    yield from zip(names, np.split(values, ends[:-1]), strict=True)


def matrix_of(rows: pl.DataFrame, metrics: Sequence[str]) -> Floats:
    """Return metrics as a matrix (n, p)."""
    return rows.select(metrics).to_numpy() if metrics else np.empty((rows.height, 0))
