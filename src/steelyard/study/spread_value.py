"""What a spread draw is spread by: metrics, or the control that a pilot teaches."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.design.spread import common_value
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.controlled import controlled
from steelyard.names import known_names
from steelyard.study.campaign import Campaign
from steelyard.study.item_pool import ItemPool
from steelyard.study.judged import drawn_table
from steelyard.study.sample_design import SampleDesign
from steelyard.tables import Judgments, Outputs

__all__ = ["judged_spread_values", "spread_value"]

Floats = NDArray[np.float64]


def spread_value(outputs: Outputs, pool: ItemPool, asked: SampleDesign) -> Floats:
    """Return the value of each item, or several of them, that a draw is spread by.

    Systems that are drawn together count alike: it is the mean over systems of what each system's
    outputs have, around their mean and, for metrics, over their standard deviation.

    Parameters
    ----------
    outputs : Outputs
        All pools.
    pool : ItemPool
        The items that are drawn from.
    asked : SampleDesign
        Metrics by name, a pilot, or neither: then what all metrics have most in common.

    Returns
    -------
    (N,) or (N, p) array
        One value for each item, or p of them where several metrics are named.

    Raises
    ------
    InvalidArgumentError
        If there is nothing to spread by.
    """
    if asked.by:
        named = np.column_stack([pool.standardised(name) for name in asked.by])
        return named[:, 0] if len(asked.by) == 1 else named
    if asked.pilot is not None:
        prompt = asked.pilot_prompt(asked.pilot)
        value = _learned(outputs, pool, asked.pilot, prompt)
        if np.ptp(value) > 0:
            return value
    gaps = outputs.metric_gaps()
    whole = [
        name
        for name in outputs.metrics
        if not any(name in gaps.get(system, {}) for system in pool.systems)
    ]
    columns = [pool.standardised(name) for name in whole]
    varying = [column for column in columns if column.any()]
    if not varying:
        raise InvalidArgumentError(
            f"a spread draw needs a metric on all outputs of {outputs.name}, to spread by: name one "
            "with --by (in Python: by=), score the outputs first, or draw a simple sample"
        )
    return common_value(np.column_stack(varying))


def judged_spread_values(
    outputs: Outputs,
    systems: Sequence[str],
    items: Sequence[NDArray[np.object_]],
    by: Sequence[str],
    *,
    together: bool,
) -> list[Floats]:
    """Return what draws from these items of each system are spread by; one value for all if `together`.

    Parameters
    ----------
    outputs : Outputs
        All pools.
    systems : sequence of str
        The systems.
    items : sequence of array
        The items of each, sorted; all the same if they are drawn together.
    by : sequence of str
        Metrics by name; none for what all metrics have most in common.
    together : bool
        Whether all systems are drawn on the same items.
    """
    asked = SampleDesign(design="spread", by=tuple(dict.fromkeys(by)))
    rows = outputs.rows().sort("item", "system")
    groups = [tuple(systems)] if together else [(system,) for system in systems]
    values = []
    for group, own in zip(groups, items, strict=False):
        for name in asked.by:
            if name not in rows.columns:
                raise InvalidArgumentError(
                    f"no column {name!r} in {outputs.name}; {known_names(name, rows.columns)}"
                )
        kept = rows.filter(pl.col("item").is_in(own.tolist()))
        values.append(spread_value(outputs, ItemPool.of(kept, group, outputs.name), asked))
    return values


def _learned(outputs: Outputs, pool: ItemPool, pilot: Judgments, prompt: str) -> Floats:
    """Return the control that the pilot's judgments teach, of each item."""
    metrics = outputs.metrics
    if not metrics:
        return np.zeros(pool.size)
    gaps = outputs.metric_gaps(metrics)
    pools = outputs.pool_moments(metrics, gaps="fill" if gaps else "refuse")
    judged = pilot.filter(pl.col("prompt") == prompt)
    campaign = Campaign(outputs, drawn_table(outputs, judged, metrics), pools, gaps)
    cells, _ = campaign.cells(prompt)
    slopes = dict(zip(cells, controlled(campaign.judged(prompt, cells)).slopes, strict=True))
    value = np.zeros(pool.size)
    for system in pool.systems:
        rows = pool.rows.filter(pl.col("system") == system)
        x = rows.select(pl.col(list(metrics)).cast(pl.Float64)).to_numpy() - pools[system].mean
        slope = slopes.get(system)
        # A system that the pilot does not have goes by what the others teach.
        slope = np.mean(list(slopes.values()), axis=0) if slope is None else slope
        value += np.where(np.isfinite(x), x, 0.0) @ slope
    return value / len(pool.systems)
