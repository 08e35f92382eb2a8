"""`diagnose` of 2,000 systems of 12 items with 5 metrics, against peers for a part of it."""

import resource
import sys
import time

import krippendorff
import numpy as np
import polars as pl

from benchmarks.crossed_components import peer
from steelyard.study import Study


def campaign(systems, *, items=12, metrics=5, raters=40, seed=0):
    """Every output of every system is judged twice, by two of the raters."""
    rng = np.random.default_rng(seed)
    n = systems * items
    score, system = rng.normal(size=n), np.repeat(np.arange(systems), items)
    name, item = np.char.add("s", system.astype(str)), np.tile(np.arange(items), systems)
    columns = {f"m{k}": 0.5 * score + rng.normal(size=n) for k in range(metrics)}
    first = rng.integers(0, raters, size=n)
    second = (first + rng.integers(1, raters, size=n)) % raters
    rater = np.column_stack([first, second])
    leniency = 0.4 * rng.normal(size=raters)
    human = score + 0.5 * rng.normal(size=systems)[system]
    human = human[:, np.newaxis] + leniency[rater] + rng.normal(size=(n, 2))
    outputs = pl.DataFrame({"item": item, "system": name, **columns})
    judgments = pl.DataFrame(
        {
            "item": item.repeat(2),
            "system": name.repeat(2),
            "rater": np.char.add("r", rater.ravel().astype(str)),
            "prompt": "p",
            "score": human.ravel(),
        }
    )
    return outputs, judgments, human.reshape(systems, items, 2)


def peak_megabytes():
    # Kilobytes on Linux, bytes on macOS; of the whole process.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def main(systems=2_000, fitted=10):
    outputs, judgments, human = campaign(systems)
    before = peak_megabytes()
    start = time.perf_counter()
    found = Study.read(outputs, judgments).diagnose()
    ours = time.perf_counter() - start
    peak = peak_megabytes()
    start = time.perf_counter()
    theirs = [krippendorff.alpha(one.T, level_of_measurement="interval") for one in human]
    alpha = time.perf_counter() - start
    assert np.allclose([one.agreement.alpha_interval for one in found[:-1]], theirs)
    cells = judgments.partition_by("system", maintain_order=True)[:fitted]
    start = time.perf_counter()
    for cell in cells:
        peer(cell["score"].to_numpy(), cell["item"].to_numpy(), cell["rater"].to_numpy())
    crossed = (time.perf_counter() - start) * systems / fitted
    print(f"{systems:,} systems, {judgments.height:,} judgments, {outputs.width - 2} metrics")
    print(f"steelyard, all of the diagnosis                       {ours:8.2f} s")
    print(f"statsmodels, crossed components, from {fitted} systems      {crossed:8.2f} s", end="")
    print(f"   ({crossed / ours:.1f}x)")
    print(f"krippendorff, interval alpha                          {alpha:8.2f} s", end="")
    print(f"   ({alpha / ours:.2f}x)")
    print(f"peak memory of the process: {peak:,.0f} MB, {before:,.0f} MB of it before")


if __name__ == "__main__":
    main()
