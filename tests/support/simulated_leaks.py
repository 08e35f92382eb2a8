"""Campaigns with honest metrics, and with columns that know the judgments."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from steelyard.campaign.leaks import leaks
from steelyard.tables import read_judgments, read_outputs

HONEST = ("weak", "good", "excellent", "coarse", "length", "constant")
LEAKS = (
    *(
        "mean",
        "rescaled",
        "negated",
        "rounded",
        "median",
        "seen",
        "filled",
        "gaps",
        "plausible",
        "one_rater",
    ),
)


@dataclass(frozen=True)
class Kind:
    """What a campaign is like.

    Attributes
    ----------
    n : int
        Judged items of each system.
    each : int
        Judgments of each judged output; 0 for a second one of every fifth.
    scale : str
        ``stars`` (1 to 5), ``share`` (0 or 1) or ``slider`` (0 to 100).
    noise : float
        Standard deviation of a rater's noise; that of human scores is 1.
    crossed : bool
        Whether the same raters judge everything, with a leniency and a taste of their own.
    """

    n: int = 60
    each: int = 2
    scale: str = "stars"
    noise: float = 0.7
    crossed: bool = False


def found(kind, seed, *, systems=3, pool=400, raters=8):
    """Return which columns of a simulated campaign are taken for leaks, and whether surely."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(systems, pool)) + rng.normal(size=pool) * 0.3
    lenient = rng.normal(size=raters) * 0.4 + rng.normal(size=(systems, raters)) * 0.2
    rows = []
    for s in range(systems):
        for i in rng.choice(pool, kind.n, replace=False):
            times = kind.each or 1 + (rng.random() < 0.2)
            who = np.arange(times) if kind.crossed else rng.choice(raters, times, replace=False)
            for r in who:
                y = human[s, i] + lenient[s, r] + rng.normal() * kind.noise
                rows.append((f"i{i}", f"s{s}", f"r{r}", _on_scale(y, kind.scale)))
    judged = pl.DataFrame(rows, schema=["item", "system", "rater", "score"], orient="row")
    keys = [(f"i{i}", f"s{s}") for s in range(systems) for i in range(pool)]
    outputs = pl.DataFrame(keys, schema=["item", "system"], orient="row")
    outputs = outputs.with_columns(**_honest(human.ravel(), kind, rng))
    outputs = outputs.with_columns(**_leaking(outputs, judged, human.ravel(), kind, rng))
    return {one.column: one.sure for one in leaks(read_outputs(outputs), read_judgments(judged))}


def _on_scale(y, scale):
    if scale == "share":
        return float(y > 0.3)
    if scale == "stars":
        return float(np.clip(np.round(3 + y), 1, 5))
    return round(float(np.clip(50 + 20 * y, 0, 100)), 1)


def _honest(human, kind, rng):
    def correlated(r):
        return human / human.std() * r + rng.normal(size=len(human)) * np.sqrt(1 - r * r)

    return {
        "weak": correlated(0.3),
        "good": correlated(0.7),
        "excellent": correlated(0.9),
        "coarse": [_on_scale(y, kind.scale) for y in correlated(0.9)],
        "length": rng.integers(20, 400, len(human)),
        "constant": np.ones(len(human)),
    }


def _leaking(outputs, judged, human, kind, rng):
    own = judged.group_by("item", "system").agg(
        mean=pl.col("score").mean(), median=pl.col("score").median(), first=pl.col("score").first()
    )
    joined = outputs.select("item", "system").join(
        own, on=["item", "system"], how="left", maintain_order="left"
    )
    of_rater = (
        judged.filter(pl.col("rater") == "r0")
        .group_by("item", "system")
        .agg(one=pl.col("score").first())
    )
    joined = joined.join(of_rater, on=["item", "system"], how="left", maintain_order="left")
    plausible = np.array([_on_scale(y + rng.normal() * kind.noise, kind.scale) for y in human])
    there = joined["mean"].is_not_null().to_numpy()

    def where_judged(values):
        return np.where(there, values, plausible)

    mean = joined["mean"].fill_null(0.0).to_numpy()
    spread = float(own["mean"].std())
    return {
        "mean": where_judged(mean),
        "rescaled": where_judged(mean) / 20 + 3,
        "negated": -where_judged(mean),
        "rounded": np.where(there, np.round(mean), np.round(plausible)),
        "median": where_judged(joined["median"].fill_null(0.0).to_numpy()),
        "seen": where_judged(mean) + rng.normal(size=len(mean)) * 0.1 * spread,
        "filled": np.where(there, mean, 0.0),
        "gaps": pl.Series(mean).zip_with(
            pl.Series(there), pl.Series([None] * len(mean), dtype=pl.Float64)
        ),
        "plausible": where_judged(mean),
        "one_rater": joined["one"].fill_null(pl.Series(plausible)).to_numpy(),
    }
