"""``python -m benchmarks.campaigns``: see the package."""

import argparse
import sys
from itertools import product
from pathlib import Path

from benchmarks.campaigns import table, worlds
from benchmarks.campaigns.replays import Lanes
from benchmarks.campaigns.targets import misses
from benchmarks.campaigns.trees import HERE, checked_tree


def parser_of(prog, reps):
    """What all commands take."""
    parser = argparse.ArgumentParser(prog=prog)
    parser.add_argument("--old", type=checked_tree, required=True, metavar="SRC")
    parser.add_argument("--new", type=checked_tree, default=HERE, metavar="SRC")
    parser.add_argument("--reps", type=int, default=reps, help="replays of each cell")
    parser.add_argument("--jobs", type=int, default=2, help="campaigns at a time")
    parser.add_argument("--level", type=float, default=0.95)
    parser.add_argument("-o", "--output", type=Path, help="write the table here too")
    return parser


def arguments(given):
    parser = parser_of("python -m benchmarks.campaigns", 60)
    known = ", ".join(worlds.KINDS) + "; version-KIND"
    parser.add_argument("--kinds", nargs="+", default=worlds.SKETCH, metavar="KIND", help=known)
    for name, values, what in (
        ("--k", [5], "systems"),
        ("--n", [10, 30], "judged items"),
        ("--p", [6], "metrics"),
        ("--same", [1, 0], "1: all systems on the same items; 0: each on its own"),
        ("--raters", [8], "raters; 0: unknown, and one judgment of each output"),
        ("--equal", [0], "1: all true means are equal"),
    ):
        parser.add_argument(name, type=int, nargs="+", default=values, help=what)
    parser.add_argument("--pool", type=int, default=300, help="items of the pool")
    found = parser.parse_args(given)
    unknown = [kind for kind in found.kinds if kind not in worlds.NAMES]
    if unknown:
        parser.error(f"no such kind: {', '.join(unknown)}; there are {known}")
    if 1 in found.raters:
        parser.error("--raters 1: a second judgment needs a second rater; give 0, or 2 or more")
    if max(found.n) > found.pool:
        parser.error(f"--n {max(found.n)}: more than the {found.pool} items of the pool (--pool)")
    return found


def cells(asked):
    """The cells that are asked for, kind by kind."""
    numbers = asked.kinds, asked.k, asked.n, asked.p, asked.same, asked.raters, asked.equal
    for kind, k, n, p, same, raters, equal in product(*numbers):
        yield worlds.Cell(kind, k, n, p, bool(same), raters, bool(equal), asked.pool)


def replayed(asked, wanted):
    """Print the table of these cells, and whether all targets are met."""
    done, written = [], []

    def say(words):
        print(words, flush=True)
        written.append(words)
        if asked.output is not None:
            asked.output.write_text("\n".join(written) + "\n", encoding="utf-8")

    say(table.head())
    with Lanes({"old": asked.old, "new": asked.new}, jobs=asked.jobs, level=asked.level) as lanes:
        for cell in wanted:
            rows = lanes.rows(cell, asked.reps)
            missed = misses(cell, rows)
            say(table.lines(cell, rows, missed))
            done.append((cell, rows))
    say("\n" + table.summary(done))
    return not any(misses(cell, rows) for cell, rows in done)


def main(given):
    asked = arguments(given)
    return 0 if replayed(asked, cells(asked)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
