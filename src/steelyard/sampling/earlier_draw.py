"""The items of an earlier sample, read from what the sample recorded."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.sampling.draw import Design
from steelyard.sampling.item_pool import ItemPool

__all__ = ["earlier_positions"]


def earlier_positions(
    frame: pl.DataFrame, pool: ItemPool, n: int, *, design: Design, labels: NDArray[Any] | None
) -> list[int]:
    """Return the positions of an earlier sample's items, in the order of its draw.

    Parameters
    ----------
    frame : polars.DataFrame
        The earlier sample, as `steelyard.sampling.sample.sample` made it.
    pool : ItemPool
        What it was drawn from.
    n : int
        Size of the draw that is to extend it.
    design : str
        Design of that draw.
    labels : (N,) array or None
        Stratum of every item of the pool today, for a stratified draw.

    Raises
    ------
    InvalidDataError
        If the sample lacks a column or system, or is not of this pool.
    InvalidArgumentError
        If a draw of this design and size cannot extend it.
    """
    if design in {"clusters", "proportional-to-size"}:
        raise InvalidArgumentError(
            f"a draw of design {design} cannot be extended: draw as many as you need at once"
        )
    own = _of_pool(frame, pool)
    if own["design"][0] != design:
        raise InvalidArgumentError(
            f"`extend` must be a draw of the same design; got {own['design'][0]} for {design}: draw "
            "afresh, or estimate each draw on its own"
        )
    positions = own["position"].to_list()
    if labels is not None and own["stratum"].to_list() != labels[positions].tolist():
        raise InvalidDataError(
            "the earlier sample has other strata than this pool: use the same strata and pool"
        )
    size = int(own["stratum_size"][0])
    if labels is None and size != pool.size:
        raise InvalidArgumentError(
            f"`extend` must be a draw from the same pool; it was drawn from {size} outputs and there are {pool.size}"
        )
    if len(positions) > n:
        raise InvalidArgumentError(
            f"`n` counts the earlier draw in and must be at least its {len(positions)}; got {n}"
        )
    return positions


def _of_pool(frame: pl.DataFrame, pool: ItemPool) -> pl.DataFrame:
    """Return the rows of one system, with their positions; those of others must have the same items."""
    for column in ("item", "system", "draw", "stratum", "stratum_size", "design"):
        if column not in frame.columns:
            raise InvalidDataError(
                f"the earlier sample has no column `{column}`: pass the file that `steelyard "
                "sample` wrote"
            )
    parts = [frame.filter(pl.col("system") == name).sort("draw") for name in pool.systems]
    own = parts[0]
    if own.is_empty():
        raise InvalidDataError(f"the earlier sample has no output of system {pool.systems[0]!r}")
    if any(part["item"].to_list() != own["item"].to_list() for part in parts):
        raise InvalidDataError(
            "the earlier sample did not draw the same items for all systems: extend it with "
            "--independent (in Python: same_items=False)"
        )
    today = pl.DataFrame({"item": pool.items, "position": np.arange(pool.size)})
    own = own.join(today, on="item", how="left", maintain_order="left")
    absent = own.filter(pl.col("position").is_null())
    if absent.height:
        raise InvalidDataError(
            f"the earlier sample has item {absent['item'][0]!r}, which is not in {pool.name}: it "
            "must come from the same pool"
        )
    return own
