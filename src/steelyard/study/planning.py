"""Assumptions of a plan, taken from a pilot."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.design import Assumptions
from steelyard.errors import NotEstimableError
from steelyard.study.judged import judged_table
from steelyard.study.study import Study
from steelyard.variance import Quantity, efficiency_of, variance_components

Floats = NDArray[np.float64]

__all__ = ["difference_assumptions", "pilot_assumptions"]

# Both ends of three intervals would be too careful at 95%: a plan is not a claim.
_PILOT_LEVEL = 0.80


def pilot_assumptions(
    study: Study, metrics: Sequence[str], *, prompt: str, systems: Sequence[str] | None = None
) -> Assumptions:
    """Return what a pilot tells of one prompt, systems taken as one pool.

    Parameters
    ----------
    study : Study
        The pilot: some outputs must have two judgments.
    metrics : sequence of str
        Metrics that will be corrected with; none for a plain mean.
    prompt : str
        The prompt.
    systems : sequence of str, optional
        Systems to learn from; all that were judged by default.
    """
    chosen = list(study.systems if systems is None else systems)
    study.check_judged([prompt], chosen)
    table = judged_table(study.outputs, study.judgments, metrics)
    cell = table.cell(prompt, chosen[0]) if len(chosen) == 1 else table.all_systems(prompt, chosen)
    return _assumptions(cell.human, cell.metric, cell.items)


def difference_assumptions(
    study: Study, metrics: Sequence[str], *, prompt: str, pair: tuple[str, str]
) -> Assumptions:
    """Return what a pilot tells of the difference of two systems on the same items.

    The j-th judgment of one system's output minus the j-th of the other's is a judgment of the
    difference, and the difference of their metrics is its metric.
    """
    study.check_judged([prompt], pair)
    rows = judged_table(study.outputs, study.judgments, metrics).rows.filter(
        pl.col("prompt") == prompt
    )
    rows = rows.with_columns(number=pl.int_range(pl.len()).over("item", "system"))
    left, right = (rows.filter(pl.col("system") == system) for system in pair)
    both = left.join(right, on=["item", "number"], suffix="_other")
    if both.is_empty():
        raise NotEstimableError(
            f"no item has judgments of both {pair[0]!r} and {pair[1]!r} under prompt {prompt!r}: "
            "a paired plan needs a pilot on the same items"
        )
    metric = [both[name].to_numpy() - both[f"{name}_other"].to_numpy() for name in metrics]
    return _assumptions(
        both["score"].to_numpy() - both["score_other"].to_numpy(),
        np.column_stack([np.empty((both.height, 0)), *metric]),
        both["item"].to_numpy(),
    )


def _assumptions(human: Floats, metric: Floats, items: NDArray[Any]) -> Assumptions:
    if metric.shape[1]:
        return Assumptions.of(efficiency_of(human, metric, items=items, level=_PILOT_LEVEL))
    components = variance_components(human, items, level=_PILOT_LEVEL)
    return Assumptions(
        item_variance=components.item,
        rater_variance=components.rater,
        correlation=Quantity(0.0, 0.0, 0.0),
    )
