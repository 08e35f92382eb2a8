"""What a new user asks of two files, one command each, and its processor time.

``python -m benchmarks.jobs``: five systems of 800 outputs with the scores of a judge, 100 items judged; and a folder of
twelve weeks of two systems.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import judges
from benchmarks.weeks import year

WEEKS = 12
BOTH = ["outputs.csv", "judgments.csv"]
JOBS = {
    "can I trust my judge?": ["diagnose", *BOTH, "--metric", "judge", "--own", "E"],
    "which system is best?": ["compare", *BOTH],
    "how many judgments?": ["plan", *BOTH, "--half-width", "0.1"],
    "may it pass?": [
        "compare",
        *BOTH,
        "--pair",
        "A",
        "B",
        "--gate",
        "not-worse",
        "--margin",
        "0.2",
    ],
    "what changed this week?": ["monitor", "weeks", "--metric", "judge"],
}


def write_files(folder):
    """Write both tables, and the weeks."""
    rng = np.random.default_rng(0)
    judges.ITEMS = 800
    study = judges.made(judges.WORLDS[2], rng).study
    study.outputs.rows(columns=["item", "system", "judge"]).write_csv(folder / "outputs.csv")
    judgments = study.judgments.frame.select("item", "system", "rater", "prompt", "score")
    judgments.write_csv(folder / "judgments.csv")
    (folder / "weeks").mkdir()
    for number, week in enumerate(year({}, rng)[:WEEKS], start=1):
        week.outputs.write_csv(folder / "weeks" / f"{number:02}-outputs.csv")
        week.judgments.write_csv(folder / "weeks" / f"{number:02}-judgments.csv")


def main():
    """Print the table."""
    print(f"{'job':26} {'exit code':>9} {'processor s':>12}")
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name))
        for job, words in JOBS.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-m", "steelyard", *words]
            done = subprocess.run(command, cwd=name, capture_output=True, text=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(
                f"{job:26} {done.returncode:9} {took:12.1f}  {done.stderr.strip()[-150:]}",
                flush=True,
            )


if __name__ == "__main__":
    main()
