"""``python -m benchmarks.faults``: see the package."""

import argparse
import sys
from pathlib import Path

from benchmarks.faults import files, servers, spoilt_files
from benchmarks.honesty import page
from benchmarks.honesty.__main__ import machine
from benchmarks.honesty.results import FILE, Results
from steelyard.version import __version__

PART = "faults"
TRIALS = spoilt_files.TRIALS | files.TRIALS | servers.TRIALS
SUBJECTS = tuple(dict.fromkeys(subject for subject, _ in TRIALS))
TIMES = 20
# How many times as often as the others: what is quick.
_MORE = {
    ("readers", "spoilt bytes and values in six formats"): 15,
    ("serve", "broken connection"): 4,
    ("serve", "requests nobody thought of"): 10,
}


def arguments(given):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults")
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="of " + ", ".join(SUBJECTS))
    parser.add_argument("--times", type=int, default=TIMES, help="of each fault")
    parser.add_argument("--again", action="store_true", help="also what the results have")
    parser.add_argument("--results", type=Path, default=FILE)
    found = parser.parse_args(given)
    unknown = set(found.subjects) - set(SUBJECTS)
    if unknown:
        parser.error(
            f"no such subject: {', '.join(sorted(unknown))}; known are {', '.join(SUBJECTS)}"
        )
    if found.times < 1:
        parser.error("--times must be at least 1")
    return found


def run(given):
    """Try what is asked for and not in the results, then make the page."""
    asked = arguments(given)
    results = Results(asked.results)
    results.put(machine())
    for (subject, fault), trial in TRIALS.items():
        times = asked.times * _MORE.get((subject, fault), 1)
        key = {"part": PART, "cell": fault, "n": 0, "who": subject}
        key |= {"runs": times, "seed": 0, "version": __version__}
        if (asked.subjects and subject not in asked.subjects) or (
            results.has(**key) and not asked.again
        ):
            continue
        found = trial(times)
        if found is None:
            print(f"{subject}, {fault}: not possible on this machine", flush=True)
            continue
        results.put(key | found.record())
        print(f"{subject}, {fault}: {found}", flush=True)
    if asked.results == FILE:
        page.write(results)


if __name__ == "__main__":
    run(sys.argv[1:])
