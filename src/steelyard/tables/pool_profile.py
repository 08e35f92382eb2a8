"""What is in a file of outputs."""

from typing import Any

import polars as pl

from steelyard.records import Output
from steelyard.tables.gaps import is_gap
from steelyard.tables.metric_columns import metric_columns, with_numbers
from steelyard.tables.problems import Problem, bad_cells, near_equal_names, repeated_keys
from steelyard.tables.rules import identifier
from steelyard.tables.tables import ROW, Table

__all__ = ["pool_profile"]

_ALREADY = Problem("", 0, 0, way_out="keep one of them, or tell their items apart")


def pool_profile(table: Table) -> tuple[dict[str, Any], list[Problem]]:
    """Return the counts and the problems of outputs.

    Parameters
    ----------
    table : Table
        Outputs under our column names: item and system at least.
    """
    if table.has_blank_cells:
        table = with_numbers(table)
    table, metrics, notes = metric_columns(table, None)
    keys = [identifier(table, column) for column in Output.key]
    has_texts = "output" in table.schema
    rows = table.collect(table.rows.select(ROW, *Output.key, *metrics))
    problems = [Problem(one, 0, 0) for one in notes]
    problems += [one for rule in keys for one in bad_cells(table, rows, rule, "fill it in")]
    rows = rows.with_columns(rule.value for rule in keys)
    sizes = rows.drop_nulls("system").group_by("system", maintain_order=True).len()
    problems += repeated_keys(
        table, rows, Output.key, "outputs that are there more than once", _ALREADY
    )
    problems += near_equal_names("system", sizes["system"])
    problems += _gaps(table, rows, metrics)
    if has_texts and table.schema["output"].is_nested():
        what = f"column {table.column('output')}: expected text, got {table.schema['output']}"
        problems.append(Problem(what, rows.height, rows.height, way_out="bring texts", stops=True))
    counts = {
        "items": rows["item"].drop_nulls().n_unique(),
        "systems": dict(sizes.iter_rows()),
        "metrics": list(metrics),
        "texts": has_texts,
    }
    return counts, problems


def _gaps(table: Table, rows: pl.DataFrame, metrics: tuple[str, ...]) -> list[Problem]:
    problems = []
    for name in metrics:
        missing = rows.filter(is_gap(name))
        if missing.height:
            item, system = missing.select(Output.key).row(0)
            problems.append(
                Problem(
                    f"gap in metric {table.column(name)}",
                    missing.height,
                    rows.height,
                    (f"item {item}, system {system}",),
                    way_out=f"score them, or go on: the estimate does without it there, or fills "
                    f"it with --fill {name}=mean",
                )
            )
        elif rows[name].n_unique() == 1 and rows.height > 1:
            problems.append(
                Problem(
                    f"metric {table.column(name)} is the same on all outputs: it cannot correct",
                    0,
                    0,
                )
            )
    return problems
