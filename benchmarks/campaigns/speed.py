"""``python -m benchmarks.campaigns speed``: processor time and peak memory of `estimate` and `compare`, old beside new.

Each measurement is a fresh process in the environment as it is, with all threads that it allows. The least of two
counts, or the only one of a long one. Seconds are those of all processors, which other work on the machine hardly lengthens.
Memory is the most that the process held, with its libraries.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.campaigns.command import Page
from benchmarks.campaigns.trees import HERE, checked_package, checked_tree

_RUNNER = Path(__file__).with_name("speed_runner.py")
_BOTH = ("estimate", "compare")
# What is asked of it, the most seconds of all questions together, and the most megabytes.
SIZES = {
    "25 systems": (
        {"systems": 25, "items": 1_000, "metrics": 30, "judged": 120, "questions": _BOTH},
        1.5,
        400,
    ),
    "100,000 judgments": (
        {"systems": 25, "items": 5_000, "metrics": 30, "judged": 4_000, "raters": 200}
        | {"questions": _BOTH},
        20,
        None,
    ),
    "2,000 systems": (
        {"systems": 2_000, "items": 12, "metrics": 1, "judged": 12, "questions": ("estimate",)},
        10,
        None,
    ),
    "six prompts": (
        {"systems": 36, "items": 300, "metrics": 5, "judged": 30, "prompts": 6}
        | {"questions": ("compare",)},
        5,
        None,
    ),
    "ten million": (
        {"systems": 1, "items": 10**7, "metrics": 3, "judged": 1_000, "questions": ("estimate",)},
        None,
        None,
    ),
}
_SMALL = {"systems": 5, "items": 1_000, "metrics": 6, "judged": 100, "questions": _BOTH}
GROWTH = {
    "judged": ("judgments of each of 5 systems", (100, 200, 400, 800)),
    "systems": ("systems with 100 judgments each", (5, 10, 20, 40)),
}


def measured(tree, asked):
    """What the process of a tree measured."""
    done = subprocess.run(
        [sys.executable, "-P", _RUNNER, json.dumps(asked)],
        env=os.environ | {"PYTHONPATH": str(tree)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return {"refused": f"the process ended with {done.returncode}"}
    found = json.loads(done.stdout)
    checked_package(found["package"], tree)
    return found


def _line(name, who, found, limits=(None, None)):
    if "refused" in found:
        return f"| {name} | {who} | | | | | | | **{found['refused']}** |", True
    seconds = found["seconds"]
    total = sum(value for question, value in seconds.items() if question != "read")
    missed = [
        f"above {most:g} {unit}"
        for value, most, unit in zip(
            (total, found["megabytes"]), limits, ("seconds", "megabytes"), strict=True
        )
        if most is not None and value > most
    ]
    times = [f"{seconds[one]:.2f}" if one in seconds else "" for one in ("read", *_BOTH)]
    mark = f"**{'; '.join(missed)}**" if missed else ""
    most = f"{found['processor']:.2f}", f"{found['megabytes']:.0f}"
    words = [name, who, *times, f"{total:.2f}", *most, mark]
    return "| " + " | ".join(words) + " |", bool(missed)


def main(given):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaigns speed")
    parser.add_argument("--old", type=checked_tree, required=True, metavar="SRC")
    parser.add_argument("--new", type=checked_tree, default=HERE, metavar="SRC")
    known = (*SIZES, *GROWTH)
    parser.add_argument("--sizes", nargs="+", choices=known, default=known)
    parser.add_argument("-o", "--output", type=Path, help="write the table here too")
    asked = parser.parse_args(given)
    page = Page(asked.output)
    trees = {"old": asked.old, "new": asked.new}
    page.say(
        "| campaign | who | read | estimate | compare | both | processor | megabytes | misses |"
    )
    page.say("| --- " * 9 + "|")
    missed = False
    for name in asked.sizes:
        if name in SIZES:
            job, *limits = SIZES[name]
            for who, tree in trees.items():
                words, above = _line(name, who, measured(tree, job), limits)
                page.say(words)
                missed |= above and who == "new"
    for name in asked.sizes:
        if name in GROWTH:
            _say_growth(page, trees, name)
    return int(missed)


def _say_growth(page, trees, name):
    """Print times as a size grows, and the power of the size that processor seconds grow with at the end."""
    what, sizes = GROWTH[name]
    spent = {who: [] for who in trees}
    for size in sizes:
        for who, tree in trees.items():
            found = measured(tree, _SMALL | {name: size})
            page.say(_line(f"{size} {what}", who, found)[0])
            spent[who].append(found.get("processor", np.nan))
    for who, seconds in spent.items():
        power = np.log(seconds[-1] / seconds[-2]) / np.log(sizes[-1] / sizes[-2])
        page.say(f"| {what} | {who} | | | | | | | grows with power {power:.1f} |")
