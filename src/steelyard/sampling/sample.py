"""Which outputs to judge: a sample of each system's pool that remembers how it was drawn."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from steelyard.errors import InvalidArgumentError
from steelyard.html_table import html_table
from steelyard.names import known_names
from steelyard.records import ALSO_BY, DRAW_COLUMNS, names_of
from steelyard.sampling.draw import Design, Draw
from steelyard.sampling.drawing import draw_sample
from steelyard.sampling.earlier_draw import earlier_draw
from steelyard.sampling.item_pool import ItemPool
from steelyard.sampling.sample_design import SampleDesign
from steelyard.sampling.texts_once import for_all_writers, texts_once
from steelyard.tables import Outputs

__all__ = ["Sample", "sample"]


@dataclass(frozen=True, eq=False)
class Sample:
    """Outputs to judge.

    Attributes
    ----------
    frame : polars.DataFrame
        The drawn rows as in the pool, in the order in which to judge, with the columns of the
        draw: ``probability``; ``stratum`` and ``stratum_size`` (the pool's size if there are no
        strata); ``share`` of the items on which two systems differ (1 unless paired); ``draw``,
        the order from 1; ``design``, ``seed`` and ``signature``. Where systems share texts, each is
        there once, and ``also_by`` names the other systems that wrote it.
    draws : mapping of str to Draw
        The draw of each system; one, under the systems' names, when they share it.
    """

    frame: pl.DataFrame
    draws: Mapping[str, Draw]

    def to_dict(self) -> dict[str, Any]:
        """Return the documented summary."""
        return {
            "outputs": self.frame.height,
            "draws": [
                {
                    "system": name,
                    "design": draw.design,
                    "n": draw.n,
                    "pool_size": draw.pool_size,
                    "same_items": draw.systems > 1,
                    "identical_items": (
                        None if draw.differing is None else draw.pool_size - draw.differing
                    ),
                    "share": draw.share,
                    "extended": draw.extended,
                    "probability": {
                        "least": float(draw.probability.min()),
                        "greatest": float(draw.probability.max()),
                    },
                    "strata": [
                        {"stratum": label, "drawn": drawn, "size": size}
                        for label, drawn, size in _strata(draw)
                    ],
                    "signature": draw.signature,
                }
                for name, draw in self.draws.items()
            ],
        }

    def __repr__(self) -> str:
        draws = "; ".join(f"{name}: {draw.signature}" for name, draw in self.draws.items())
        return f"<Sample of {self.frame.height} outputs; {draws}>"

    def _repr_html_(self) -> str:
        names = ("system", "design", "drawn", "pool", "signature")
        rows = [
            (name, draw.design, f"{draw.n:,}", f"{draw.pool_size:,}", draw.signature)
            for name, draw in self.draws.items()
        ]
        return html_table(names, rows, right=(False, False, True, True, False))


def sample(
    outputs: Outputs,
    n: int,
    *,
    design: Design = "simple",
    strata: str | None = None,
    quantiles: int | None = None,
    metric: str | None = None,
    size: str | None = None,
    clusters: str | None = None,
    extend: pl.DataFrame | None = None,
    systems: Sequence[str] | None = None,
    pair: tuple[str, str] | None = None,
    same_items: bool = True,
    each_text_once: bool = True,
    seed: int,
) -> Sample:
    """Draw outputs to judge from the pool of each system.

    Parameters
    ----------
    outputs : Outputs
        The pool of every system. Judgments are not needed.
    n : int
        Outputs to draw of each system, those of `extend` included; items, when systems share them, or clusters.
    design : {"simple", "stratified", "proportional-to-size", "clusters", "paired"}
        As in `draw_sample`. A paired draw takes both outputs of items on which two systems differ;
        the share of such items is recorded, so that a comparison scales by it.
    strata : str, optional
        Column that names the stratum of each output.
    quantiles, metric : int and str, optional
        Strata from the quantiles of this metric, instead of a column.
    size : str, optional
        Column of positive sizes, for draws proportional to size.
    clusters : str, optional
        Column that names the cluster of each output, such as its document: whole clusters are drawn.
    extend : polars.DataFrame, optional
        The frame of an earlier `Sample` of the same pool and design, which the new one contains
        and begins with.
    systems : sequence of str, optional
        Systems to draw from; all by default.
    pair : (str, str), optional
        Draw for the comparison of these two: design "paired" of these systems.
    same_items : bool
        Whether to draw the same items for all systems (default), by metrics and sizes averaged over
        them, or each system on its own. Differences are known much better on the same items.
    each_text_once : bool
        Whether a text that several systems wrote for an item is there once, where all have the same
        items: its judgments count for all of them. The column ``also_by`` names the others.
    seed : int
        Seed. Draws of each system on its own depend on it and on the system's name, not on other
        systems. To extend a draw proportional to size, the seed of the earlier one.

    Returns
    -------
    Sample

    Raises
    ------
    InvalidArgumentError
        If an option breaks its rule, or names no column or system.
    InvalidDataError
        If systems lack items that others have, or a stratum or size is missing.

    Notes
    -----
    The draw does not depend on the order of rows: outputs are sorted by item first.

    Examples
    --------
    >>> from steelyard.tables import read_outputs
    >>> pool = pl.DataFrame({"item": range(9), "system": "s", "length": range(9)})
    >>> found = sample(read_outputs(pool), 6, design="stratified", metric="length", quantiles=3,
    ...                seed=1)
    >>> sorted(found.frame["stratum"])
    ['length 1/3', 'length 1/3', 'length 2/3', 'length 2/3', 'length 3/3', 'length 3/3']
    """
    if clusters is not None and extend is not None:
        raise InvalidArgumentError(
            "a draw of clusters cannot be extended: draw more of them at once"
        )
    if pair is not None:
        if systems is not None or design not in {"simple", "paired"}:
            raise InvalidArgumentError(
                "`pair` names its two systems and has a design of its own: leave out `systems` "
                "(--system) and `design`"
            )
        design, systems = "paired", pair
    chosen = _chosen_systems(outputs, systems, design)
    if seed < 0:
        raise InvalidArgumentError(f"`seed` must not be negative; got {seed}")
    asked = SampleDesign(
        design=design,
        strata=strata,
        quantiles=quantiles,
        metric=metric,
        size=size,
        clusters=clusters,
    )
    rows = outputs.rows().filter(pl.col("system").is_in(chosen)).sort("item", "system")
    _check_columns(rows, asked, outputs.name)
    together = same_items or design == "paired"
    parts, draws = [], {}
    for group in [chosen] if together else [(system,) for system in chosen]:
        pool = ItemPool.of(rows, group, outputs.name)
        known = asked.columns_of(pool)
        entropy = (seed,) if together else (seed, zlib.crc32(group[0].encode()))
        earlier = None
        if extend is not None:
            earlier = earlier_draw(
                for_all_writers(extend), pool, known.get("strata"), design=design, entropy=entropy
            )
        if clusters is not None:
            draw = _drawn_clusters(pool, clusters, n, entropy)
        else:
            draw = draw_sample(pool.size, n, design=design, extend=earlier, seed=entropy, **known)
        draw = replace(draw, systems=len(group))
        drawn = _drawn_rows(pool, draw, seed)
        if clusters is not None:
            drawn = drawn.with_columns(pl.col(clusters).cast(pl.String).alias("cluster"))
        parts.append(texts_once(drawn) if each_text_once and together else drawn)
        draws[", ".join(group)] = draw
    return Sample(pl.concat(parts, how="vertical_relaxed"), draws)


def _drawn_clusters(pool: ItemPool, column: str, n: int, seed: tuple[int, ...]) -> Draw:
    """Draw whole clusters: all of their items, one cluster after the other."""
    names, code = np.unique(pool.labels(column), return_inverse=True)
    chosen = draw_sample(len(names), n, design="clusters", seed=seed)
    positions = np.concatenate([np.flatnonzero(code == one) for one in chosen.positions])
    probability = np.full(len(positions), n / len(names))
    return replace(chosen, positions=positions, probability=probability, pool_size=pool.size)


def _drawn_rows(pool: ItemPool, draw: Draw, seed: int) -> pl.DataFrame:
    sizes = dict(draw.strata_sizes)
    labels = None if draw.strata is None else [str(label) for label in draw.strata.tolist()]
    size = (
        [sizes[label] for label in draw.strata.tolist()]
        if draw.strata is not None
        else [draw.pool_size] * draw.n
    )
    drawn = pl.DataFrame(
        {
            "item": pool.items[draw.positions],
            "probability": draw.probability,
            "stratum": pl.Series(labels or [None] * draw.n, dtype=pl.String),
            "stratum_size": pl.Series(size, dtype=pl.Int64),
            "share": draw.share,
            "draw": np.arange(1, draw.n + 1),
            "design": draw.design,
            "seed": seed,
            "signature": draw.signature,
        }
    )
    rows = pool.rows.drop([name for name in drawn.columns[1:] if name in pool.rows.columns])
    return (
        drawn.select("item")
        .join(rows, on="item", how="left", maintain_order="left")
        .join(drawn, on="item", how="left", maintain_order="left")
    )


def _strata(draw: Draw) -> list[tuple[str, int, int]]:
    if draw.strata is None:
        return []
    labels, counts = np.unique(draw.strata, return_counts=True)
    return [
        (str(label), int(count), int(draw.strata_sizes[label]))
        for label, count in zip(labels.tolist(), counts, strict=True)
    ]


def _chosen_systems(
    outputs: Outputs, systems: Sequence[str] | None, design: Design
) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(outputs.systems if systems is None else names_of(systems)))
    for system in chosen:
        if system not in outputs.systems:
            raise InvalidArgumentError(
                f"system {system!r} is not in {outputs.name}; {known_names(system, outputs.systems)}"
            )
    if design == "paired" and len(chosen) != 2:
        raise InvalidArgumentError(
            f"a paired draw compares two systems; got {len(chosen)}: name them with --pair A B (in "
            "Python: pair=('A', 'B'))"
        )
    return chosen


def _check_columns(rows: pl.DataFrame, asked: SampleDesign, name: str) -> None:
    """Raise unless the pool has the columns asked for, and none that the draw would write over."""
    for column in asked.columns:
        if column not in rows.columns:
            raise InvalidArgumentError(
                f"no column {column!r} in {name}; {known_names(column, rows.columns)}"
            )
    for column in (*DRAW_COLUMNS, ALSO_BY):
        if column in rows.columns and column != asked.strata:
            raise InvalidArgumentError(
                f"{name} has a column {column!r}, which the sample records itself: rename it first"
            )
