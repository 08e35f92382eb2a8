r"""The other systems' judgments of an item, as one more metric of a system's output.

For output (i, s) it is the mean of the other systems' scores of item i, each around the mean of its system and over its standard
deviation, shrunk by one imagined score of 0; 0 where there are none. Systems that wrote the same text for the item
are left out: their judgments would be the output's own. Given the others' judgments it is a
fixed number of every output of the pool, so that it corrects like any metric if the system was drawn
independently of them. Derived in docs/methods/shared.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl

from steelyard.arrays import PoolMoments
from steelyard.errors import InvalidArgumentError
from steelyard.estimate.controlled import JudgedSystem
from steelyard.tables import Outputs

__all__ = ["OTHERS", "check_drawn_apart", "with_others_judgments"]

# What the control calls it.
OTHERS = "other systems' judgments"
_X = "#others"


def with_others_judgments(
    judged: Sequence[JudgedSystem],
    names: Sequence[str],
    rows: pl.DataFrame,
    outputs: Outputs,
    metrics: Sequence[str],
) -> list[JudgedSystem]:
    """Return systems with one more metric: what other systems' judgments say of their items.

    Parameters
    ----------
    judged : sequence of JudgedSystem
        The systems of a prompt.
    names : sequence of str
        Their names.
    rows : polars.DataFrame
        The judgments of the prompt.
    outputs : Outputs
        The pool of every system, with texts.
    metrics : sequence of str
        The metrics that they have.
    """
    if not outputs.has_texts:
        raise InvalidArgumentError(
            f"`other_systems` (--other-systems) needs the texts: {outputs.name} has no column `output`, which "
            "shows where systems wrote the same"
        )
    known = _known_on_pools(rows, outputs)
    asked = outputs.rows(columns=["item", "system", *metrics]).join(
        known, on=["item", "system"], how="inner"
    )
    found = []
    for system, name in zip(judged, names, strict=True):
        own = asked.filter(pl.col("system") == name)
        items = rows.filter(pl.col("system") == name)["item"].unique().sort()
        at = items.to_frame().join(own, on="item", how="left", maintain_order="left")
        values = at[_X].fill_null(0.0).to_numpy()[:, np.newaxis]
        pool = _pool(system, own, metrics, size=outputs.sizes[name])
        found.append(replace(system, metric=np.hstack([system.metric, values]), pool=pool))
    return found


def check_drawn_apart(rows: pl.DataFrame, sizes: Mapping[str, int]) -> None:
    """Raise if two systems share more judged items than independent draws would by chance.

    Judged on the same items, a system learns nothing new of its pool from the others, but its residuals
    would shrink and its interval with them.
    """
    items = {name: set(own["item"]) for (name,), own in rows.group_by("system")}
    for one, other in combinations(sorted(items), 2):
        size = max(sizes[one], sizes[other])
        shares = np.array([len(items[one]), len(items[other])]) / size
        chance = size * float(np.prod(shares))
        error = np.sqrt(chance * float(np.prod(1 - np.minimum(shares, 1))))
        common = len(items[one] & items[other])
        if common > chance + 4 * error:
            raise InvalidArgumentError(
                f"`other_systems` (--other-systems) needs systems that were drawn each on its own: {one} and "
                f"{other} were judged on {common} common items, where chance makes {chance:.0f}; leave it out"
            )


def _known_on_pools(rows: pl.DataFrame, outputs: Outputs) -> pl.DataFrame:
    """Return what the others say of each output of the judged items, not 0: item, system and value."""
    scores = rows.group_by("item", "system").agg(pl.col("score").mean())
    around = pl.col("score") - pl.col("score").mean()
    spread = pl.col("score").std()
    value = pl.when(spread > 0).then(around / spread).otherwise(0.0).fill_null(0.0).over("system")
    texts = outputs.texts_of(rows["item"])
    said = scores.with_columns(value=value).join(texts, on=["item", "system"], how="inner")
    pairs = texts.join(said, on="item", how="inner", suffix="_other")
    # A text is one of its own writer's, so that this leaves out the system itself too.
    pairs = pairs.filter(pl.col("output") != pl.col("output_other"))
    total = pl.col("value").sum() / (pl.len() + 1)
    return pairs.group_by("item", "system").agg(total.alias(_X))


def _pool(
    system: JudgedSystem, own: pl.DataFrame, metrics: Sequence[str], *, size: int
) -> PoolMoments:
    """Return the moments of the metrics and of the new one, which is 0 on all other outputs."""
    x = own[_X].to_numpy()
    mean = float(x.sum()) / size
    variance = float(x @ x) / size - mean**2
    ends = np.array([x.min(initial=0.0), x.max(initial=0.0)])
    before = system.pool
    if before is None or not metrics:
        return PoolMoments(size, np.array([mean]), np.array([[variance]]), ends[:1], ends[1:])
    values = own.select(pl.col(list(metrics)).cast(pl.Float64)).to_numpy() - before.mean
    shared = np.nan_to_num(values).T @ x / size
    covariance = np.block([[before.covariance, shared[:, np.newaxis]], [shared, variance]])
    return PoolMoments(
        size,
        np.append(before.mean, mean),
        covariance,
        np.append(before.low, ends[0]),
        np.append(before.high, ends[1]),
    )
