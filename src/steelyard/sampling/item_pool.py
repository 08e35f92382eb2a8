"""The items that a sample is drawn from, and what a design needs to know of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.errors import InvalidArgumentError, InvalidDataError

__all__ = ["ItemPool"]


@dataclass(frozen=True, eq=False)
class ItemPool:
    """The items of one system, or of several that are drawn together.

    Attributes
    ----------
    rows : polars.DataFrame
        The outputs, sorted by item.
    items : polars.Series
        The items, in that order: what a draw's positions refer to.
    systems : tuple of str
        The systems.
    name : str
        Where the outputs come from.
    """

    rows: pl.DataFrame
    items: pl.Series
    systems: tuple[str, ...]
    name: str

    @classmethod
    def of(cls, rows: pl.DataFrame, systems: tuple[str, ...], name: str) -> "ItemPool":
        """Return the pool of these systems, each of which must have every item."""
        own = rows.filter(pl.col("system").is_in(systems))
        items = own["item"].unique(maintain_order=True)
        if own.height != len(items) * len(systems):
            counts = own.group_by("item", maintain_order=True).len()
            item = counts.filter(pl.col("len") < len(systems))["item"][0]
            raise InvalidDataError(
                f"{name}: item {item!r} has no output of some of the systems {', '.join(systems)}: "
                "draw each system on its own with --independent (in Python: same_items=False), or "
                "leave out that item"
            )
        return cls(own, items, systems, name)

    @property
    def size(self) -> int:
        """Number of items."""
        return len(self.items)

    def labels(self, column: str) -> NDArray[Any]:
        """One label an item; systems drawn together must agree."""
        found = self.rows.group_by("item", maintain_order=True).agg(
            pl.col(column).first(), same=pl.col(column).n_unique() == 1
        )
        bad = found.filter(pl.col(column).is_null() | ~pl.col("same"))
        if bad.height:
            raise InvalidDataError(
                f"{self.name}, column {column}: expected one stratum for item {bad['item'][0]!r}, "
                "the same for all systems that are drawn together (each on its own: --independent), "
                "and none missing"
            )
        return found[column].cast(pl.String).to_numpy()

    def numbers(self, column: str) -> NDArray[np.float64]:
        """One number an item: the mean over systems that are drawn together."""
        if not self.rows.schema[column].is_numeric():
            raise InvalidArgumentError(
                f"column {column!r} of {self.name} must hold numbers; got {self.rows.schema[column]}"
            )
        bad = self.rows.filter(~pl.col(column).cast(pl.Float64).is_finite().fill_null(False))
        if bad.height:
            raise InvalidDataError(
                f"{self.name}, column {column}: expected a finite number for item "
                f"{bad['item'][0]!r} of system {bad['system'][0]!r}: fill it in first"
            )
        found = self.rows.group_by("item", maintain_order=True).agg(pl.col(column).mean())
        return found[column].cast(pl.Float64).to_numpy()

    def differs(self) -> NDArray[np.bool_]:
        """Whether the systems' outputs for each item differ."""
        if "output" not in self.rows.columns:
            raise InvalidDataError(
                f"{self.name}: no column `output`, which tells where two systems differ"
            )
        found = self.rows.group_by("item", maintain_order=True).agg(pl.col("output").n_unique())
        return (found["output"] > 1).to_numpy()
