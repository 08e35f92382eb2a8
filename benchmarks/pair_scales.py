"""The control of a comparison on the same items, scaled for differences and not.

``python -m benchmarks.pair_scales`` prints the squared error of all differences over that of plain
means, with the control of the means and with the one scaled for differences, for metrics of several kinds.
Every campaign is of a world of its own; the standard error is that of the second figure.
"""

from itertools import combinations

import numpy as np

from steelyard.arrays import PoolMoments, judged_outputs, simple_draw
from steelyard.estimate.controlled import JudgedSystem, controlled

SIZE, SEED = 400, 1
CELLS = ((2, 10, 800), (2, 20, 1500), (5, 20, 300), (2, 50, 600), (5, 100, 60))


def metrics_by_kind(quality, item, rng):
    """Metrics (p, k, N) of the quality of outputs and of what an item's have in common."""
    own, by_item = rng.normal(size=quality.shape), rng.normal(size=item.shape)
    many = rng.normal(size=(30, *quality.shape))
    return {
        "own errors": (0.6 * quality + 0.8 * own)[np.newaxis],
        "errors by item": (0.6 * quality + 0.72 * by_item + 0.36 * own)[np.newaxis],
        "difficulty of items": (item + 0.5 * own)[np.newaxis],
        "what systems do": (quality - np.sqrt(0.5) * item + 0.7 * own)[np.newaxis],
        "good": (0.9 * quality + 0.44 * own)[np.newaxis],
        "30 weak": 0.25 * quality + many,
        "10 useless": many[:10],
    }


def world(k, rng):
    """Human scores (k, N), half of their variance the item's, and metrics (p, k, N) by kind."""
    item = rng.normal(size=SIZE)
    quality = np.sqrt(0.5) * (item + rng.normal(size=(k, SIZE)))
    return quality, metrics_by_kind(quality, item, rng)


def judged(quality, metrics, n, rng):
    """The same n items of every system, judged once each."""
    items = np.sort(rng.choice(SIZE, n, replace=False))
    systems = []
    for score, metric in zip(quality, metrics, strict=True):
        sample = judged_outputs(score[items] + 0.7 * rng.normal(size=n), None, items)
        draw, pool = simple_draw(sample, SIZE), PoolMoments.of(metric)
        systems.append(JudgedSystem(sample, draw, metric[items], items, None, pool))
    return systems


def squared_errors(kind, k, n, runs, *, seed=SEED):
    """Squared error of differences, (runs, 3): plain, by the means' control, by the scaled one."""
    rng = np.random.default_rng([seed, k, n])
    a, b = np.array(list(combinations(range(k), 2))).T
    found = np.zeros((runs, 3))
    for run in range(runs):
        quality, metrics = world(k, rng)
        systems = judged(quality, np.moveaxis(metrics[kind], 0, -1), n, rng)
        ways = (
            [one.sample for one in systems],
            controlled(systems).samples,
            controlled(systems, differences=True).samples,
        )
        for way, samples in enumerate(ways):
            error = np.array([one.mean.mean() for one in samples]) - quality.mean(axis=1)
            found[run, way] = np.mean((error[a] - error[b]) ** 2)
    return found


def main():
    print("| metric | " + " | ".join(f"k = {k}, n = {n}" for k, n, _ in CELLS) + " |")
    print("|---|" + "---|" * len(CELLS))
    for kind in world(2, np.random.default_rng(0))[1]:
        cells = []
        for k, n, runs in CELLS:
            found = squared_errors(kind, k, n, runs)
            plain, means, scaled = found.mean(axis=0)
            left = found[:, 2] - scaled / plain * found[:, 0]
            error = left.std() / plain / np.sqrt(runs)
            cells.append(f"{means / plain:.3f} to {scaled / plain:.3f} ± {error:.3f}")
        print(f"| {kind} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
