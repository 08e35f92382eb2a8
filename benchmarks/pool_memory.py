"""Peak memory and time of a large Parquet pool: unique keys, moments of three metrics, a join.

    python benchmarks/pool_memory.py                    # 50 million outputs, beside pandas at 5 million
    python benchmarks/pool_memory.py --rows 1000000 --peer-rows 1000000

The pool is written in parts to a temporary folder (about 43 bytes an output). Each measurement
is a process of its own; its peak resident memory includes the interpreter and libraries.
"""

# Libraries are imported where they are measured, so that each process pays for its own.
# ruff: noqa: PLC0415

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SYSTEMS = 5
JUDGED = 1000
PART = 1_000_000
METRICS = ("rouge-l", "bleu", "judge")
# Present in the file and not asked for: they must not be read.
OTHERS = ("chrf", "length")


def make_pool(path, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    systems = pa.array([f"system-{number}" for number in range(SYSTEMS)])
    writer = None
    for start in range(0, rows, PART):
        index = np.arange(start, min(start + PART, rows))
        codes = pa.array((index % SYSTEMS).astype(np.int8))
        part = pa.table(
            {
                "item": pa.array(np.char.add("item-", (index // SYSTEMS).astype(str))),
                "system": pa.DictionaryArray.from_arrays(codes, systems),
                **{name: rng.random(len(index)) for name in (*METRICS, *OTHERS)},
            }
        )
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    writer.close()


def judged_items(rows):
    items = rows // SYSTEMS
    return [f"item-{number}" for number in range(0, items, max(1, items // JUDGED))][:JUDGED]


def steelyard(path, rows):
    """What an estimate needs: unique keys, moments, metrics of the judged outputs."""
    import polars as pl

    from steelyard.tables import read_judgments, read_outputs

    outputs = read_outputs(path, metrics=METRICS)
    judgments = read_judgments(
        pl.DataFrame({"item": judged_items(rows), "system": "system-1"}).with_columns(
            rater=pl.lit("r"), prompt=pl.lit("p"), score=1.0
        )
    )
    seconds = {}
    start = time.perf_counter()
    outputs.check()
    seconds["unique keys"] = time.perf_counter() - start
    start = time.perf_counter()
    moments = outputs.pool_moments()
    seconds["moments"] = time.perf_counter() - start
    start = time.perf_counter()
    judged = outputs.rows_of(judgments)
    seconds["join"] = time.perf_counter() - start
    assert sum(part.size for part in moments.values()) == rows
    assert judged.height == len(judgments)
    return seconds


def pandas(path, rows):
    """The same with the needed columns in a data frame."""
    import pandas as pd

    seconds = {}
    start = time.perf_counter()
    frame = pd.read_parquet(path, columns=["item", "system", *METRICS])
    seconds["read"] = time.perf_counter() - start
    start = time.perf_counter()
    assert not frame.duplicated(["item", "system"]).any()
    seconds["unique keys"] = time.perf_counter() - start
    start = time.perf_counter()
    frame.groupby("system", observed=True)[list(METRICS)].cov(ddof=0)
    seconds["moments"] = time.perf_counter() - start
    start = time.perf_counter()
    keys = pd.DataFrame({"item": judged_items(rows), "system": "system-1"})
    assert len(frame.merge(keys, on=["item", "system"])) == len(keys)
    seconds["join"] = time.perf_counter() - start
    return seconds


def measure(tool, path, rows):
    seconds = {"steelyard": steelyard, "pandas": pandas}[tool](path, rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Kilobytes on Linux, bytes on macOS.
    megabytes = peak / (1e6 if sys.platform == "darwin" else 1e3)
    print(json.dumps({"megabytes": megabytes, "seconds": seconds}))


def report(tool, rows, folder):
    path = folder / f"pool-{rows}.parquet"
    if not path.exists():
        make_pool(path, rows)
    child = subprocess.run(
        [sys.executable, __file__, "--rows", str(rows), "--measure", tool, "--pool", str(path)],
        check=True,
        capture_output=True,
        text=True,
    )
    result = json.loads(child.stdout)
    steps = ", ".join(f"{step} {seconds:.1f} s" for step, seconds in result["seconds"].items())
    total = sum(result["seconds"].values())
    print(
        f"{tool:<10}{rows:>12,} outputs  {result['megabytes']:>7,.0f} MB  {total:>6.1f} s  ({steps})"
    )


def main(arguments=()):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000_000, help="outputs in the pool")
    parser.add_argument("--peer-rows", type=int, default=5_000_000, help="outputs for pandas")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--pool", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.measure:
        measure(options.measure, options.pool, options.rows)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report("steelyard", options.peer_rows, folder)
        report("pandas", options.peer_rows, folder)
        report("steelyard", options.rows, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
