"""Assumptions of a plan, taken from a pilot."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from steelyard.design import Assumptions
from steelyard.errors import NotEstimableError
from steelyard.records import names_of
from steelyard.study.judged import Cell, judged_table
from steelyard.study.study import Study
from steelyard.study.within_systems import Labels, systems_of
from steelyard.variance import Quantity, efficiency_of, variance_components

__all__ = ["difference_assumptions", "pilot_assumptions"]

# Both ends of three intervals would be too careful at 95%: a plan is not a claim.
_PILOT_LEVEL = 0.80


def pilot_assumptions(
    study: Study, metrics: Sequence[str], *, prompt: str, systems: Sequence[str] | None = None
) -> Assumptions:
    """Return what a pilot tells of one prompt, for the mean of one system.

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

    Notes
    -----
    From several systems, variances and correlation are those within systems: what sets systems
    apart does not enter the mean of one. Item variance and correlation are free of leniency, which
    few raters share among all outputs. The rater variance is that of the pilot's raters, so its
    interval counts on raters as different from each other as these, as `estimate` does with raters
    fixed.
    """
    metrics = names_of(metrics)
    chosen = list(study.systems if systems is None else names_of(systems))
    study.check_judged([prompt], chosen)
    table = judged_table(study.outputs, study.judgments, metrics)
    if len(chosen) == 1:
        return _assumptions(table.cell(prompt, chosen[0]), None)
    return _assumptions(table.all_systems(prompt, chosen), systems_of(table, prompt, chosen))


def difference_assumptions(
    study: Study, metrics: Sequence[str], *, prompt: str, pair: tuple[str, str]
) -> Assumptions:
    """Return what a pilot tells of the difference of two systems on the same items.

    The j-th judgment of one system's output minus the j-th of the other's is a judgment of the
    difference, by both their raters, and the difference of their metrics is its metric.
    """
    metrics = names_of(metrics)
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
    difference = Cell(
        system=" - ".join(pair),
        prompt=prompt,
        human=both["score"].to_numpy() - both["score_other"].to_numpy(),
        metric=np.column_stack([np.empty((both.height, 0)), *metric]),
        items=both["item"].to_numpy(),
        raters=both.select(pl.struct("rater", "rater_other").rank("dense")).to_series().to_numpy(),
    )
    return _assumptions(difference, None)


def _assumptions(cell: Cell, systems: Labels | None) -> Assumptions:
    human, metric, items = cell.human, cell.metric, cell.items
    # The raters at hand: of others, two or three raters tell next to nothing, and a plan that
    # allowed for any of them would ask for many times the judgments.
    rater = variance_components(human, items, systems=systems, level=_PILOT_LEVEL).rater
    if metric.shape[1]:
        found = efficiency_of(
            human, metric, items=items, raters=cell.raters, systems=systems, level=_PILOT_LEVEL
        )
        return replace(Assumptions.of(found), rater_variance=rater)
    components = variance_components(human, items, cell.raters, systems=systems, level=_PILOT_LEVEL)
    return Assumptions(
        item_variance=components.item,
        rater_variance=rater,
        correlation=Quantity(0.0, 0.0, 0.0),
    )
