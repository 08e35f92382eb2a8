"""`score` killed again and again, and on a full disk."""

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.faults.outcome import (
    STEELYARD,
    Outcome,
    environment,
    on_small_disk,
    one_line,
    small_disk_possible,
)
from benchmarks.faults.spoilt_files import in_lines

_ROWS = 6_000


def scoring(source, target):
    return ["score", str(source), "--metric", "rouge-l", "--metric", "ter", "-o", str(target)]


def run(*given):
    return subprocess.run(
        [*STEELYARD, *given], capture_output=True, text=True, check=False, env=environment()
    )


def whole(folder):
    """Write texts to be scored; return their file, and what an undisturbed run makes of them."""
    source, target = folder / "texts.jsonl", folder / "whole.jsonl"
    texts = (
        {"item": f"i{n}", "output": f"word {n} of the text", "reference": f"text {n}"}
        for n in range(_ROWS)
    )
    source.write_bytes(in_lines({"system": "a"} | row for row in texts))
    run(*scoring(source, target))
    return source, target.read_bytes()


def killed(times):
    """Kill `score` after a random time, again and again, then let it end."""
    rng = random.Random(4)
    with tempfile.TemporaryDirectory() as name:
        folder, start = Path(name), time.perf_counter()
        source, expected = whole(folder)
        took, target = time.perf_counter() - start, folder / "killed.jsonl"
        ends, wrong = 0, 0
        for _ in range(times):
            running = subprocess.Popen(
                [*STEELYARD, *scoring(source, target), "--workers", "1"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment(),
            )
            try:
                running.wait(rng.uniform(0.2, 1.0) * took)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()
                ends += 1
                wrong += target.exists() and target.read_bytes() != expected
        last = run(*scoring(source, target))
        same = target.exists() and target.read_bytes() == expected
    seen = f"{ends} runs were killed under way; the file is {'the same, byte for byte' if same else 'another'}"
    return Outcome(times, wrong + (last.returncode != 0), 0 if same else _ROWS, _ROWS, "rows", seen)


def full_disk(times):
    """Score onto a disk that is too small; make room, and score again."""
    if not small_disk_possible():
        return None
    rng, wrong, lost, failed = random.Random(5), 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, expected = whole(folder)
        disk, copy = folder / "disk", folder / "copy"
        disk.mkdir()
        target = disk / "s.jsonl"
        command = " ".join([sys.executable, "-m", "steelyard", *scoring(source, target)])
        script = (
            f"{command} 2>'{folder}/said'; echo $? >'{folder}/code'; ls '{disk}' >'{folder}/seen'\n"
            f"room 64m; {command} && cp '{target}' '{copy}'\n"
        )
        for _ in range(times):
            copy.unlink(missing_ok=True)
            size = f"{rng.randint(8, int(1.9 * len(expected) / 1000))}k"
            on_small_disk(disk, size, script, env=environment(), stderr=subprocess.DEVNULL).wait(
                600
            )
            if (folder / "code").read_text().strip() != "0":
                failed += 1
                half = target.name in (folder / "seen").read_text().split()
                wrong += half or not one_line((folder / "said").read_text())
            lost += 0 if copy.exists() and copy.read_bytes() == expected else _ROWS
    seen = f"{failed} runs found no room: one line, no half file; with room the same command gave the same bytes"
    return Outcome(times, wrong, lost, times * _ROWS, "rows", seen)


TRIALS = {("score", "kill"): killed, ("score", "full disk"): full_disk}
