"""Troubles of an endpoint: what `steelyard judge` loses, invents, repeats and pays twice.

    python -m benchmarks.judge                    # all of it, some minutes
    python -m benchmarks.judge limits --rows 300
    python -m benchmarks.judge troubles --rows 60
    python -m benchmarks.judge kills --kills 20

A local stand-in knows the right score of every text. `limits`: it lets 10 requests per second through (a
bucket of 10) while 32 are asked at a time. `troubles`: three rows of ten meet one kind of trouble when they are first
asked about. "Right" counts rows with the right score after one run, and after a second one; "invented" counts scores that the judge did not give. `kills`: the command is killed (SIGKILL) after a random
number of replies, again and again, until it is done; the file must be the same, byte for byte, as that of a run that
nobody disturbed.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.stand_in_endpoint import TIMEOUT, Server, meets_trouble, right
from steelyard.judge import Rubric, judge

RUBRIC = Rubric(name="brevity", low=1, high=5, user="{output}")
JSON_RUBRIC = RUBRIC.model_copy(update={"name": "reasoned", "answer": "json"})
# Troubles of the way: they pass, and no run should show them.
PASSING = (
    "429",
    "429, Retry-After",
    "500",
    "time-out",
    "drip",
    "reset",
    "half a body",
    "malformed",
    "error with 200",
    "empty",
)
# Replies without a score: the first run says so, and a second one gets it.
UNSCORED = (
    "refusal",
    "filter",
    "cut off",
    "wrong scale",
    "two numbers",
    "open thoughts",
    "injection quoted",
    "injection obeyed",
    "huge",
)
READABLE = ("markdown", "Score: N/5", "N.0", "after thoughts")
IN_JSON = ("fenced", "duplicate keys")


def texts_of(rows):
    return [f"text {number}" for number in range(rows)]


def limits(rows):
    kinds = {
        "no header": lambda wait: {},  # noqa: ARG005
        "Retry-After": lambda wait: {"Retry-After": str(int(np.ceil(wait)))},
        "retry-after-ms": lambda wait: {"retry-after-ms": str(1000 * wait)},
        "x-ratelimit-reset": lambda wait: {
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": f"{1000 * wait:.0f}ms",
        },
    }
    print("10 requests per second allowed, 32 asked at a time")
    print(f"{'header':20}  {'rows':>5}  {'scores':>6}  {'requests per row':>16}  {'seconds':>7}")
    for name, headers in kinds.items():
        with Server(rate=10.0, headers=headers) as server:
            start = time.monotonic()
            found = judge(
                texts_of(rows), endpoint=server.base, model="m", rubric=RUBRIC, concurrency=32
            )
            took = time.monotonic() - start
            each = sum(server.asked.values()) / rows
            scored = rows - found.n_missing
            print(f"{name:20}  {rows:5}  {scored:6}  {each:16.3f}  {took:7.1f}", flush=True)


@dataclass(frozen=True)
class Troubled:
    """Rows that met a trouble, right scores after one run and after two, inventions, and requests of the first."""

    met: int
    right: tuple[int, int]
    invented: int
    requests: float


def troubled(kind, rows):
    """Judge rows of which some meet one kind of trouble, then once more."""
    truth = np.array([right(text) for text in texts_of(rows)])
    with tempfile.TemporaryDirectory() as folder, Server(kind) as server:
        asked = {
            "endpoint": server.base,
            "model": "m",
            # what is large takes long on a busy machine
            "rubric": (JSON_RUBRIC if kind in IN_JSON else RUBRIC).model_copy(
                update={"timeout": 30.0 if kind == "huge" else TIMEOUT}
            ),
            "cache": Path(folder, "cache"),
        }
        first = judge(texts_of(rows), **asked)
        each = sum(server.asked.values()) / rows
        second = judge(texts_of(rows), **asked)
    scores = [one.scores for one in (first, second)]
    return Troubled(
        sum(map(meets_trouble, texts_of(rows))),
        tuple(int((some == truth).sum()) for some in scores),
        sum(int((~np.isnan(some) & (some != truth)).sum()) for some in scores),
        each,
    )


def troubles(rows, kinds=(*PASSING, *UNSCORED, *READABLE, *IN_JSON)):
    print(f"{sum(map(meets_trouble, texts_of(rows)))} of {rows} rows meet each trouble once")
    head = f"{'trouble':18}  {'right':>6}  {'right after 2':>13}  {'invented':>8}"
    print(f"{head}  {'requests per row, first run':>27}")
    for kind in kinds:
        found = troubled(kind, rows)
        print(
            f"{kind:18}  {found.right[0]:6}  {found.right[1]:13}  {found.invented:8}"
            f"  {found.requests:27.2f}",
            flush=True,
        )


@dataclass(frozen=True)
class Killed:
    """Kills, the last exit code, whether the file is that of a run that nobody disturbed, and requests."""

    killed: int
    code: int
    same: bool
    requests: int
    rows: int

    @property
    def again(self):
        return self.requests - self.rows


def write_rows(folder, rows):
    """Write outputs and a rubric; return how many rows."""
    lines = [
        {"item": text, "system": "s", "output": text, "extra": [1.0, None]}
        for text in texts_of(rows)
    ]
    (folder / "outputs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    (folder / "brevity.toml").write_text('name = "brevity"\nlow = 1\nhigh = 5\nuser = "{output}"\n')
    return rows


def killed(count, rows=200):
    """Kill the command so many times, then let it end."""
    rng = random.Random(20)
    with tempfile.TemporaryDirectory() as name, Server(latency=0.02) as server:
        folder = Path(name)
        write_rows(folder, rows)
        whole = run(server, folder, "whole")
        assert whole.wait() == 0
        server.asked.clear()
        found = 0
        while found < count:
            run_ = run(server, folder, "killed")
            most = server.answered + rng.randint(1, max(1, 2 * rows // count))
            done = kill_after(server, run_, most)
            if done:
                break
            found += 1
        code = run(server, folder, "killed").wait()
        same = (folder / "whole.jsonl").read_bytes() == (folder / "killed.jsonl").read_bytes()
        return Killed(found, code, same, sum(server.asked.values()), rows)


def kills(count):
    found = killed(count)
    same = "the same" if found.same else "NOT THE SAME"
    print(f"{found.killed} kills, then exit code {found.code}; the file is {same}")
    print(
        f"{found.requests} requests for {found.rows} rows: {found.again} were under way at a kill"
    )


def run(server, folder, name):
    command = [sys.executable, "-m", "steelyard", "judge", "outputs.jsonl"]
    command += ["--endpoint", server.base, "--model", "m", "--rubric", "brevity.toml"]
    command += ["--cache", f"{name}.cache", "-o", f"{name}.jsonl"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, env=os.environ)


def kill_after(server, running, most):
    """Kill when so many replies were sent; True if the run was over before."""

    def kill():
        if server.answered >= most:
            running.send_signal(signal.SIGKILL)

    server.when_answered = kill
    code = running.wait()
    server.when_answered = lambda: None
    return code == 0


def main(arguments=()):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=["limits", "troubles", "kills", []])
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--kills", type=int, default=20)
    chosen = parser.parse_args(arguments)
    if not chosen.parts or "limits" in chosen.parts:
        limits(chosen.rows or 300)
    if not chosen.parts or "troubles" in chosen.parts:
        troubles(chosen.rows or 60)
    if not chosen.parts or "kills" in chosen.parts:
        kills(chosen.kills)


if __name__ == "__main__":
    main(sys.argv[1:])
