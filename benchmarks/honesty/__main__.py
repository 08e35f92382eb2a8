"""``python -m benchmarks.honesty``: see the package."""

import argparse
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from importlib import metadata
from pathlib import Path

from benchmarks.honesty import budget, decisions, means, page, paper, quick, stopping
from benchmarks.honesty.kinds import POOL, SIZES
from benchmarks.honesty.peers import CACHE, PEERS
from benchmarks.honesty.results import FILE, Results
from steelyard.version import __version__

# Replays of a cell by a quick peer; ours are more, those of slow peers fewer.
RUNS = {
    "quick": 16,
    "means": 250,
    "decisions": 100,
    "stopping": 100,
    "paper": 250,
}
PARTS = (*RUNS, "page")


def cells(parts=tuple(RUNS), *, runs=None, sizes=SIZES, peers=PEERS):
    """All cells of some parts, each as a key with the work, whether the results have it or not."""
    made = {
        "quick": quick.cells,
        "means": partial(means.cells, sizes=sizes, peers=peers),
        "decisions": partial(decisions.cells, peers=peers),
        "stopping": partial(stopping.cells, peers=peers),
        "paper": partial(means.cells, part="paper", kinds=paper.KINDS, sizes=sizes, peers=peers),
    }
    return [one for part in parts if part in made for one in made[part](runs or RUNS[part])]


def arguments(given):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.honesty")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--runs", type=int, help="replays of a cell by a quick peer")
    parser.add_argument("--cells", nargs="+", metavar="CELL", help="kinds or contests, by name")
    parser.add_argument("--who", nargs="+", metavar="WHO", help="contestants, by name")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="judgments per system")
    parser.add_argument("--results", type=Path, default=FILE)
    parser.add_argument("--environments", type=Path, default=CACHE, help="folder of the peers")
    parser.add_argument("--workers", type=int, default=2, help="processes at a time")
    parser.add_argument("--no-peers", action="store_true", help="ours only")
    parser.add_argument("--again", action="store_true", help="also what the results have")
    parser.add_argument(
        "--dry-run", action="store_true", help="only print the processor time that is expected"
    )
    found = parser.parse_args(given)
    if (found.runs is not None and found.runs < 2) or found.workers < 1:
        parser.error("--runs must be at least 2 and --workers at least 1")
    if not all(2 <= n < POOL for n in found.sizes):
        parser.error(f"--sizes must be from 2 to {POOL - 1}, as pools have {POOL} outputs")
    if "paper" in (found.parts or PARTS) and max(found.sizes) >= paper.POOL:
        parser.error(f"--sizes must be below {paper.POOL} with the paper's data")
    unknown = set(found.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}; known are {', '.join(PARTS)}")
    return found


def run(given):
    """Run the parts that are asked for."""
    asked = arguments(given)
    results = Results(asked.results)
    parts = asked.parts or PARTS
    if asked.dry_run:
        print(
            *budget.lines(results, [record for record, _ in _cells(parts, asked, PEERS)]), sep="\n"
        )
        return
    if set(parts) - {"page"}:
        measure(parts, results, asked)
    if "page" in parts:
        page.write(results)


def _cells(parts, asked, peers):
    """All cells that are asked for, whether the results have them or not."""
    return [
        (record, work)
        for record, work in cells(parts, runs=asked.runs, sizes=asked.sizes, peers=peers)
        if record["cell"] in (asked.cells or [record["cell"]])
        and record["who"] in (asked.who or [record["who"]])
    ]


def measure(parts, results, asked):
    """Work on every cell that the results do not have."""
    peers = [] if asked.no_peers else installed(asked.environments, asked.who)
    wanted = [
        (record, work)
        for record, work in _cells(parts, asked, peers)
        if asked.again or not results.has(**record)
    ]
    results.put(machine())
    for number, (record, found) in enumerate(budget.worked(wanted, asked.workers), 1):
        results.put(record | found | {"commit": commit()})
        where = ", ".join(str(record[name]) for name in ("part", "who", "cell", "n"))
        print(f"{number} of {len(wanted)}: {where}", flush=True)


def machine():
    """What these results were made on."""
    names = ("numpy", "scipy", "polars")
    return {"part": "machine", "cell": "", "n": 0, "who": "steelyard", "runs": 0, "seed": 0} | {
        "version": __version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "processor": processor(),
        "commit": commit(),
        "packages": {name: metadata.version(name) for name in names},
    }


def commit():
    """The commit of the code that is run, as far as it is known."""
    git = shutil.which("git")
    if git is None:
        return ""
    command = [git, "-C", str(Path(__file__).parent), "rev-parse", "--short=9", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def processor():
    """The processor's name as Linux gives it, or the kind of machine."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def installed(folder, wanted=None):
    """The peers, or those `wanted`, that can be installed; of the others the reason is printed."""
    found = []
    for peer in PEERS:
        if wanted and peer.who not in wanted:
            continue
        one = replace(peer, folder=folder)
        why = one.install()
        if why is None:
            found.append(one)
        else:
            print(f"left out: {peer.package} {peer.version}: {why}")
    return found


if __name__ == "__main__":
    run(sys.argv[1:])
