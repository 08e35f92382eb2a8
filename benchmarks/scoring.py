"""Rates of `steelyard score` with one and two workers, and its peak memory as the file grows.

    python -m benchmarks.scoring                              # all of it, some minutes
    python -m benchmarks.scoring --rows 40000 --sizes 10000
    python -m benchmarks.scoring --rows 0 --sizes 10000 100000 1000000 10000000

For the rates, a row is an output and a reference of 55 words each. The rate is counted from the first finished
batch to the last, so that starting processes is left out; runs with one and two workers take
turns, and of several rounds the fastest counts. Wall time is what counts for two workers, so the
machine should have two idle cores: on a busy one the ratio says little. The last column does not
depend on other programs: processor time that a row costs with two workers, over that with one.

For the memory, texts have 8 words, so that ten million rows can be made in a minute. Each
measurement is a run of its own with two worker processes: peak resident memory of the process that
was started, and of the largest of the others (workers, and one that puts a Parquet file together),
interpreter and libraries included (Linux only).
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from steelyard.scoring import score_file

WORDS_PER_TEXT = 55
WORDS_PER_SHORT_TEXT = 8
VOCABULARY = 20_000
PART = 50_000
METRICS = ("rouge-l", "bleu")
# Quick to compute: memory is what is measured.
LIGHT = ("length-ratio",)


def texts(rng, words, shape):
    """References drawn by Zipf's law, and outputs that keep about half of their words."""
    frequency = 1 / np.arange(1, VOCABULARY + 1)
    reference, other = rng.choice(VOCABULARY, size=(2, *shape), p=frequency / frequency.sum())
    output = np.where(rng.random(shape) < 0.5, reference, other)
    return ([" ".join(row) for row in words[codes]] for codes in (output, reference))


def make_file(path, rows, *, length=WORDS_PER_TEXT, distinct=None):
    """Write rows of texts of `length` words; after `distinct` rows the texts come again."""
    rng = np.random.default_rng(55)
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    words = np.array(["".join(rng.choice(letters, size=n)) for n in rng.integers(2, 9, VOCABULARY)])
    parts = []
    for start in range(0, rows, PART):
        count = min(PART, rows - start)
        if distinct is None or start < distinct:
            output, reference = texts(rng, words, (count, length))
            block = pl.DataFrame({"output": output, "reference": reference, "system": "a"})
        item = pl.Series("item", np.arange(start, start + count))
        parts.append(path.with_suffix(f".{start}.part"))
        block.head(count).insert_column(0, item).write_parquet(parts[-1])
    pool = pl.scan_parquet(parts)
    pool.sink_parquet(path) if path.suffix == ".parquet" else pool.sink_ndjson(path)
    for part in parts:
        part.unlink()


def rate(source, folder, *, workers, cluster):
    """Rows a second from the first finished batch to the last, and processor time of all."""
    seen = []
    before = sum(os.times()[:4])
    target = folder / f"scored{source.suffix}"
    score_file(
        source,
        target,
        metrics=METRICS,
        workers=workers,
        cluster=cluster,
        progress=lambda state: seen.append((time.perf_counter(), state.rows)),
    )
    target.unlink()
    (start, first), (end, last) = seen[workers - 1], seen[-1]
    return (last - first) / (end - start), sum(os.times()[:4]) - before


def rates(folder, *, rows, rounds):
    print(f"{rows:,} rows of 55-word pairs, {' and '.join(METRICS)}, best of {rounds}")
    print(f"{os.cpu_count()} cores, load before: {os.getloadavg()[0]:.1f}")
    print(
        f"{'run on':<12}{'file':<10}{'1 worker':>12}{'2 workers':>12}{'ratio':>8}  (goal 1.7){'cost':>7}"
    )
    for label, cluster, suffix in (
        ("processes", None, ".jsonl"),
        ("processes", None, ".parquet"),
        ("Dask", "local", ".parquet"),
    ):
        source = folder / f"pool-{rows}{suffix}"
        if not source.exists():
            make_file(source, rows)
        one, two = zip(
            *(
                [rate(source, folder, workers=workers, cluster=cluster) for workers in (1, 2)]
                for _ in range(rounds)
            ),
            strict=True,
        )
        (one, one_cost), (two, two_cost) = (
            (max(found), min(cost))
            for found, cost in (zip(*runs, strict=True) for runs in (one, two))
        )
        print(
            f"{label:<12}{suffix[1:]:<10}{one:>10,.0f}/s{two:>10,.0f}/s{two / one:>8.2f}"
            f"{two_cost / one_cost:>19.2f}",
            flush=True,
        )


def measure(source, target):
    """Peak memory of this process and of its largest child, in megabytes."""
    summary = score_file(source, target, metrics=LIGHT, workers=2)
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    # Not ru_maxrss: it also remembers the process that started this one.
    status = Path("/proc/self/status").read_text()
    parent = int(status.partition("VmHWM:")[2].split()[0]) / 1e3
    rate = summary.rows_per_second
    print(json.dumps({"rows": summary.rows, "parent": parent, "child": child, "rate": rate}))


def memory(folder, *, sizes):
    print("\npeak resident memory, two worker processes, length-ratio of 8-word texts")
    print(f"{'file':<10}{'rows':>12}{'size':>12}{'the first':>16}{'others':>12}{'rate':>14}")
    for suffix in (".jsonl", ".parquet"):
        for rows in sizes:
            source = folder / f"short-{rows}{suffix}"
            make_file(source, rows, length=WORDS_PER_SHORT_TEXT, distinct=PART)
            target = folder / f"scored{suffix}"
            child = subprocess.run(
                [sys.executable, "-m", "benchmarks.scoring", "--measure", source, target],
                check=True,
                capture_output=True,
                text=True,
            )
            found = json.loads(child.stdout)
            print(
                f"{suffix[1:]:<10}{found['rows']:>12,}{source.stat().st_size / 1e6:>9,.0f} MB"
                f"{found['parent']:>13,.0f} MB{found['child']:>9,.0f} MB{found['rate']:>12,.0f}/s",
                flush=True,
            )
            source.unlink()
            target.unlink()


def main(arguments=()):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=200_000, help="rows for the rates")
    parser.add_argument("--rounds", type=int, default=3, help="rounds for the rates")
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="*",
        default=[10_000, 100_000, 1_000_000],
        help="rows for the memory",
    )
    parser.add_argument("--measure", type=Path, nargs=2, help=argparse.SUPPRESS)
    # run by name from `python -m benchmarks`, there are no options
    options = parser.parse_args(arguments)
    if options.measure:
        measure(*options.measure)
        return
    with tempfile.TemporaryDirectory() as name:
        if options.rows:
            rates(Path(name), rows=options.rows, rounds=options.rounds)
        if options.sizes:
            memory(Path(name), sizes=options.sizes)


if __name__ == "__main__":
    main(sys.argv[1:])
