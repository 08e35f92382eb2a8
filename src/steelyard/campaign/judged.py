"""The judged outputs of a campaign as numbers: items, writers, metrics, clusters and likeness."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from steelyard.campaign.pools import PoolRows
from steelyard.campaign.source import Source
from steelyard.campaign.texts import Likeness, is_text, text_codes
from steelyard.errors import InvalidDataError
from steelyard.model.campaign import Bools, Floats, Ints, Pools

__all__ = ["JudgedOutputs", "judged_outputs", "pool_rows"]

_OUTPUT = ["item", "system"]


@dataclass(frozen=True, eq=False)
class JudgedOutputs:
    """The judged outputs; those that are the same text of an item are one.

    Attributes
    ----------
    key : polars.DataFrame
        Item, system, and ``#output``: the number of the output.
    systems : tuple of str
        The names of the systems.
    items : tuple of str
        The names of the judged items.
    item, writers, metric, pools, in_pool, cluster, cluster_size, likeness
        As in `Campaign`.
    """

    key: pl.DataFrame
    systems: tuple[str, ...]
    items: tuple[str, ...]
    item: Ints
    writers: Floats
    metric: Floats
    pools: Pools
    in_pool: Bools
    cluster: Ints | None = None
    cluster_size: Floats | None = None
    likeness: Floats | None = None


def judged_outputs(
    source: Source,
    judged: pl.DataFrame,
    metrics: Sequence[str],
    systems: Sequence[str],
    pools: Pools,
    *,
    share: bool,
) -> JudgedOutputs:
    """Return the judged outputs.

    Parameters
    ----------
    source : Source
        The tables.
    judged : polars.DataFrame
        Item and system of each, once, with their metrics and, where there are clusters, ``#cluster``.
    metrics : sequence of str
        The metrics that are used.
    systems : sequence of str
        The systems in question.
    pools : Pools
        Their pools, apart.
    share : bool
        Whether a text that several systems wrote is one output.
    """
    metric = _filled(judged, metrics, systems, pools)
    if len(systems) == 1 and "#cluster" not in judged.columns:
        m = judged.height
        return JudgedOutputs(
            key=judged.select(_OUTPUT).with_columns(pl.Series("#output", np.arange(m))),
            systems=tuple(systems),
            items=tuple(judged["item"]),
            item=np.arange(m, dtype=np.int64),
            writers=np.ones((m, 1)),
            metric=metric,
            pools=pools,
            in_pool=np.ones((m, 1), dtype=np.bool_),
        )
    rows = pool_rows(source, systems, clusters="#cluster" in judged.columns)
    known = PoolRows.of(rows, text_codes(rows) if share else None, systems)
    place = _place(rows, judged)
    text, first, output = np.unique(known.text[place], return_index=True, return_inverse=True)
    chosen = place[first]
    pool_items, item = np.unique(known.item[chosen], return_inverse=True)
    wrote = known.by_text[text].toarray()
    found = JudgedOutputs(
        key=judged.select(_OUTPUT).with_columns(pl.Series("#output", output)),
        systems=tuple(systems),
        items=tuple(known.items[number] for number in pool_items),
        item=item,
        writers=wrote / wrote.sum(axis=1, keepdims=True),
        metric=_of_texts(source, known, text, metric[first], metrics=metrics, systems=systems),
        pools=known.completed(pools),
        in_pool=known.in_pool(pool_items),
    )
    if known.cluster is not None:
        return _with_clusters(found, known, chosen)
    if "#cluster" in judged.columns:
        # Clusters of the pool are not known: those of the judged outputs count as new ones.
        label = judged["#cluster"].rank("dense").cast(pl.Int64).to_numpy() - 1
        size = np.zeros((int(label.max()) + 1, len(systems)))
        return replace(found, cluster=label[first], cluster_size=size)
    if "output" in rows.columns and len(pool_items) < len(text):
        return _with_likeness(found, rows, known, chosen, pool_items)
    return found


def _of_texts(
    source: Source,
    known: PoolRows,
    text: Ints,
    metric: Floats,
    *,
    metrics: Sequence[str],
    systems: Sequence[str],
) -> Floats:
    """Return the metrics of judged texts: of one that several systems wrote, the mean over all of them.

    Parameters
    ----------
    source : Source
        The tables.
    known : PoolRows
        Every output of these systems.
    text : (m,) array of int
        The judged texts, in order.
    metric : (m, p) array
        Metrics of one judged output of each.
    metrics, systems : sequence of str
        The metrics and the systems in question.
    """
    several = np.asarray(known.by_text[text].sum(axis=1)).ravel() > 1
    if not several.any() or not metrics:
        return metric
    rows = source.outputs.rows(columns=[*_OUTPUT, *metrics])
    rows = rows.filter(pl.col("system").is_in(list(systems)))
    place = np.flatnonzero(np.isin(known.text, text[several]))
    values = rows.select(pl.col(list(metrics)).cast(pl.Float64))[place].to_numpy()
    there = np.isfinite(values)
    code = np.searchsorted(text, known.text[place])
    count, total = np.zeros(metric.shape), np.zeros(metric.shape)
    np.add.at(count, code, there)
    np.add.at(total, code, np.where(there, values, 0.0))
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), metric))


def pool_rows(source: Source, systems: Sequence[str], *, clusters: bool) -> pl.DataFrame:
    """Return item, system, text and cluster of every output of these systems.

    Parameters
    ----------
    source : Source
        The tables.
    systems : sequence of str
        The systems.
    clusters : bool
        Whether outputs are in clusters, named ``#cluster`` here if the pool knows them.
    """
    outputs = source.outputs
    beside = ["cluster"] if clusters and "cluster" in outputs.columns else []
    texts = ["output"] if outputs.has_texts else []
    rows = outputs.rows(columns=list(dict.fromkeys([*_OUTPUT, *texts, *beside])))
    rows = rows.filter(pl.col("system").is_in(list(systems)))
    if not beside:
        return rows
    missing = rows.filter(pl.col("cluster").is_null())
    if missing.height:
        item, system = missing.select(_OUTPUT).row(0)
        raise InvalidDataError(
            f"column {outputs.mapped.get('cluster', 'cluster')}: item {item!r} of system {system!r} has no cluster: fill it in"
        )
    return rows.with_columns(pl.col("cluster").alias("#cluster"))


def _place(rows: pl.DataFrame, judged: pl.DataFrame) -> Ints:
    """Return the row of the pool of each judged output."""
    numbered = rows.select(_OUTPUT).with_row_index("#row")
    found = judged.select(_OUTPUT).join(numbered, on=_OUTPUT, how="left", maintain_order="left")
    return found["#row"].to_numpy().astype(np.int64)


def _filled(
    judged: pl.DataFrame, metrics: Sequence[str], systems: Sequence[str], pools: Pools
) -> Floats:
    """Return the metrics of judged outputs; a missing value is the mean of its pool."""
    if not metrics:
        return np.zeros((judged.height, 0))
    values = judged.select(pl.col(list(metrics)).cast(pl.Float64)).to_numpy()
    number = {one: place for place, one in enumerate(systems)}
    own = np.array([number[one] for one in judged["system"]], dtype=np.int64)
    return np.where(np.isfinite(values), values, pools.metric[own])


def _with_clusters(found: JudgedOutputs, known: PoolRows, chosen: Ints) -> JudgedOutputs:
    assert known.cluster is not None
    judged, cluster = np.unique(known.cluster[chosen], return_inverse=True)
    if len(judged) == len(found.items):
        nested = len(np.unique(np.stack([found.item, cluster]), axis=1).T) == len(found.items)
        if nested:  # each item is a cluster
            return replace(found, pools=replace(found.pools, clusters=None))
    several = np.unique(np.stack([found.item, cluster]), axis=1)[0]
    if len(np.unique(several)) < len(several):
        item = found.items[several[np.flatnonzero(np.diff(several) == 0)[0]]]
        raise InvalidDataError(
            f"item {item!r} is in one cluster for one system and in another for another: clusters are of "
            "items, the same for all systems"
        )
    return replace(found, cluster=cluster, cluster_size=known.by_cluster[judged].toarray())


def _with_likeness(
    found: JudgedOutputs, rows: pl.DataFrame, known: PoolRows, chosen: Ints, items: Ints
) -> JudgedOutputs:
    """Add how alike texts of an item are, from the texts of the judged items."""
    inside = np.isin(known.item, items)
    row = np.flatnonzero(inside)
    texts = rows["output"].set(~is_text(rows), None).filter(pl.Series(inside)).to_list()
    place = np.full(len(known.item), -1, dtype=np.int64)
    place[row] = np.arange(len(row))
    item = np.searchsorted(items, known.item[row])
    alike = Likeness.of(texts, item, known.system[row], known.k, place[chosen])
    return replace(
        found,
        likeness=alike.to_systems,
        pools=replace(found.pools, likeness=alike.between_systems),
    )
