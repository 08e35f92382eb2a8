"""The estimate of one system under one prompt, with what its companions can lend it."""

from dataclasses import replace

import polars as pl
from numpy.typing import ArrayLike

from steelyard.arrays import JudgedOutputs, PoolMoments
from steelyard.data import Outputs
from steelyard.estimate import Estimate, Options, SlopeKind, corrected_mean, plain_mean
from steelyard.study.judged import Cell, JudgedTable
from steelyard.variance import one_way

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
    options, notes = _with_lent_variance(table, cell, sample, options)
    if pool is None:
        result = plain_mean(sample, pool_size=outputs.sizes[cell.system], options=options)
    else:
        pooled = isinstance(slope, str) and slope == "pooled"
        others = _others(outputs, table, cell) if pooled else []
        result = corrected_mean(sample, pool, slope=slope, others=others, options=options)
    return replace(result, notes=(*result.notes, *notes))


def _with_lent_variance(
    table: JudgedTable, cell: Cell, sample: JudgedOutputs, options: Options
) -> tuple[Options, tuple[str, ...]]:
    """Take the rater variance of all systems where this one cannot tell its own."""
    needed = options.rater_variance is None and options.raters_as == "fixed"
    if not needed or options.target != "pool" or sample.n_judgments > sample.n_outputs:
        return options, ()
    whole = table.all_systems(cell.prompt).sample()
    if whole.n_judgments == whole.n_outputs:
        return options, ()
    lent = one_way(whole).rater
    note = (
        f"no output of {cell.system} has two judgments: the rater variance ({lent:.4g}) is that of "
        "all systems together"
    )
    return replace(options, rater_variance=lent), (note,)


def _others(outputs: Outputs, table: JudgedTable, cell: Cell) -> list[JudgedOutputs]:
    """Return the other systems' judged outputs, but for texts that this system produced too."""
    shared = _shared_with(outputs, cell.system)
    table = table if shared is None else table.without(shared)
    others = [table.cell(cell.prompt, system) for system in table.systems if system != cell.system]
    return [other.sample() for other in others if len(other.human)]


def _shared_with(outputs: Outputs, system: str) -> pl.DataFrame | None:
    if not outputs.has_texts:
        return None
    texts = outputs.rows(columns=["item", "system", "output"])
    own = texts.filter(pl.col("system") == system).select("item", "output")
    others = texts.filter(pl.col("system") != system)
    return others.join(own, on=["item", "output"], how="semi").select("item", "system")
