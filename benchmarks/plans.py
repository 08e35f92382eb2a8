"""Do plans keep their word? How often campaigns that were planned from small pilots reach their goal.

    python -m benchmarks.plans [--kinds KIND ...] [--pilots 15 30 60] [--goals mean pair pairs] [--runs R]

Five systems are judged on the same items of 600 by 20 raters. A replay takes a pilot of P items, every fifth output judged
twice, plans further judgments for a half-width, and makes them. The goal is the half-width that 80% of campaigns of 150 items
reach, so that a plan that knew all would end with about 150. Assured is the share of campaigns with 80% assurance that reached
the goal, expected that of the others; more raters and refused are plans that asked for other raters, or said that nothing reaches it.
"""

import argparse
import time
from dataclasses import replace
from itertools import combinations

import numpy as np

from benchmarks.campaigns.direct import record
from benchmarks.campaigns.worlds import Cell
from steelyard.errors import NotEstimableError
from steelyard.model.designed import answers_of
from steelyard.model.fit import fit
from steelyard.model.imagined import Known
from steelyard.model.intervals import intervals
from steelyard.model.simultaneous import together
from steelyard.questions.cheapest import planned
from steelyard.questions.goals import Goal
from steelyard.questions.prospect import MOST_IMAGINED, Prospect

POOL, SYSTEMS, RATERS, TARGET, ENOUGH = 600, 5, 20, 150, 24
KINDS = (
    *("normal", "binary", "useless", "spreads", "curved", "ceiling", "skewed", "rare"),
    *("taste", "good-judge", "shape-three-levels", "crowd"),
)
PAIRS = list(combinations(range(SYSTEMS), 2))
FORMS = {
    "mean": np.eye(SYSTEMS)[:1],
    "pair": np.eye(SYSTEMS)[:1] - np.eye(SYSTEMS)[1:2],
    "pairs": np.array([np.eye(SYSTEMS)[a] - np.eye(SYSTEMS)[b] for a, b in PAIRS]),
}


class Replay:
    """A world whose every output was judged, of which a campaign sees the first items of an order."""

    def __init__(self, kind, run):
        cell = Cell(kind, k=SYSTEMS, n=POOL, raters=RATERS, pool=POOL)
        self.world = cell.campaign(run)
        self.rank = np.random.default_rng([9, run]).permutation(POOL)[self.world.item]
        output = self.world.system * POOL + self.world.item
        self.first = np.zeros(len(output), dtype=bool)
        self.first[np.unique(output, return_index=True)[1]] = True

    def of(self, kept):
        """The campaign of some judgments."""
        world = self.world
        columns = ("system", "item", "rater", "score")
        return record(replace(world, **{name: getattr(world, name)[kept] for name in columns}))

    def campaign(self, items, pilot=0):
        """Judgments of so many items, of which those of the pilot have second ones."""
        return self.of((self.rank < items) & (self.first | (self.rank < pilot)))

    def prospect(self, pilot):
        """What a plan sees after a pilot."""
        room = pilot + MOST_IMAGINED // SYSTEMS
        kept = (self.rank < room) & (self.first | (self.rank < pilot))
        place = np.maximum(self.rank[kept] - pilot + 1, 0)
        known = Known.of(fit(self.campaign(pilot, pilot)))
        return Prospect(known, self.of(kept), place, POOL - pilot)


def half_width(campaign, goal):
    """The widest half-width of a goal's intervals."""
    found = fit(campaign)
    shown = (together if goal == "pairs" else intervals)(found, answers_of(found), FORMS[goal])
    return float((shown.high - shown.low).max() / 2)


def reachable(kind, goal):
    """The half-width that 80% of campaigns of `TARGET` items reach."""
    found = []
    for run in range(ENOUGH):
        try:
            found.append(half_width(Replay(kind, 1000 + run).campaign(TARGET), goal))
        except NotEstimableError:
            found.append(np.inf)
    return float(np.quantile(found, 0.8))


def measured(kind, pilot, goal, runs, limit):
    """One line: how often goals are reached."""
    reached = {"expected": [], "assured": []}
    items, seconds, refused, more = [], [], 0, 0
    for run in range(runs):
        replay = Replay(kind, run)
        try:
            start = time.process_time()
            prospect = replay.prospect(pilot)
            asked = Goal(goal, FORMS[goal], limit, together=goal == "pairs")
            made = planned(prospect, asked)
            seconds.append(time.process_time() - start)
        except NotEstimableError:
            refused += 1
            continue
        for name, found in reached.items():
            case = getattr(made, name)
            if case is None:
                refused += name == "assured"
            elif case.raters is not None and case.raters > RATERS:
                more += name == "assured"
            else:
                after = replay.campaign(pilot + case.outputs, pilot)
                found.append(half_width(after, goal) <= limit * (1 + 1e-9))
                if name == "assured":
                    items.append(pilot + case.outputs)
    share = {name: np.mean(found) if found else np.nan for name, found in reached.items()}
    error = np.sqrt(0.16 / max(len(reached["assured"]), 1))
    return (
        f"{kind:<20}{pilot:>6} {goal:<6}{limit:>8.3f}{share['assured']:>9.2f}{error:>7.2f}{share['expected']:>9.2f}"
        f"{np.median(items) if items else np.nan:>7.0f}{more:>7d}{refused:>9d}{np.median(seconds):>8.2f}"
    )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    parser.add_argument("--pilots", nargs="+", type=int, default=[15, 30, 60])
    parser.add_argument("--goals", nargs="+", choices=list(FORMS), default=list(FORMS))
    parser.add_argument("--runs", type=int, default=100)
    options = parser.parse_args()
    print(
        f"{'kind':<20}{'pilot':>6} {'goal':<6}{'limit':>8}{'assured':>9}{'error':>7}{'expected':>9}{'items':>7}{'raters':>7}"
        f"{'refused':>9}{'seconds':>8}"
    )
    for kind in options.kinds:
        for goal in options.goals:
            limit = reachable(kind, goal)
            for pilot in options.pilots:
                print(measured(kind, pilot, goal, options.runs, limit), flush=True)


if __name__ == "__main__":
    main()
