"""The estimate of one system under one prompt, with what its companions can lend it."""

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from steelyard.arrays import JudgedOutputs, PoolMoments
from steelyard.data import Outputs
from steelyard.estimate import Estimate, Options, SlopeKind, corrected_mean, plain_mean
from steelyard.estimate.repeats import Repeats
from steelyard.study.judged import Cell, JudgedTable

__all__ = ["estimate_cell"]


def estimate_cell(
    outputs: Outputs,
    table: JudgedTable,
    cell: Cell,
    pool: PoolMoments | None,
    *,
    slope: SlopeKind | ArrayLike,
    options: Options,
) -> Estimate:
    """Return the estimate of one cell.

    Parameters
    ----------
    outputs : Outputs
        The pool of every system.
    table : JudgedTable
        All judgments: lends a slope ("pooled") and, where no output of the cell has two judgments,
        a rater variance.
    cell : Cell
        The judgments to estimate from.
    pool : PoolMoments or None
        The system's metrics; None for the plain mean.
    slope : str or array
        As in `control_variates`.
    options : Options
        Everything else.
    """
    sample = cell.sample()
    options = _with_lent_repeats(table, cell, sample, options)
    if pool is None:
        return plain_mean(sample, pool_size=outputs.sizes[cell.system], options=options)
    if not (isinstance(slope, str) and slope == "pooled"):
        return corrected_mean(sample, pool, slope=slope, options=options)
    others = _others(outputs, table, cell)
    result = corrected_mean(
        sample, pool, slope=slope, others=[other.sample() for other in others], options=options
    )
    if not any(_drawn_together(cell, other, pool.size) for other in others):
        return result
    note = (
        "other systems were judged on the same items: a slope pooled over them depends on the same "
        "draw, which biases the estimate in small samples where judgment does not follow the metric "
        'in a straight line; compare with slope "least-squares"'
    )
    return replace(result, notes=(*result.notes, note))


def _with_lent_repeats(
    table: JudgedTable, cell: Cell, sample: JudgedOutputs, options: Options
) -> Options:
    """Let the second judgments of all systems speak where this one has none."""
    needed = options.rater_variance is None and options.raters_as == "fixed"
    if not needed or options.target != "pool" or sample.n_judgments > sample.n_outputs:
        return options
    lent = Repeats.of(table.all_systems(cell.prompt).sample(), lent=True)
    return replace(options, lent_repeats=lent)


def _drawn_together(one: Cell, other: Cell, size: int) -> bool:
    """Whether two systems share more judged items than independent draws would by chance."""
    first, second = set(one.items.tolist()), set(other.items.tolist())
    shares = np.array([len(first), len(second)]) / size
    by_chance = size * float(np.prod(shares))
    error = np.sqrt(by_chance * float(np.prod(1 - np.minimum(shares, 1))))
    return bool(len(first & second) > by_chance + 4 * error)


def _others(outputs: Outputs, table: JudgedTable, cell: Cell) -> list[Cell]:
    """Return the other systems' judged outputs, but for texts that this system produced too."""
    shared = _shared_with(outputs, cell.system)
    table = table if shared is None else table.without(shared)
    others = [table.cell(cell.prompt, system) for system in table.systems if system != cell.system]
    return [other for other in others if len(other.human)]


def _shared_with(outputs: Outputs, system: str) -> pl.DataFrame | None:
    if not outputs.has_texts:
        return None
    texts = outputs.rows(columns=["item", "system", "output"])
    own = texts.filter(pl.col("system") == system).select("item", "output")
    others = texts.filter(pl.col("system") != system)
    return others.join(own, on=["item", "output"], how="semi").select("item", "system")
