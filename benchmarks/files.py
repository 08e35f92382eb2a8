"""How long, and in how much memory, large files are checked and read: ``python -m benchmarks files``.

Each part runs in a process of its own. Another version is measured with its folder ``src`` in PYTHONPATH.
"""

import argparse
import contextlib
import io
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

PARTS = ("check", "read")


def made(folder, size):
    """Write outputs of four systems and two judgments of half of them, `size` rows each; return the paths."""
    rng = np.random.default_rng(1)
    number = np.arange(size)
    metric = rng.normal(size=size)
    outputs = pl.DataFrame({"item": number // 4, "system": number % 4, "output": number}).select(
        item=pl.format("i{}", "item"),
        system=pl.format("s{}", "system"),
        output=pl.format("The text number {}.", "output"),
        metric=pl.Series(metric.round(4)),
    )
    judged = np.repeat(np.sort(rng.choice(size, size // 2, replace=False)), 2)
    score = np.clip(np.round(3 + metric[judged] + rng.normal(size=len(judged))), 1, 5)
    rater = (np.arange(len(judged)) * 7 + np.arange(len(judged)) % 2) % 200
    judgments = (
        outputs[judged.tolist()]
        .select("item", "system")
        .with_columns(
            rater=pl.format("r{}", pl.Series(rater)),
            prompt=pl.lit("overall"),
            score=pl.Series(score),
        )
    )
    paths = folder / "outputs.csv", folder / "judgments.csv"
    outputs.write_csv(paths[0])
    judgments.write_csv(paths[1])
    return paths


def work(part, outputs, judgments):
    """Do one part, and print its seconds of wall clock and processor, and the peak of memory in MB."""
    from steelyard import Study  # noqa: PLC0415 - the time of the import is not measured
    from steelyard.cli import main as command  # noqa: PLC0415

    wall, used = time.perf_counter(), time.process_time()
    if part == "check":
        with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
            command(["check", outputs, judgments])
    else:
        Study.read(outputs, judgments)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{time.perf_counter() - wall:.1f} {time.process_time() - used:.1f} {peak:.0f}")


def main():
    options = argparse.ArgumentParser(prog="python -m benchmarks files", description=__doc__)
    options.add_argument("--size", type=int, default=1_000_000)
    size = options.parse_args(sys.argv[2:]).size
    with tempfile.TemporaryDirectory() as place:
        paths = made(Path(place), size)
        for part in PARTS:
            command = [sys.executable, "-m", "benchmarks.files", part, *map(str, paths)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            wall, used, peak = done.stdout.split()
            print(
                f"{part}: {wall} s, {used} s of processor, {peak} MB, {size:,} outputs and judgments"
            )


if __name__ == "__main__":
    work(*sys.argv[1:]) if len(sys.argv) > 3 else main()
