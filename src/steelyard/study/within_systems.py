"""The system of each judgment, where several systems are looked at as one."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from steelyard.study.judged import JudgedTable

__all__ = ["Labels", "systems_of"]

Labels = NDArray[Any]


def systems_of(table: JudgedTable, prompt: str, systems: Sequence[str] | None = None) -> Labels:
    """Return the system of each judgment, in the order of ``table.all_systems``."""
    return table.distinct(prompt, systems)["system"].to_numpy()
