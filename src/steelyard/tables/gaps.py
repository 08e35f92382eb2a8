"""Metrics that some outputs lack: say so, or fill the gaps as asked."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from steelyard.errors import InvalidArgumentError
from steelyard.tables.rules import LARGEST, Rule
from steelyard.tables.tables import Table, quoted

__all__ = ["Fill", "filled", "is_gap"]

# What to put into the gaps of a metric; for all metrics at once, the name `*`.
Fill = Mapping[str, str | float]

_ALL = "*"


def is_gap(metric: str) -> pl.Expr:
    """Whether an output lacks a metric: missing, NaN, infinite, or too large to be squared."""
    return ~(pl.col(metric).cast(pl.Float64).abs() <= LARGEST).fill_null(False)


def filled(
    table: Table, system: Rule, metrics: Sequence[str], fill: Fill | str | float | None
) -> tuple[Table, tuple[str, ...], tuple[str, ...]]:
    """Fill the gaps in metrics, each from the other outputs of the same system.

    Whatever the filling, the estimate stays unbiased: it does not depend on judgments.

    Parameters
    ----------
    table : Table
        The pool.
    system : Rule
        Of its column system.
    metrics : sequence of str
        Its metrics.
    fill : mapping, str or number
        By metric: ``mean`` or ``median`` of the system's other outputs, a number, or ``drop``, which
        leaves out the metric, never the outputs. A single one is for all metrics.

    Returns
    -------
    tuple
        The table, the metrics that are left, and a note for each metric that was filled or dropped.

    Raises
    ------
    InvalidArgumentError
        If there is no such metric or no such filling.
    """
    if fill is None:
        return table, tuple(metrics), ()
    wanted = _wanted(fill, metrics)
    dropped = [name for name, how in wanted.items() if how == "drop"]
    kept = tuple(name for name in metrics if name not in dropped)
    notes = [f"metric {name} is left out, as asked" for name in dropped]
    values, gaps, total = _values(
        table, system, {name: wanted[name] for name in kept if name in wanted}
    )
    for name, own in values.items():
        value = system.value.replace_strict(own, default=None, return_dtype=pl.Float64)
        new = pl.when(is_gap(name)).then(value).otherwise(pl.col(name).cast(pl.Float64)).alias(name)
        table = replace(
            table,
            rows=table.rows.with_columns(new),
            schema=pl.Schema({**table.schema, name: pl.Float64()}),
        )
        notes.append(
            f"metric {name} was missing on {gaps[name]:,} of {total:,} outputs: filled with "
            f"{_words(wanted[name])}"
        )
    return table, kept, tuple(notes)


def _wanted(fill: Fill | str | float, metrics: Sequence[str]) -> dict[str, str | float]:
    asked = dict(fill) if isinstance(fill, Mapping) else {_ALL: fill}
    found: dict[str, str | float] = {}
    if _ALL in asked:
        found = dict.fromkeys(metrics, asked.pop(_ALL))
    for name, how in asked.items():
        if name not in metrics:
            raise InvalidArgumentError(
                f"`fill` (--fill) must name a metric; got {name!r}, and the metrics are "
                f"{quoted(metrics)}"
            )
        found[name] = how
    return {name: _checked(how) for name, how in found.items()}


def _checked(how: str | float) -> str | float:
    if how in {"mean", "median", "drop"}:
        return how
    try:
        number = float(how)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidArgumentError(
            f"`fill` (--fill) must be mean, median, drop or a number; got {how!r}"
        )
    return number


def _values(
    table: Table, system: Rule, wanted: Mapping[str, str | float]
) -> tuple[dict[str, dict[str, float]], dict[str, int], int]:
    """Return, of metrics with gaps, what fills them in each system, their number, and all outputs."""
    if not wanted:
        return {}, {}, 0
    aggregates = []
    for name, how in wanted.items():
        known = pl.col(name).cast(pl.Float64).filter(~is_gap(name))
        number = known.median() if how == "median" else known.mean()
        aggregates += [number.alias(f"value {name}"), is_gap(name).sum().alias(f"gaps {name}")]
    query = table.rows.select(system.value.alias("system"), *wanted).group_by("system")
    rows = table.collect(query.agg(pl.len().alias("size"), *aggregates))
    gaps = {name: int(rows[f"gaps {name}"].sum()) for name in wanted}
    values = {}
    for name, how in wanted.items():
        if gaps[name]:
            own = rows[f"value {name}"].to_list() if isinstance(how, str) else [how] * rows.height
            values[name] = dict(zip(rows["system"].to_list(), own, strict=True))
    return values, gaps, int(rows["size"].sum())


def _words(how: str | float) -> str:
    return f"the {how} of the system's other outputs" if isinstance(how, str) else f"{how:g}"
