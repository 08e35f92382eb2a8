"""Which outputs to judge: a sample of each system's pool that remembers how it was drawn."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from steelyard.errors import InvalidArgumentError
from steelyard.names import known_names
from steelyard.records import ALSO_BY, DRAW_COLUMNS, names_of
from steelyard.sampling.draw import Design, Draw, by_size, by_strata, simple
from steelyard.sampling.earlier_draw import earlier_positions
from steelyard.sampling.item_pool import ItemPool
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

    def __repr__(self) -> str:
        draws = "; ".join(f"{name}: {draw.signature}" for name, draw in self.draws.items())
        return f"<Sample of {self.frame.height} outputs; {draws}>"


def sample(
    outputs: Outputs,
    n: int,
    *,
    strata: str | None = None,
    size: str | None = None,
    clusters: str | None = None,
    pair: tuple[str, str] | None = None,
    systems: Sequence[str] | None = None,
    same_items: bool = True,
    each_text_once: bool = True,
    extend: pl.DataFrame | None = None,
    seed: int,
) -> Sample:
    """Draw outputs to judge from the pool of each system; simply at random unless told otherwise.

    Parameters
    ----------
    outputs : Outputs
        The pool of every system. Judgments are not needed.
    n : int
        Outputs to draw of each system, those of `extend` included; items, when systems share them, or clusters.
    strata : str, optional
        Draw within strata: a column that names the stratum of each output, or ``METRIC:K`` for K
        quantiles of a metric.
    size : str, optional
        Draw with probabilities in proportion to this column of positive numbers, such as the metric's
        expected error.
    clusters : str, optional
        Draw whole clusters: a column that names the cluster of each output, such as its document.
    pair : (str, str), optional
        Draw for the comparison of these two: both outputs of items on which they differ. The share of
        such items is recorded, so that a comparison scales by it.
    systems : sequence of str, optional
        Systems to draw from; all by default.
    same_items : bool
        Whether to draw the same items for all systems (default), by metrics and sizes averaged over
        them, or each system on its own. Differences are known much better on the same items.
    each_text_once : bool
        Whether a text that several systems wrote for an item is there once, where all have the same
        items: its judgments count for all of them. The column ``also_by`` names the others.
    extend : polars.DataFrame, optional
        The frame of an earlier `Sample` of the same pool and design, which the new one contains
        and begins with. Draws by size and of clusters cannot be extended.
    seed : int
        Seed. Draws of each system on its own depend on it and on the system's name, not on other
        systems.

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
    Inclusion probabilities are exact in every design, and the order of a draw is random, so that the
    first k of n outputs have k/n times the probabilities. The draw does not depend on the order of rows.

    References
    ----------
    Cochran (1977), Sampling techniques; Hartley and Rao (1962), Sampling with unequal probabilities
    and without replacement.

    Examples
    --------
    >>> from steelyard.tables import read_outputs
    >>> pool = pl.DataFrame({"item": range(9), "system": "s", "length": range(9)})
    >>> found = sample(read_outputs(pool), 6, strata="length:3", seed=1)
    >>> sorted(found.frame["stratum"])
    ['length 1/3', 'length 1/3', 'length 2/3', 'length 2/3', 'length 3/3', 'length 3/3']
    """
    design = _design(strata=strata, size=size, clusters=clusters, pair=pair)
    if pair is not None:
        if systems is not None:
            raise InvalidArgumentError(
                "`pair` names its two systems: leave out `systems` (--system)"
            )
        systems = pair
    chosen = _chosen_systems(outputs, systems, design)
    if seed < 0:
        raise InvalidArgumentError(f"`seed` must not be negative; got {seed}")
    rows = outputs.rows().filter(pl.col("system").is_in(chosen)).sort("item", "system")
    for column in (*DRAW_COLUMNS, ALSO_BY):
        if column in rows.columns and column != strata:
            raise InvalidArgumentError(
                f"{outputs.name} has a column {column!r}, which the sample records itself: rename it first"
            )
    before = None if extend is None else for_all_writers(extend)
    together = same_items or design == "paired"
    parts, draws = [], {}
    for group in [chosen] if together else [(system,) for system in chosen]:
        pool = ItemPool.of(rows, group, outputs.name)
        entropy = (seed,) if together else (seed, zlib.crc32(group[0].encode()))
        draw = _drawn(
            pool,
            n,
            design=design,
            column=strata or size or clusters,
            before=before,
            rng=np.random.default_rng(entropy),
        )
        draw = replace(draw, seed=entropy, systems=len(group))
        drawn = _drawn_rows(pool, draw, seed)
        if clusters is not None:
            drawn = drawn.with_columns(pl.col(clusters).cast(pl.String).alias("cluster"))
        parts.append(texts_once(drawn) if each_text_once and together else drawn)
        draws[", ".join(group)] = draw
    return Sample(pl.concat(parts, how="vertical_relaxed"), draws)


def _design(**options: object) -> Design:
    """Return the design that an option asks for."""
    asked = [name for name, value in options.items() if value is not None]
    if len(asked) > 1:
        raise InvalidArgumentError(
            f"`{asked[0]}` and `{asked[1]}` are two ways to draw: choose one of them"
        )
    designs: dict[str, Design] = {
        "strata": "stratified",
        "size": "proportional-to-size",
        "clusters": "clusters",
        "pair": "paired",
    }
    return designs[asked[0]] if asked else "simple"


def _drawn(
    pool: ItemPool,
    n: int,
    *,
    design: Design,
    column: str | None,
    before: pl.DataFrame | None,
    rng: np.random.Generator,
) -> Draw:
    """Draw items of a pool."""
    if design != "clusters" and not 1 <= n <= pool.size:
        raise InvalidArgumentError(
            f"`n` must be from 1 to the size of the pool, {pool.size}; got {n}"
        )
    labels = pool.strata(column) if design == "stratified" and column else None
    earlier = []
    if before is not None:
        earlier = earlier_positions(before, pool, n, design=design, labels=labels)
    if labels is not None:
        return by_strata(labels, n, rng=rng, earlier=earlier)
    if design == "proportional-to-size" and column:
        return by_size(pool.numbers(column), n, rng=rng)
    if design == "clusters" and column:
        return _drawn_clusters(pool, column, n, rng)
    differs = pool.differs() if design == "paired" else None
    return simple(pool.size, n, rng=rng, earlier=earlier, differs=differs)


def _drawn_clusters(pool: ItemPool, column: str, n: int, rng: np.random.Generator) -> Draw:
    """Draw whole clusters: all of their items, one cluster after the other."""
    names, code = np.unique(pool.labels(column), return_inverse=True)
    if not 1 <= n <= len(names):
        raise InvalidArgumentError(f"`n` must be from 1 to the {len(names)} clusters; got {n}")
    chosen = simple(len(names), n, rng=rng)
    positions = np.concatenate([np.flatnonzero(code == one) for one in chosen.positions])
    probability = np.full(len(positions), n / len(names))
    return replace(
        chosen,
        positions=positions,
        probability=probability,
        pool_size=pool.size,
        design="clusters",
    )


def _drawn_rows(pool: ItemPool, draw: Draw, seed: int) -> pl.DataFrame:
    labels = None if draw.strata is None else [str(label) for label in draw.strata.tolist()]
    size = [draw.pool_size] * draw.n
    if draw.strata is not None:
        size = [draw.strata_sizes[label] for label in draw.strata.tolist()]
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
        raise InvalidArgumentError(f"`pair` must name two systems; got {', '.join(chosen)}")
    return chosen
