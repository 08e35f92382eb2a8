"""`score` killed, on a full disk, with a clock that jumps, and every command into a full device."""

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
from benchmarks.faults.spoilt_files import in_lines, rows

_ROWS = 6_000
# Let the clock jump by up to ten years, back and forth, at every look, then run the command.
JUMPING = """
import random, sys, time
rng, real, real_ns = random.Random(3), time.time, time.time_ns
def jump():
    return rng.choice((-3.2e8, -86400.0, -1.0, 0.0, 60.0, 86400.0, 3.2e8))
time.time = lambda: real() + jump()
time.time_ns = lambda: real_ns() + int(1e9 * jump())
from steelyard.cli import main
main(sys.argv[1:])
"""


def texts(path, count=_ROWS):
    table = [
        {
            "item": f"i{n}",
            "system": "a",
            "output": f"word {n} of the text",
            "reference": f"text {n}",
        }
        for n in range(count)
    ]
    path.write_bytes(in_lines(table))


def scoring(source, target):
    return ["score", str(source), "--metric", "rouge-l", "--metric", "ter", "-o", str(target)]


def quietly(command, **options):
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment(), **options
    )


def killed_score(times):
    """Kill `score` after a random time, again and again, then let it end."""
    rng = random.Random(4)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, target, whole = (folder / one for one in ("t.jsonl", "killed.jsonl", "whole.jsonl"))
        texts(source)
        start = time.perf_counter()
        quietly([*STEELYARD, *scoring(source, whole)])
        took = time.perf_counter() - start
        killed, wrong = 0, 0
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
                killed += 1
                wrong += target.exists() and target.read_bytes() != whole.read_bytes()
        last = quietly([*STEELYARD, *scoring(source, target)])
        same = target.exists() and target.read_bytes() == whole.read_bytes()
    seen = f"{killed} runs were killed under way; the file is {'the same, byte for byte' if same else 'another'}"
    return Outcome(times, wrong + (last.returncode != 0), 0 if same else _ROWS, _ROWS, "rows", seen)


def full_disk_score(times):
    """Score onto a disk that is too small, make room, score again."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, whole = folder / "t.jsonl", folder / "whole.jsonl"
        texts(source)
        quietly([*STEELYARD, *scoring(source, whole)])
        given = scoring(source, folder / "disk" / "s.jsonl")
        return _full_disk(times, folder, given, whole.read_bytes(), _ROWS)


def _full_disk(times, folder, given, whole, count, *, most=1.9):
    """Give a command with its result on disks of random sizes; then with room, the same command again."""
    if not small_disk_possible():
        return None
    rng, wrong, lost, failed = random.Random(5), 0, 0, 0
    disk, copy, target = folder / "disk", folder / "copy", Path(given[-1])
    disk.mkdir()
    command = " ".join([sys.executable, "-m", "steelyard", *given])
    script = (
        f"{command} 2>'{folder}/said'; echo $? >'{folder}/code'; ls '{disk}' >'{folder}/seen'\n"
        f"room 64m; {command} && cp '{target}' '{copy}'\n"
    )
    for _ in range(times):
        copy.unlink(missing_ok=True)
        size = f"{rng.randint(8, int(most * len(whole) / 1000))}k"
        on_small_disk(disk, size, script, env=environment(), stderr=subprocess.DEVNULL).wait(600)
        if (folder / "code").read_text().strip() != "0":
            failed += 1
            half = target.name in (folder / "seen").read_text().split()
            wrong += half or not one_line((folder / "said").read_text())
        lost += 0 if copy.exists() and copy.read_bytes() == whole else count
    seen = f"{failed} runs found no room: one line, no half file; with room the same command gave the same bytes"
    return Outcome(times, wrong, lost, times * count, "rows", seen)


def jumping_score(times):
    """Score with a clock that jumps."""
    wrong = lost = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, whole, target = (folder / one for one in ("t.jsonl", "whole.jsonl", "s.jsonl"))
        texts(source)
        quietly([*STEELYARD, *scoring(source, whole)])
        for _ in range(times):
            done = quietly([sys.executable, "-c", JUMPING, *scoring(source, target)])
            wrong += done.returncode != 0
            lost += 0 if target.exists() and target.read_bytes() == whole.read_bytes() else _ROWS
            target.unlink(missing_ok=True)
    return Outcome(times, wrong, lost, times * _ROWS, "rows", "the same bytes as with a good clock")


def full_device(_times):
    """Let every command that prints or writes do so into /dev/full."""
    device = Path("/dev/full")
    if not device.exists():
        return None
    wrong, first, commands = 0, "", []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        outputs, judgments = folder / "o.jsonl", folder / "j.jsonl"
        for path, table in zip((outputs, judgments), rows(), strict=True):
            path.write_bytes(in_lines(table))
        before = [path.read_bytes() for path in (outputs, judgments)]
        both = [str(outputs), str(judgments)]
        for verb in ("check", "estimate", "compare", "diagnose"):
            commands += [[verb, *both], [verb, *both, "--json"]]
        for verb in ("estimate", "compare", "report"):
            commands.append([verb, *both, "-o", str(device)])
        commands.append(["sample", str(outputs), "-n", "5", "--seed", "1", "-o", str(device)])
        for command in commands:
            with device.open("w") as full:
                done = subprocess.run(
                    [*STEELYARD, *command],
                    stdout=full,
                    stderr=subprocess.PIPE,
                    text=True,
                    check=False,
                    env=environment(),
                )
            if done.returncode == 0 or not one_line(done.stderr):
                wrong += 1
                first = (
                    first or f"{command[0]}: exit {done.returncode}: {done.stderr.strip()[-120:]}"
                )
        changed = sum(
            path.read_bytes() != content
            for path, content in zip((outputs, judgments), before, strict=True)
        )
    seen = "every command ended with one line and not with exit code 0"
    return Outcome(len(commands), wrong, changed, 2, "inputs", first or seen)


TRIALS = {
    ("score", "kill"): killed_score,
    ("score", "full disk"): full_disk_score,
    ("score", "clock jumps"): jumping_score,
    ("all commands", "full device"): full_device,
}
