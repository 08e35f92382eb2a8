"""``python -m benchmarks.speed``: see the package."""

import argparse
import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from benchmarks.honesty import page
from benchmarks.honesty.__main__ import machine
from benchmarks.honesty.results import FILE, Results
from benchmarks.speed.contests import CONTESTS, US
from benchmarks.speed.servers import SERVERS, load
from steelyard.version import __version__

PART = "speed"
NAMES = (*(contest.name for contest in CONTESTS), *SERVERS)


def arguments(given):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of " + "; ".join(NAMES))
    parser.add_argument("--most", type=int, default=10**8, help="the greatest size")
    parser.add_argument("--again", action="store_true", help="also what the results have")
    parser.add_argument("--results", type=Path, default=FILE)
    found = parser.parse_args(given)
    unknown = set(found.names) - set(NAMES)
    if unknown:
        parser.error(f"no such name: {', '.join(sorted(unknown))}; known are {'; '.join(NAMES)}")
    return found


def run(given):
    """Measure what is asked for and not in the results, then make the page."""
    asked = arguments(given)
    results = Results(asked.results)
    wanted = [
        one
        for one in (*_sizes(asked.most), *_servers())
        if (not asked.names or one[0]["cell"] in asked.names)
        and (asked.again or not results.has(**one[0]))
    ]
    results.put(machine())
    for number, (record, work) in enumerate(wanted, 1):
        found = work()
        results.put(record | found)
        said = ", ".join(f"{value:g} {name}" for name, value in found.items())
        print(
            f"{number} of {len(wanted)}: {record['cell']}, {record['who']}, {record['n']:,}: {said}"
        )
    if asked.results == FILE:
        page.write(results)


def _sizes(most):
    for contest in CONTESTS:
        for size, who in contest.asked():
            if size <= most:
                yield (
                    _record(contest.name, who, size),
                    lambda c=contest, w=who, s=size: _child(c, w, s),
                )


def _servers():
    for name in SERVERS:
        for who in SERVERS[name]:
            yield (
                _record(name, who, SERVERS[name][who].raters),
                lambda n=name, w=who: load(SERVERS[n][w]),
            )


def _record(name, who, size):
    key = {"part": PART, "cell": name, "n": size, "who": who}
    return key | {"runs": 1, "seed": 0, "version": version(who)}


def version(who):
    package = who.split(",")[0]
    if package == US:
        return __version__
    return SERVERS_VERSIONS.get(package) or metadata.version(package)


SERVERS_VERSIONS = {
    who: one.version for by_who in SERVERS.values() for who, one in by_who.items() if one.version
}


def _child(contest, who, size):
    """The measurement in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.speed.child", contest.name, who, str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{contest.name}, {who}, {size:,}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


if __name__ == "__main__":
    run(sys.argv[1:])
