"""The system of each judgment, where several systems are looked at as one."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from numpy.typing import NDArray

from steelyard.study.judged import JudgedTable

__all__ = ["Labels", "systems_of"]

Labels = NDArray[Any]


def systems_of(table: JudgedTable, prompt: str, systems: Sequence[str] | None = None) -> Labels:
    """Return the system of each judgment, in the order of ``table.all_systems``."""
    chosen = list(table.systems if systems is None else systems)
    rows = table.rows.filter((pl.col("prompt") == prompt) & pl.col("system").is_in(chosen))
    return rows["system"].to_numpy()
