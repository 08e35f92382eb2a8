"""Judgments joined with the outputs that they judge, ready for the estimators."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.arrays import JudgedOutputs, judged_outputs
from steelyard.campaign.draws import RECORDED, recorded
from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.records import UNKNOWN_RATER
from steelyard.study.shared_judgments import TEXT, distinct_judgments
from steelyard.tables import Judgments, Outputs

__all__ = ["Cell", "JudgedTable", "drawn_table", "judged_arrays", "judged_table"]

_OUTPUT = ["item", "system"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cell:
    """The judgments of one system (or of all, ``*``) under one prompt, as aligned arrays."""

    system: str
    prompt: str
    human: Floats
    metric: Floats
    items: NDArray[Any]
    # None where the file did not name them
    raters: NDArray[Any] | None

    def sample(self) -> JudgedOutputs:
        """Return the judged outputs."""
        return judged_outputs(self.human, self.metric, self.items, raters=self.raters)


@dataclass(frozen=True, eq=False)
class JudgedTable:
    """Every judgment with the metrics of its output."""

    metrics: tuple[str, ...]
    rows: pl.DataFrame

    @cached_property
    def _parts(self) -> dict[tuple[str, ...], pl.DataFrame]:
        return self.rows.partition_by("prompt", "system", as_dict=True)

    def of(self, prompt: str, system: str) -> pl.DataFrame:
        """Return the rows of one system under one prompt."""
        return self._parts.get((prompt, system), self.rows.clear())

    def cell(self, prompt: str, system: str) -> Cell:
        """Return the judgments of one system under one prompt."""
        rows = self.of(prompt, system)
        return self._cell(rows, prompt, system, items=rows["item"].to_numpy())

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Systems, in order of first appearance."""
        return tuple(self.rows["system"].unique(maintain_order=True))

    def raters(self, prompt: str) -> int:
        """Return the number of raters under a prompt."""
        return int(self.rows.filter(pl.col("prompt") == prompt)["rater"].n_unique())

    def all_systems(self, prompt: str, systems: Sequence[str] | None = None) -> Cell:
        """Return the judgments of these systems, or all, under one prompt as one pool."""
        rows = self.distinct(prompt, systems)
        output = rows.select(pl.struct("item", "system").rank("dense")).to_series()
        return self._cell(rows, prompt, "*", items=output.to_numpy())

    def distinct(self, prompt: str, systems: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the rows of these systems, or all; a judgment that counts for several is there once."""
        chosen = list(self.systems if systems is None else systems)
        rows = self.rows.filter((pl.col("prompt") == prompt) & pl.col("system").is_in(chosen))
        return distinct_judgments(rows)

    def without(self, outputs: pl.DataFrame) -> "JudgedTable":
        """Return the table without the judgments of these outputs (item and system)."""
        return JudgedTable(self.metrics, self.rows.join(outputs, on=["item", "system"], how="anti"))

    def _cell(self, rows: pl.DataFrame, prompt: str, system: str, items: NDArray[Any]) -> Cell:
        human, metric, _ = judged_arrays(rows, self.metrics)
        return Cell(
            system=system,
            prompt=prompt,
            human=human,
            metric=metric,
            items=items,
            raters=None if (rows["rater"] == UNKNOWN_RATER).all() else rows["rater"].to_numpy(),
        )


def judged_arrays(
    rows: pl.DataFrame, metrics: Sequence[str]
) -> tuple[Floats, Floats, NDArray[Any]]:
    """Return the scores, metrics (M, p) and items of rows."""
    metric = rows.select(metrics).to_numpy() if metrics else np.empty((rows.height, 0))
    return rows["score"].to_numpy(), metric, rows["item"].to_numpy()


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
    table = drawn_table(outputs, judgments, metrics)
    for metric in () if gaps else metrics:
        broken = table.rows.filter(pl.col(metric).is_null() | ~pl.col(metric).is_finite())
        if broken.height:
            item, system = broken.row(0)[:2]
            raise InvalidDataError(
                f"{outputs.name}, column {metric}: expected a finite number for item {item!r} of "
                f"system {system!r}, which is judged: score it, or leave out the metric"
            )
    return table


def drawn_table(
    outputs: Outputs,
    judgments: Judgments,
    metrics: Sequence[str],
    *,
    sample: pl.DataFrame | None = None,
    cluster_by: str | None = None,
) -> JudgedTable:
    """Join judgments with the metrics of their outputs and with what is known of their draw.

    Parameters
    ----------
    outputs : Outputs
        The pool of every system.
    judgments : Judgments
        The judgments.
    metrics : sequence of str
        Metrics, which outputs may lack.
    sample : polars.DataFrame, optional
        The drawn sample, when the judgments do not carry what the draw recorded.
    cluster_by : str, optional
        Column of the outputs or judgments that names the cluster of an output; ``cluster`` by
        default, if there is one.

    Raises
    ------
    InvalidDataError
        If a judged output is not in the pool, or has no cluster.
    InvalidArgumentError
        If there is no column `cluster_by`.
    """
    frame = recorded(judgments, sample)
    column = _cluster_column(outputs, frame, metrics, cluster_by)
    beside = [column] if column is not None and column in outputs.columns else []
    judged = outputs.rows_of(judgments, columns=[*metrics, *beside]).select(
        *_OUTPUT,
        pl.col(list(metrics)).fill_null(np.nan),
        *(pl.col(name).alias("cluster") for name in beside),
    )
    columns = [*_OUTPUT, "prompt", "rater", "score"]
    kept = [pl.col(name) for name in (*RECORDED, TEXT) if name in frame.columns]
    if column is not None and not beside:
        kept.append(pl.col(column).alias("cluster"))
    rows = frame.select(*columns, *kept).join(judged, on=_OUTPUT, how="left", maintain_order="left")
    if column is not None and rows["cluster"].null_count():
        item, system = rows.filter(pl.col("cluster").is_null()).select(_OUTPUT).row(0)
        raise InvalidDataError(
            f"column {column}: item {item!r} of system {system!r} has no cluster: fill it in"
        )
    return JudgedTable(tuple(metrics), rows)


def _cluster_column(
    outputs: Outputs, frame: pl.DataFrame, metrics: Sequence[str], cluster_by: str | None
) -> str | None:
    known = {*outputs.columns, *frame.columns}
    if cluster_by is None:
        return "cluster" if "cluster" in known and "cluster" not in metrics else None
    if cluster_by not in known:
        raise InvalidArgumentError(
            f"`cluster_by` must be a column of {outputs.name} or of the judgments; got {cluster_by!r}"
        )
    return cluster_by


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
