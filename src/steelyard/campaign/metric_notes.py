"""What is to be said of the metrics of each system: gaps, and metrics that came with the judgments."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from steelyard.campaign.metric_checks import filled_in, judged_gaps
from steelyard.campaign.source import Source
from steelyard.tables import Outputs

__all__ = ["metric_notes", "usable"]


def usable(
    source: Source, judged: pl.DataFrame, *, simply_drawn: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the metrics that did not come with the judgments, and a note on each that did.

    Parameters
    ----------
    source : Source
        The tables.
    judged : polars.DataFrame
        Item, system and metrics of the judged outputs.
    simply_drawn : bool
        Whether all outputs had the same chance.
    """
    if not source.metrics:
        return (), ()
    outputs = source.outputs
    gaps = outputs.metric_gaps(source.metrics)
    pools = outputs.pool_moments(source.metrics, gaps="fill")
    known = judged.with_columns(pl.col(source.metrics).fill_null(np.nan))
    found = judged_gaps(known, source.metrics, gaps, outputs.sizes, simply_drawn=simply_drawn)
    found = {**filled_in(known, source.metrics, pools), **found}
    kept = tuple(name for name in source.metrics if name not in found)
    return kept, tuple(found.values())


def metric_notes(
    outputs: Outputs, metrics: Sequence[str], systems: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return notes on each system's metrics.

    Parameters
    ----------
    outputs : Outputs
        The pool of every system.
    metrics : sequence of str
        The metrics that are used.
    systems : sequence of str
        The systems in question.
    """
    if not metrics:
        return {}
    gaps = outputs.metric_gaps(metrics)
    pools = outputs.pool_moments(metrics, gaps="fill")
    notes = {}
    for system in systems:
        size, own, pool = outputs.sizes[system], gaps.get(system, {}), pools[system]
        missing = [
            f"metric {name} is missing on {count} of {size} outputs: each counts as the mean of the others"
            if count < size
            else f"metric {name} is missing: this system is corrected by the others"
            for name, count in own.items()
        ]
        same = [
            f"metric {name} is the same on all outputs: it cannot correct this system"
            for name, constant in zip(metrics, pool.low == pool.high, strict=True)
            if constant and name not in own
        ]
        notes[system] = (*missing, *same)
    return notes
