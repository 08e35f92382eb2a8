"""What `steelyard diagnose` and four other tools say of one biased judge, each by its own command.

``python -m benchmarks.judge_peers BIN [SEED]``: BIN is the folder of programs of an environment in which truescore,
evalstats, cje-eval and judgegate are installed. Five systems of 400 outputs, 100 items judged; the judge gives 0.3
standard deviations more for a standard deviation of words, and 0.5 to system E. What each prints is shown as it is.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.judges import SYSTEMS, World, made

WORLD = World("length 0.3, favourite 0.5", long=0.3, favourite=0.5)
# Seconds that a tool may take.
_LONGEST = 300
CONFIG = """\
judge: {model: judge, prompt: "{output}"}
labels: {values: ["1", "2", "3", "4", "5"]}
gate: {weighting: quadratic}
"""


def tables(seed):
    """Return outputs, judgments, and one row for each output with its mean judgment where it was judged."""
    study = made(WORLD, np.random.default_rng(seed)).study
    outputs = study.outputs.rows(columns=["item", "system", "judge", "length"])
    judgments = study.judgments.frame.select("item", "system", "rater", "prompt", "score")
    means = judgments.group_by("item", "system").agg(human=pl.col("score").mean())
    whole = outputs.join(means, on=["item", "system"], how="left", maintain_order="left")
    return outputs, judgments, whole


def write_files(folder, seed):
    """Write the campaign as each tool reads it."""
    outputs, judgments, whole = tables(seed)
    outputs.write_csv(folder / "outputs.csv")
    judgments.write_csv(folder / "judgments.csv")
    whole.write_csv(folder / "whole.csv")
    long = whole.select(
        pl.col("system").alias("model"), pl.col("item").alias("input"), "judge", "human"
    )
    long.write_csv(folder / "long.csv")
    judged = whole.drop_nulls("human")
    lines = [
        {
            "id": f"{row['item']}-{row['system']}",
            "output": "word " * int(row["length"]),
            "human_label": f"{row['human']:.0f}",
            "judge_label": f"{row['judge']:.0f}",
        }
        for row in judged.iter_rows(named=True)
    ]
    in_lines(folder / "labels.jsonl", lines)
    (folder / "judge.yaml").write_text(CONFIG)
    (folder / "draws").mkdir()
    for system in SYSTEMS:
        rows = whole.filter(pl.col("system") == system).iter_rows(named=True)
        drawn = [
            {"prompt_id": row["item"], "judge_score": (row["judge"] - 1) / 4}
            | ({} if row["human"] is None else {"oracle_label": (row["human"] - 1) / 4})
            for row in rows
        ]
        in_lines(folder / "draws" / f"{system}_responses.jsonl", drawn)


def in_lines(path, rows):
    """Write rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def commands(programs):
    """Return each tool's own command, by its name."""
    steelyard = [sys.executable, "-m", "steelyard", "diagnose", "outputs.csv", "judgments.csv"]
    return {
        "steelyard diagnose": [*steelyard, "--metric", "judge", "--against", "length"],
        "truescore audit": [
            programs / "truescore", "audit", "whole.csv", "--judge", "judge", "--gold", "human",
            "--covariate", "length", "--cluster-column", "item",
        ],
        "evalstats analyze": [
            programs / "evalstats", "analyze", "long.csv", "--format", "long", "--metric", "judge",
            "--human-groundtruth", "human", "--brief", "--n-bootstrap", "500",
        ],
        "cje analyze": [programs / "cje", "analyze", "draws"],
        "judgegate verify": [
            programs / "judgegate", "verify", "labels.jsonl", "--config", "judge.yaml", "--no-probes",
        ],
    }  # fmt: skip


def main(programs, seed="0"):
    """Print what each tool says, its exit code and its processor time."""
    environment = os.environ | {"COLUMNS": "110", "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name), int(seed))
        for tool, command in commands(Path(programs).absolute()).items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            try:
                done = subprocess.run(
                    command,
                    cwd=name,
                    capture_output=True,
                    text=True,
                    check=False,
                    env=environment,
                    timeout=_LONGEST,
                )
            except subprocess.TimeoutExpired:
                print(f"=== {tool}: stopped after {_LONGEST} s", flush=True)
                continue
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(f"=== {tool}: exit code {done.returncode}, {took:.1f} s of processor time")
            print((done.stdout + done.stderr).strip(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
