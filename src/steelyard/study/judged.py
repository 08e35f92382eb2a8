"""Judgments joined with the outputs that they judge, ready for the estimators."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs, judged_outputs
from steelyard.data import Judgments, Outputs
from steelyard.errors import InvalidDataError

__all__ = ["Cell", "JudgedTable", "judged_table"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cell:
    """The judgments of one system (or of all, ``*``) under one prompt, as aligned arrays."""

    system: str
    prompt: str
    human: Floats
    metric: Floats
    items: NDArray[Any]
    raters: NDArray[Any]

    def sample(self) -> JudgedOutputs:
        """Return the judged outputs."""
        return judged_outputs(self.human, self.metric, self.items, raters=self.raters)


@dataclass(frozen=True, eq=False)
class JudgedTable:
    """Every judgment with the metrics of its output."""

    metrics: tuple[str, ...]
    rows: pl.DataFrame

    def cell(self, prompt: str, system: str) -> Cell:
        """Return the judgments of one system under one prompt."""
        rows = self._by_cell.get((prompt, system), self.rows.clear())
        return self._cell(rows, prompt, system, items=rows["item"].to_numpy())

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Systems, in order of first appearance."""
        return tuple(self.rows["system"].unique(maintain_order=True))

    @cached_property
    def _by_cell(self) -> dict[tuple[Any, ...], pl.DataFrame]:
        """The rows of each prompt and system: one pass, where a filter a cell would need many."""
        return self.rows.partition_by("prompt", "system", as_dict=True, maintain_order=True)

    def all_systems(self, prompt: str, systems: Sequence[str] | None = None) -> Cell:
        """Return the judgments of these systems, or all, under one prompt as one pool."""
        chosen = list(self.systems if systems is None else systems)
        rows = self.rows.filter((pl.col("prompt") == prompt) & pl.col("system").is_in(chosen))
        output = rows.select(pl.struct("item", "system").rank("dense")).to_series()
        return self._cell(rows, prompt, "*", items=output.to_numpy())

    def without(self, outputs: pl.DataFrame) -> "JudgedTable":
        """Return the table without the judgments of these outputs (item and system)."""
        return JudgedTable(self.metrics, self.rows.join(outputs, on=["item", "system"], how="anti"))

    def _cell(self, rows: pl.DataFrame, prompt: str, system: str, items: NDArray[Any]) -> Cell:
        return Cell(
            system=system,
            prompt=prompt,
            human=rows["score"].to_numpy(),
            metric=rows.select(self.metrics).to_numpy()
            if self.metrics
            else np.empty((rows.height, 0)),
            items=items,
            raters=rows["rater"].to_numpy(),
        )


def judged_table(
    outputs: Outputs, judgments: Judgments, metrics: Sequence[str], *, gaps: bool = False
) -> JudgedTable:
    """Join judgments with the metrics of their outputs.

    Parameters
    ----------
    outputs, judgments
        The pools, and what was judged of them.
    metrics : sequence of str
        Names of the metrics.
    gaps : bool
        Whether judged outputs may lack a metric, which is then NaN.

    Raises
    ------
    InvalidDataError
        If a judged output is not in the pool, lacks a metric although there may be no `gaps`, or was
        drawn with a probability of its own, which equal weights would turn into bias.
    """
    _check_equal_probabilities(judgments)
    judged = outputs.rows_of(judgments, columns=list(metrics))
    for metric in () if gaps else metrics:
        broken = judged.filter(pl.col(metric).is_null() | ~pl.col(metric).is_finite())
        if broken.height:
            item, system = broken.row(0)[:2]
            raise InvalidDataError(
                f"{outputs.name}, column {metric}: expected a finite number for item {item!r} of "
                f"system {system!r}, which is judged: score it, or leave out the metric"
            )
    columns = ["item", "system", "prompt", "rater", "score"]
    rows = judgments.frame.select(columns).join(
        judged.select("item", "system", pl.col(metrics).fill_null(np.nan)),
        on=["item", "system"],
        how="left",
    )
    return JudgedTable(tuple(metrics), rows)


def _check_equal_probabilities(judgments: Judgments) -> None:
    if "probability" not in judgments.frame.columns:
        return
    spread = judgments.frame.group_by("system", "prompt", maintain_order=True).agg(
        low=pl.col("probability").min(), high=pl.col("probability").max()
    )
    unequal = spread.filter(pl.col("high") - pl.col("low") > 1e-9)
    if unequal.height:
        system, _, low, high = unequal.row(0)
        raise InvalidDataError(
            f"{judgments.name}, column probability: outputs of system {system!r} were drawn with "
            f"unequal probabilities ({low:g} to {high:g}); equal weights would be biased: this "
            "command handles simple random samples"
        )
