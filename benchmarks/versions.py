"""What judgments of older versions lend to a new one, and whether those that no longer hold are noticed.

``python -m benchmarks.versions [REPLAYS [KIND ...]]``: three older systems of 400 items with 200 judgments each, and
20 judgments of the new version. *error*: root mean square error of the new version's mean with the older ones
beside that of the same estimate without them; *least*: the same of the best weights, which take all variances to
know, with and without the older ones. *holds*: 95% intervals. *noticed*: old judgments said to hold no longer.
"""

import sys
from dataclasses import dataclass

import numpy as np
import polars as pl

from steelyard.study import Study

OLD, ITEMS, OF_OLD, OF_NEW, RATERS = 3, 400, 200, 20, 8
LENIENCY = 0.2


@dataclass(frozen=True)
class World:
    """One kind of campaign; shares of a judgment's variance, and what changed before the new judgments."""

    name: str
    item: float = 0.3
    metric: float = 0.15
    own: float = 0.15
    noise: float = 0.4
    copies: float = 0.0
    same_items: bool = True
    shift: float = 0.0
    scale: float = 1.0
    other_raters: bool = False
    anchors: int = 0


GOOD_METRIC = {"item": 0.15, "metric": 0.4, "own": 0.1, "noise": 0.35}
WORLDS = (
    World("items are easy or hard"),
    World("a good metric", **GOOD_METRIC),
    World("half of the texts are copies", copies=0.5),
    World("other items, a good metric", **GOOD_METRIC, same_items=False),
    World("little in common", item=0.05, metric=0.05, own=0.4, noise=0.5),
    World("shift of 0.5, 10 anchors", shift=0.5, anchors=10),
    World("shift of 0.5, 30 anchors", shift=0.5, anchors=30),
    World("shift of 1, 10 anchors", shift=1.0, anchors=10),
    World("other scale, 0 to 100", scale=25.0),
    World("raters who mean something else", other_raters=True),
)


@dataclass(frozen=True)
class Made:
    """Tables of today and of then, the new version's mean, and the least variances of its error, without and with."""

    outputs: pl.DataFrame
    judgments: pl.DataFrame
    earlier: tuple[pl.DataFrame, pl.DataFrame]
    truth: float
    least: tuple[float, float]


def made(world, rng):
    """Return one campaign."""
    k = OLD + 1
    item = rng.standard_normal(ITEMS)
    metric, own = rng.standard_normal((2, k, ITEMS))
    level = 0.4 * rng.standard_normal(k)
    copied = rng.uniform(size=ITEMS) < world.copies
    metric[-1, copied], own[-1, copied] = metric[0, copied], own[0, copied]
    quality = level[:, None] + np.sqrt(world.item) * item
    quality = quality + np.sqrt(world.metric) * metric + np.sqrt(world.own) * own
    quality[-1, copied] = quality[0, copied]
    before = quality[:OLD]
    if world.other_raters:
        other = np.sqrt(1 - world.noise) * rng.standard_normal(ITEMS)
        before = level[:OLD, None] + np.tile(other, (OLD, 1))
    leniency = LENIENCY * rng.standard_normal(RATERS)
    shared, rows = rng.permutation(ITEMS), []

    def judge(s, chosen, latent, *, new):
        who = rng.integers(RATERS, size=len(chosen))
        noise = np.sqrt(world.noise) * rng.standard_normal(len(chosen))
        score = 3 + latent[chosen] + leniency[who] + noise
        score = score if new else world.scale * (score + world.shift)
        rows.extend((s, i, r, y, new) for i, r, y in zip(chosen, who, score, strict=True))

    for s in range(k):
        order = shared if world.same_items else rng.permutation(ITEMS)
        latent = quality[s] if s == OLD else before[s]
        judge(s, order[: OF_NEW if s == OLD else OF_OLD], latent, new=s == OLD)
    judge(0, shared[: world.anchors], quality[0], new=True)
    names = [*(f"v{s}" for s in range(OLD)), "new"]
    writer = np.tile(np.arange(k)[:, None], ITEMS)
    writer[-1, copied] = 0
    outputs = pl.DataFrame(
        {
            "item": [f"i{i}" for _ in range(k) for i in range(ITEMS)],
            "system": np.repeat(names, ITEMS),
            "output": [f"text of {i} by {s}" for own in writer for i, s in enumerate(own)],
            "metric": metric.ravel(),
        }
    )
    judgments = pl.DataFrame(
        [(f"i{i}", names[s], f"r{r}", "p", float(y), new) for s, i, r, y, new in rows],
        ["item", "system", "rater", "prompt", "score", "new"],
        orient="row",
    )
    old, now = judgments.filter(~pl.col("new")).drop("new"), judgments.filter("new").drop("new")
    is_new = outputs["system"] == "new"
    judged, then = np.array([one[:3] for one in rows]), np.array([not one[4] for one in rows])
    lends = (
        np.ones(len(rows), dtype=bool) if not (world.other_raters or world.scale != 1) else ~then
    )
    return Made(
        outputs.filter(is_new),
        now,
        (outputs.filter(~is_new), old),
        3 + quality[-1].mean(),
        tuple(
            least(world, judged[chosen], then[chosen], writer, metric)
            for chosen in (judged[:, 0] == OLD, lends)
        ),
    )


def least(world, judged, then, writer, metric):
    """Return the error variance of the best linear unbiased prediction, with variances known."""
    system, item, rater = judged.T
    author = writer[system, item]
    same = item[:, None] == item
    alike = same & (author[:, None] == author)
    cov = world.item * same + world.own * alike + LENIENCY**2 * (rater[:, None] == rater)
    cov = cov + world.noise * np.eye(len(item))
    target = (world.item + world.own * (author == writer[-1][item])) / ITEMS
    means = np.column_stack([np.eye(OLD + 1)[author], metric[system, item], then])
    centre = np.array([np.average(metric[-1])])
    wanted = np.bincount(writer[-1], minlength=OLD + 1) / ITEMS
    wanted = np.concatenate([wanted, centre, [0.0]])
    solved = np.linalg.solve(cov, np.column_stack([target, means]))
    off = wanted - means.T @ solved[:, 0]
    left = (world.item + world.own) / ITEMS - target @ solved[:, 0]
    return left + off @ np.linalg.pinv(means.T @ solved[:, 1:]) @ off


def replay(world, rng):
    """Return errors without and with the older versions, the least, widths, and what holds and was noticed."""
    one = made(world, rng)
    alone = Study.read(one.outputs, one.judgments.filter(pl.col("system") == "new")).estimate()[
        "new"
    ]
    found = Study.read(one.outputs, one.judgments, earlier=[one.earlier]).estimate()
    with_old = found["new"]
    said = ("no longer hold", "another scale")
    return (
        alone.estimate - one.truth,
        with_old.estimate - one.truth,
        *np.sqrt(one.least),
        with_old.low <= one.truth <= with_old.high,
        (with_old.high - with_old.low) / (alone.high - alone.low),
        any(word in note for note in found.notes for word in said),
    )


def main(replays="100", *kinds):
    """Print the table."""
    print(
        f"{replays} campaigns of each kind: {OLD} older systems, {OF_OLD} judgments each, {OF_NEW} new"
    )
    print(f"{'kind':34} {'error':>6} {'least':>6} {'width':>6} {'holds':>6} {'noticed':>8}")
    for place, world in enumerate(WORLDS):
        if kinds and str(place) not in kinds:
            continue
        rng = np.random.default_rng(place)
        found = np.array([replay(world, rng) for _ in range(int(replays))], dtype=float)
        alone, error, without, best = np.sqrt(np.mean(found[:, :4] ** 2, axis=0))
        holds, width, noticed = found[:, 4:].mean(axis=0)
        print(
            f"{world.name:34} {error / alone:6.2f} {best / without:6.2f} {width:6.2f} {holds:6.0%} {noticed:8.0%}",
            flush=True,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
