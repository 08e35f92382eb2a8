"""How outputs that are compared were drawn: simply, spread, or in pairs on which two systems differ."""

from collections.abc import Mapping

import polars as pl

from steelyard.arrays import drawn_outputs, simple_draw, spread_draw
from steelyard.errors import InvalidDataError, NotEstimableError
from steelyard.study.judged import JudgedTable, judged_arrays
from steelyard.study.recorded_draw import DrawnCell, known_raters, places
from steelyard.tables import Outputs

__all__ = ["check_clusters", "is_paired_draw", "simple_cells"]


def check_clusters(table: JudgedTable) -> None:
    """Raise if an item's outputs by two systems are in different clusters."""
    if "cluster" not in table.rows.columns:
        return
    named = table.rows.group_by("item", maintain_order=True).agg(pl.col("cluster").unique())
    several = named.filter(pl.col("cluster").list.len() > 1)
    if several.height:
        item, (one, other, *_) = several.row(0)
        raise InvalidDataError(
            f"item {item!r} is in cluster {one!r} for one system and in {other!r} for another: a "
            "comparison needs clusters of items, the same for all systems"
        )


def is_paired_draw(table: JudgedTable, outputs: Outputs) -> bool:
    """Return whether outputs are of a paired draw; raise unless it is that or a simple one."""
    rows = table.rows
    if "probability" not in rows.columns:
        return False
    if "design" in rows.columns and (rows["design"] == "paired").all():
        if len(table.systems) > 2:
            raise NotEstimableError(
                "a paired draw holds only items on which two systems differ, and judgments are of "
                f"{len(table.systems)} systems: give the judgments of one pair only"
            )
        if not outputs.has_texts:
            raise NotEstimableError(
                f"{outputs.name} needs a column `output`: it shows on how many items the two "
                "systems of a paired draw differ"
            )
        _check_share(rows, outputs)
        return True
    spread = rows.group_by("system", "prompt").agg(
        wide=pl.col("probability").max() - pl.col("probability").min() > 1e-9
    )
    strata = "stratum" in rows.columns and rows["stratum"].n_unique() > 1
    if strata or spread["wide"].any():
        raise NotEstimableError(
            "outputs were drawn by strata or with unequal probabilities, and a comparison needs a "
            "simple, spread or paired draw: use `steelyard estimate`, which weights them as they were drawn"
        )
    return False


def _check_share(rows: pl.DataFrame, outputs: Outputs) -> None:
    """Raise unless the two systems differ on as many items as when the pairs were drawn."""
    if not {"share", "stratum_size"} <= set(rows.columns):
        return
    items, share = rows["stratum_size"][0], rows["share"][0]
    texts = outputs.rows(columns=["item", "system", "output"])
    of_both = texts.filter(pl.col("system").is_in(rows["system"].unique().to_list()))
    found = of_both.group_by("item").agg(pl.col("output").n_unique() > 1)
    if (found.height, found["output"].sum()) != (items, round(share * items)):
        raise InvalidDataError(
            f"{outputs.name}: the systems differ on {found['output'].sum()} of {found.height} items, "
            f"and on {round(share * items)} of {items} when the pairs were drawn: pass the outputs that "
            "were drawn from"
        )


def simple_cells(
    table: JudgedTable, prompt: str, sizes: Mapping[str, int] | None
) -> dict[str, DrawnCell]:
    """Return every system's judged outputs.

    Parameters
    ----------
    table : JudgedTable
        All judgments.
    prompt : str
        The prompt.
    sizes : mapping of str to int or None
        Outputs in each system's pool; None for pairs, which are drawn where two systems differ.
    """
    cells = {}
    for system in table.systems:
        rows = table.of(prompt, system)
        if rows.height:
            human, _, items = judged_arrays(rows, ())
            place, notes = places(rows)
            sample, known = drawn_outputs(
                human, None, items, raters=known_raters(rows), recorded={"place": place}
            )
            size = None if sizes is None else sizes[system]
            draw = simple_draw(sample, size)
            if place is not None:
                draw = spread_draw(sample, known["place"], size)
            cells[system] = DrawnCell(sample, draw, notes)
    return cells
