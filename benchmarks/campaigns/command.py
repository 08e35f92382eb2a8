"""What the commands share: their options, and the table that grows while cells are replayed."""

import argparse
from pathlib import Path

from benchmarks.campaigns import table
from benchmarks.campaigns.replays import Lanes
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


class Page:
    """Lines that are printed, and written to a file so far as they are there."""

    def __init__(self, path=None):
        self._path, self._lines = path, []

    def say(self, words):
        print(words, flush=True)
        self._lines.append(words)
        if self._path is not None:
            self._path.write_text("\n".join(self._lines) + "\n", encoding="utf-8")


def lanes(asked):
    """The processes of both trees that were asked for."""
    trees = {"old": asked.old, "new": asked.new}
    return Lanes(trees, jobs=asked.jobs, level=asked.level)


def replayed(open_lanes, page, cells, reps, misses):
    """Print the table of these cells; give each with its rows and what `misses` finds in them."""
    page.say(table.head())
    done = []
    for cell in cells:
        rows = open_lanes.rows(cell, reps)
        missed = misses(cell, rows)
        page.say(table.lines(cell, rows, missed))
        done.append((cell, rows, missed))
    return done
