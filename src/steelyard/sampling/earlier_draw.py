"""The draw of an earlier sample, read from what the sample recorded."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.errors import InvalidArgumentError, InvalidDataError
from steelyard.sampling.draw import Design, Draw
from steelyard.sampling.item_pool import ItemPool

__all__ = ["earlier_draw"]


def earlier_draw(
    frame: pl.DataFrame,
    pool: ItemPool,
    labels: NDArray[Any] | None,
    *,
    design: Design,
    entropy: tuple[int, ...],
) -> Draw:
    """Return the draw that a sample recorded, with positions in today's order of items.

    Parameters
    ----------
    frame : polars.DataFrame
        The earlier sample, as `steelyard.sampling.sample.sample` made it.
    pool : ItemPool
        What it was drawn from.
    labels : (N,) array or None
        Stratum of every item of the pool today, for a stratified draw.
    design : str
        Design of the draw that is to extend it.
    entropy : tuple of int
        Seed of the draw that is to extend it, of which the first number is the user's.

    Returns
    -------
    Draw

    Raises
    ------
    InvalidDataError
        If the sample lacks a column or system, or is not of this pool.
    InvalidArgumentError
        If a draw proportional to size is to be extended with another seed than its own. Of other
        draws the rest is drawn anew.
    """
    for column in ("item", "system", "draw", "probability", "stratum_size", "design"):
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
    positions = own["position"].to_numpy()
    if labels is not None and own["stratum"].to_list() != labels[positions].tolist():
        raise InvalidDataError(
            "the earlier sample has other strata than this pool: use the same strata and pool"
        )
    by_size = design == own["design"][0] == "proportional-to-size"
    if by_size:
        _check_seed(own, entropy[0])
    stratified = own["design"][0] == "stratified"
    return Draw(
        positions=positions,
        probability=own["probability"].to_numpy(),
        strata=own["stratum"].to_numpy() if stratified else None,
        strata_sizes={},
        design=own["design"][0],
        pool_size=pool.size if stratified else int(own["stratum_size"][0]),
        differing=None,
        seed=entropy if by_size else (),
        extended=0,
    )


def _check_seed(own: pl.DataFrame, seed: int) -> None:
    recorded = own["seed"].unique().to_list() if "seed" in own.columns else []
    if len(recorded) != 1 or recorded[0] is None:
        raise InvalidDataError(
            "the earlier sample does not tell its seed, with which a draw proportional to size is "
            "continued: pass the file that `steelyard sample` wrote"
        )
    if int(recorded[0]) != seed:
        raise InvalidArgumentError(
            f"`seed` must be that of the earlier sample, {recorded[0]}, because a draw proportional "
            f"to size is continued and not drawn anew; got {seed}: pass --seed {recorded[0]} (in "
            f"Python: seed={recorded[0]})"
        )
