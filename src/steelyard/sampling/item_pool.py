"""The items that a sample is drawn from, and what a design needs to know of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.model.campaign import Bools, Floats
from steelyard.names import known_names
from steelyard.sampling.strata import quantile_strata

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

    def strata(self, given: str) -> NDArray[Any]:
        """The stratum of each item: a column, or ``METRIC:K`` for K quantiles of a metric."""
        metric, _, count = given.rpartition(":")
        if given in self.rows.columns or not (metric and count.isdigit()):
            return self.labels(given)
        number = quantile_strata(self.numbers(metric), int(count))
        return np.array([f"{metric} {one}/{number.max()}" for one in number])

    def labels(self, column: str) -> NDArray[Any]:
        """The label of each item; systems drawn together must agree."""
        self._check_column(column)
        found = self.rows.group_by("item", maintain_order=True).agg(
            label=pl.col(column).first(), same=pl.col(column).n_unique() == 1
        )
        bad = found.filter(pl.col("label").is_null() | ~pl.col("same"))
        if bad.height:
            raise InvalidDataError(
                f"{self.name}, column {column}: expected one stratum for item {bad['item'][0]!r}, "
                "the same for all systems that are drawn together (each on its own: --independent), "
                "and none missing"
            )
        return found["label"].cast(pl.String).to_numpy()

    def numbers(self, column: str) -> Floats:
        """The number of each item: the mean over systems that are drawn together."""
        self._check_column(column)
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

    def differs(self) -> Bools:
        """Whether the systems' outputs for each item differ."""
        if "output" not in self.rows.columns:
            raise InvalidDataError(
                f"{self.name}: no column `output`, which tells where two systems differ"
            )
        found = self.rows.group_by("item", maintain_order=True).agg(pl.col("output").n_unique())
        return (found["output"] > 1).to_numpy()

    def _check_column(self, column: str) -> None:
        if column not in self.rows.columns:
            raise InvalidArgumentError(
                f"no column {column!r} in {self.name}; {known_names(column, self.rows.columns)}"
            )
