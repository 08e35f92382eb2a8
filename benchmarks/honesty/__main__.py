"""``python -m benchmarks.honesty``: see the package."""

import argparse
import os
import platform
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from benchmarks.honesty import decisions, means, page, paper, races, stopping
from benchmarks.honesty.kinds import POOL, SIZES
from benchmarks.honesty.peers import CACHE, PEERS
from benchmarks.honesty.results import FILE, Results
from steelyard.version import __version__

PARTS = ("means", "decisions", "races", "stopping", "paper", "page")
# Replays of a campaign of four systems: the full part, and what is run on a busy machine.
RUNS, QUICK = 100, 40


def arguments(given):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.honesty")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--runs", type=int, default=RUNS, help="replays of a cell")
    parser.add_argument("--quick", action="store_true", help=f"the same as --runs {QUICK}")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="judgments per system")
    parser.add_argument("--results", type=Path, default=FILE)
    parser.add_argument("--environments", type=Path, default=CACHE, help="folder of the peers")
    parser.add_argument("--workers", type=int, default=2, help="processes at a time")
    parser.add_argument("--no-peers", action="store_true", help="ours only")
    found = parser.parse_args(given)
    if found.runs < 2 or found.workers < 1:
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
    runs = QUICK if asked.quick else asked.runs
    results = Results(asked.results)
    parts = asked.parts or PARTS
    if set(parts) - {"page"}:
        measure(parts, results, asked, runs)
    if "page" in parts:
        page.write(results)


def measure(parts, results, asked, runs):
    """Work on every cell that the results do not have."""
    peers = [] if asked.no_peers else installed(asked.environments)
    made = {
        "means": lambda: means.cells(runs, sizes=asked.sizes, peers=peers),
        "decisions": lambda: decisions.cells(runs, peers=peers),
        "races": lambda: races.cells(runs),
        "stopping": lambda: stopping.cells(runs, peers=peers),
        "paper": lambda: means.cells(
            runs, part="paper", kinds=paper.KINDS, sizes=asked.sizes, peers=peers
        ),
    }
    wanted = [
        (record, work)
        for part in parts
        if part in made
        for record, work in made[part]()
        if not results.has(**record)
    ]
    results.put(machine())
    for number, (record, found) in enumerate(worked(wanted, asked.workers), 1):
        results.put(record | found)
        where = ", ".join(str(record[name]) for name in ("part", "who", "cell", "n"))
        print(f"{number} of {len(wanted)}: {where}", flush=True)


def worked(wanted, workers):
    """Yield each record with what was found, in order."""
    if workers == 1:
        yield from ((record, work[0](*work[1:])) for record, work in wanted)
        return
    with ProcessPoolExecutor(workers) as pool:
        found = pool.map(_call, [work for _, work in wanted])
        yield from zip([record for record, _ in wanted], found, strict=True)


def _call(work):
    return work[0](*work[1:])


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


def installed(folder):
    """The peers that can be installed; of the others the reason is printed."""
    found = []
    for peer in PEERS:
        one = replace(peer, folder=folder)
        why = one.install()
        if why is None:
            found.append(one)
        else:
            print(f"left out: {peer.package} {peer.version}: {why}")
    return found


if __name__ == "__main__":
    run(sys.argv[1:])
