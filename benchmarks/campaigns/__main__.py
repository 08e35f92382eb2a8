"""``python -m benchmarks.campaigns``: see the package."""

import sys
from itertools import product

from benchmarks.campaigns import choices, direct, released, speed, table, worlds
from benchmarks.campaigns.command import Page, lanes, parser_of, replayed
from benchmarks.campaigns.targets import misses


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
    if any(kind.startswith("version-") for kind in found.kinds):
        if min(found.k) < 2:
            parser.error("version- kinds have an older system and a new one: give --k 2 or more")
        if found.pool < worlds.OLDER:
            parser.error(f"version- kinds need a pool of {worlds.OLDER} items or more (--pool)")
    return found


def cells(asked):
    """The cells that are asked for, kind by kind."""
    numbers = asked.kinds, asked.k, asked.n, asked.p, asked.same, asked.raters, asked.equal
    for kind, k, n, p, same, raters, equal in product(*numbers):
        yield worlds.Cell(kind, k, n, p, bool(same), raters, bool(equal), asked.pool)


def main(given):
    others = {
        "paper": released.main,
        "speed": speed.main,
        "direct": direct.main,
        "choices": choices.main,
    }
    if given and given[0] in others:
        return others[given[0]](given[1:])
    asked = arguments(given)
    page = Page(asked.output)
    with lanes(asked) as opened:
        done = replayed(opened, page, cells(asked), asked.reps, misses)
    page.say("\n" + table.summary(done))
    return int(any(missed for *_, missed in done))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
