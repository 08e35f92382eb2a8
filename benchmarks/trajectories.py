"""1,000 draws of a 500-output campaign, against following every draw judgment by judgment."""

import time

import numpy as np

from benchmarks.measuring import seconds
from steelyard import trajectory


def main(n=500, draws=1000, followed=20):
    rng = np.random.default_rng(0)
    score = rng.normal(size=n)
    items = np.repeat(np.arange(n), 2)
    human = score[items] + rng.normal(size=2 * n)
    metric = score + rng.normal(size=n)
    judgments = human.reshape(n, 2)
    print(f"{draws:,} draws of {n} judgments; the direct algorithm timed on {followed} draws")

    ours = seconds(lambda: trajectory(human, metric[items], items=items, draws=draws), repeats=10)
    print(f"steelyard, all four curves            {ours:8.4f} s")
    for name, curves in (("all four curves", 4), ("plain mean and estimate only", 2)):
        start = time.perf_counter()
        direct(judgments, metric, curves=curves, draws=followed, rng=np.random.default_rng(1))
        directly = (time.perf_counter() - start) * draws / followed
        print(f"direct, {name:29} {directly:8.2f} s   ({directly / ours:.0f}x)")


def direct(judgments, metric, *, curves, draws, rng):
    """Recompute mean and Algorithm 1 from scratch for every draw and every prefix."""
    n = len(metric)
    mean = judgments.mean(axis=1)
    g, perfect = ((one - one.mean()) / one.std() for one in (metric, mean))
    paths = np.empty((curves, draws, n))
    for draw in range(draws):
        chosen = rng.integers(n, size=n)
        y = judgments[chosen, rng.integers(2, size=n)]
        for k in range(1, n + 1):
            part = chosen[:k]
            paths[0, draw, k - 1] = np.mean(y[:k])
            readings = ((y[:k], g), (mean[part], g), (y[:k], perfect))
            for curve, (felt, control) in enumerate(readings[: curves - 1], start=1):
                g_k = control[part]
                alpha = np.mean((felt - np.mean(felt)) * g_k)
                paths[curve, draw, k - 1] = np.mean(felt - alpha * g_k)
    ends = np.quantile(paths, [0.1, 0.9], axis=1)
    return ends[1] - ends[0]


if __name__ == "__main__":
    main()
