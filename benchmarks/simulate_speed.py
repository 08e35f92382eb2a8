"""How long `simulate` takes, and how much faster it is than an earlier version.

    python -m benchmarks.simulate_speed [RUNS] [SOURCE]

SOURCE is the folder ``src`` of another checkout (for example made by ``git archive COMMIT``). Both versions replay the same
line in a process of their own: all rules on the four systems of the built-in campaign, with rouge-l, until the half-width
is 0.15. A figure is processor time without reading and importing, so that other work on the machine counts little.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

from steelyard.demo import campaign

RUNS = 200
HERE = Path(__file__).resolve().parents[1] / "src"
LINE = """
import sys, time
from steelyard import Study
outputs, judgments, runs = sys.argv[1:]
study = Study.read(outputs, judgments, metrics=["rouge-l"])
start = time.process_time()
study.simulate(["rouge-l"], prompt="correct", half_width=0.15, bounds=(0, 1), runs=int(runs))
print(time.process_time() - start)
"""


def seconds(source, folder, runs):
    """Processor seconds of the line with the code of one source folder."""
    files = [str(folder / name) for name in ("outputs.jsonl", "judgments.jsonl")]
    done = subprocess.run(
        [sys.executable, "-c", LINE, *files, str(runs)],
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def main():
    arguments = sys.argv[1:] if __name__ == "__main__" else []
    runs = int(arguments[0]) if arguments else RUNS
    made = campaign()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pl.DataFrame(made.outputs).write_ndjson(folder / "outputs.jsonl")
        pl.DataFrame(made.judgments).write_ndjson(folder / "judgments.jsonl")
        now = seconds(HERE, folder, runs)
        print(f"simulate, {runs} replays of every rule: {now:.1f} s of processor time")
        for source in arguments[1:]:
            before = seconds(source, folder, runs)
            print(f"  {source}: {before:.1f} s, {before / now:.1f} times as long")


if __name__ == "__main__":
    main()
