"""What judgments of older versions lend to a new one, and whether those that no longer hold are noticed.

``python -m benchmarks.versions [REPLAYS]``: three older systems of 400 items with 200 judgments each, and 20
judgments of the new version. *error*: root mean square error of the new version's mean with the older ones beside
that of the same estimate without them. *holds*: its 95% intervals. *noticed*: old judgments said to hold no longer.
"""

import sys
from dataclasses import dataclass

import numpy as np
import polars as pl

from steelyard.study import Study

OLD, ITEMS, OF_OLD, OF_NEW, RATERS = 3, 400, 200, 20, 8
ANCHORS = 10
PARTS = ["item", "text", "metric", "own", "noise"]


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
    anchors: bool = False


WORLDS = (
    World("items are easy or hard"),
    World("a good metric", item=0.15, metric=0.4, own=0.1, noise=0.35),
    World("half of the texts are copies", copies=0.5),
    World(
        "other items, a good metric", item=0.15, metric=0.4, own=0.1, noise=0.35, same_items=False
    ),
    World("little in common", item=0.05, metric=0.05, own=0.4, noise=0.5),
    World("shift of 0.5", shift=0.5, anchors=True),
    World("shift of 1", shift=1.0, anchors=True),
    World("other scale, 0 to 100", scale=25.0),
    World("raters who mean something else", other_raters=True),
    World("raters who mean something else, anchors", other_raters=True, anchors=True),
)


def made(world, rng):
    """Return outputs, judgments, older outputs and judgments, and the new version's mean."""
    k = OLD + 1
    item = rng.standard_normal(ITEMS)
    metric, own = rng.standard_normal((2, k, ITEMS))
    level = 0.4 * rng.standard_normal(k)
    copied = rng.uniform(size=ITEMS) < world.copies
    metric[-1, copied], own[-1, copied] = metric[0, copied], own[0, copied]
    quality = np.sqrt([world.item, world.metric, world.own]) @ np.stack(
        [np.broadcast_to(item, (k, ITEMS)).ravel(), metric.ravel(), own.ravel()]
    )
    quality = level[:, None] + quality.reshape(k, ITEMS)
    quality[-1, copied] = quality[0, copied]
    before = quality[:OLD]
    if world.other_raters:
        before = level[:OLD, None] + np.sqrt(1 - world.noise) * rng.standard_normal(ITEMS)
        before = before + 0 * quality[:OLD]
    leniency = 0.2 * rng.standard_normal(RATERS)

    def judged(latent, chosen):
        who = rng.integers(RATERS, size=len(chosen))
        noise = np.sqrt(world.noise) * rng.standard_normal(len(chosen))
        return who, 3 + latent[chosen] + leniency[who] + noise

    texts = [
        [f"text of {i} by {0 if copied[i] and s == OLD else s}" for i in range(ITEMS)]
        for s in range(k)
    ]
    shared = rng.permutation(ITEMS)
    rows = []
    for s in range(k):
        new = s == OLD
        order = shared if world.same_items else rng.permutation(ITEMS)
        chosen = order[: OF_NEW if new else OF_OLD]
        who, score = judged(quality[s] if new else before[s], chosen)
        score = score if new else world.scale * (score + world.shift)
        rows += [(s, f"i{i}", f"r{r}", y, new) for i, r, y in zip(chosen, who, score, strict=True)]
    if world.anchors:
        chosen = shared[:ANCHORS]
        who, score = judged(quality[0], chosen)
        rows += [
            (0, f"i{i}", f"again{r}", y, True) for i, r, y in zip(chosen, who, score, strict=True)
        ]
    names = [*(f"v{s}" for s in range(OLD)), "new"]
    outputs = pl.DataFrame(
        {
            "item": [f"i{i}" for _ in range(k) for i in range(ITEMS)],
            "system": np.repeat(names, ITEMS),
            "output": [text for own in texts for text in own],
            "metric": metric.ravel(),
        }
    )
    judgments = pl.DataFrame(
        [(item, names[s], rater, "p", float(y), new) for s, item, rater, y, new in rows],
        ["item", "system", "rater", "prompt", "score", "new"],
        orient="row",
    )
    is_new = outputs["system"] == "new"
    old, now = judgments.filter(~pl.col("new")).drop("new"), judgments.filter("new").drop("new")
    return (outputs.filter(is_new), now), (outputs.filter(~is_new), old), 3 + quality[-1].mean()


def replay(world, rng):
    """Return errors without and with the older versions, whether intervals hold, and what was noticed."""
    (outputs, judgments), earlier, truth = made(world, rng)
    alone = Study.read(outputs, judgments.filter(pl.col("system") == "new")).estimate()["new"]
    found = Study.read(outputs, judgments, earlier=[earlier]).estimate()
    with_old = found["new"]
    return (
        alone.estimate - truth,
        with_old.estimate - truth,
        alone.low <= truth <= alone.high,
        with_old.low <= truth <= with_old.high,
        (with_old.high - with_old.low) / (alone.high - alone.low),
        any("no longer" in note for note in found.notes),
    )


def main(replays=100):
    """Print the table."""
    print(
        f"{replays} campaigns each; {OLD} older systems, {OF_OLD} judgments each, {OF_NEW} of the new one"
    )
    print(f"{'kind':42} {'error':>6} {'width':>6} {'holds':>6} {'alone':>6} {'noticed':>8}")
    for place, world in enumerate(WORLDS):
        rng = np.random.default_rng(place)
        found = np.array([replay(world, rng) for _ in range(replays)], dtype=float)
        error = np.sqrt(np.mean(found[:, 1] ** 2) / np.mean(found[:, 0] ** 2))
        print(
            f"{world.name:42} {error:6.2f} {found[:, 4].mean():6.2f} {found[:, 3].mean():6.0%} "
            f"{found[:, 2].mean():6.0%} {found[:, 5].mean():8.0%}",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
