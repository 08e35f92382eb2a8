"""Processor seconds and memory of `Study.estimate` on large campaigns, against a loop over a peer."""

import time

import numpy as np
import polars as pl
from ppi_py import ppi_mean_ci

from benchmarks.measuring import megabytes
from steelyard.study import Study


def speed():
    for systems, items, metrics, judged in ((25, 1_000, 30, 120), (2_000, 12, 1, 12)):
        outputs, judgments = large_campaign(systems, items, metrics, judged)
        study = Study.read(outputs, judgments)
        ours, peer = _once(study.estimate), _once(lambda: peers(outputs, judgments))  # noqa: B023
        print(
            f"{systems:,} systems x {items:,} items x {metrics} metrics, {len(judgments):,} judgments: "
            f"{ours:.2f} s, {megabytes(study.estimate):.0f} MB; ppi_py, one metric, {peer:.2f} s; "
            f"ratio {peer / ours:.2f}",
            flush=True,
        )


def _once(call):
    """Processor seconds of one call, which other work on the machine does not lengthen."""
    start = time.process_time()
    call()
    return time.process_time() - start


def large_campaign(systems, items, metrics, judged, *, raters=40):
    """Outputs with metrics, and one judgment of `judged` outputs of each system."""
    rng = np.random.default_rng(systems)
    size = systems * items
    quality = rng.standard_normal(size)
    name = np.repeat([f"s{number}" for number in range(systems)], items)
    outputs = pl.DataFrame({"item": np.tile(np.arange(items), systems).astype(str), "system": name})
    values = 0.4 * quality[:, None] + rng.standard_normal((size, metrics))
    outputs = outputs.with_columns(pl.Series(f"m{j}", values[:, j]) for j in range(metrics))
    rows = np.concatenate(
        [s * items + np.sort(rng.choice(items, judged, replace=False)) for s in range(systems)]
    )
    rater = rng.integers(raters, size=len(rows))
    lenient = rng.normal(0, 0.3, raters)
    score = quality[rows] + lenient[rater] + rng.standard_normal(len(rows))
    judgments = (
        outputs[rows]
        .select("item", "system")
        .with_columns(
            pl.Series("rater", [f"r{one}" for one in rater]),
            pl.lit("overall").alias("prompt"),
            pl.Series("score", score),
        )
    )
    return outputs, judgments


def peers(outputs, judgments):
    """Estimate system by system with one metric, from tables as well."""
    known = judgments.join(outputs, on=["item", "system"]).partition_by("system", as_dict=True)
    rest = outputs.join(judgments, on=["item", "system"], how="anti")
    rest = rest.partition_by("system", as_dict=True)
    empty = np.zeros(1)
    for system, rows in known.items():
        pool = rest[system]["m0"].to_numpy() if system in rest else empty
        ppi_mean_ci(rows["score"].to_numpy(), rows["m0"].to_numpy(), pool, alpha=0.05)
