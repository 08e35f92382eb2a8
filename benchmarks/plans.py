"""Do plans keep their word? How often campaigns that were planned from small pilots reach their goal.

    python -m benchmarks.plans [--kinds KIND ...] [--pilots 15 30 60] [--runs R]

Five systems are judged on the same items of 600 by 20 raters. A replay takes a pilot of P items, every fifth output judged
twice, plans further judgments for a half-width, and makes them. The goal is the half-width that 80% of campaigns of 150 items
reach, so that a plan that knew all would end with about 150. Assured is the share of campaigns with 80% assurance that reached
the goal, expected that of the others. A plan for more raters than the 20 is followed in a new campaign of the kind with so many; how many
plans asked for them, and how many said that nothing reaches the goal, is shown.
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
from steelyard.questions.precision import Precision
from steelyard.questions.prospect import MOST_IMAGINED, Further, Prospect

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

    def __init__(self, kind, run, raters=RATERS):
        cell = Cell(kind, k=SYSTEMS, n=POOL, raters=raters, pool=POOL)
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

    def prospect(self, pilot, fitted):
        """What a plan sees after a pilot to which a model was fitted."""
        room = pilot + MOST_IMAGINED // SYSTEMS
        kept = (self.rank < room) & (self.first | (self.rank < pilot))
        place = np.maximum(self.rank[kept] - pilot + 1, 0)
        return Prospect(Known.of(fitted), self.of(kept), place, POOL - pilot)


def half_widths(found):
    """The widest half-width of each goal's intervals."""
    answers = answers_of(found)
    shown = {goal: (together if goal == "pairs" else intervals) for goal in FORMS}
    ends = {goal: how(found, answers, FORMS[goal]) for goal, how in shown.items()}
    return {goal: float((one.high - one.low).max() / 2) for goal, one in ends.items()}


def reachable(kind):
    """The half-widths that 80% of campaigns of `TARGET` items reach."""
    found = []
    for run in range(ENOUGH):
        try:
            found.append(half_widths(fit(Replay(kind, 1000 + run).campaign(TARGET))))
        except NotEstimableError:
            found.append(dict.fromkeys(FORMS, np.inf))
    return {goal: float(np.quantile([one[goal] for one in found], 0.8)) for goal in FORMS}


def asked(goal, limit, prospect, pilot):
    """What a plan is asked for, after a pilot."""
    shown = intervals(pilot, answers_of(pilot), FORMS[goal])
    made = Precision(goal, FORMS[goal], limit, together=goal == "pairs")
    return made.shaped(prospect.after(Further(0)), shown)


def measured(kind, pilot, runs, limits):
    """Lines of one kind and pilot: how often each goal is reached."""
    reached = {(goal, name): [] for goal in FORMS for name in ("expected", "assured")}
    items = {goal: [] for goal in FORMS}
    more, refused = dict.fromkeys(FORMS, 0), dict.fromkeys(FORMS, 0)
    seconds = []
    for run in range(runs):
        replay, after = Replay(kind, run), {}
        start = time.process_time()
        try:
            fitted = fit(replay.campaign(pilot, pilot))
        except NotEstimableError:
            refused = {goal: number + 1 for goal, number in refused.items()}
            continue
        prospect = replay.prospect(pilot, fitted)
        for goal, limit in limits.items():
            made = planned(prospect, asked(goal, limit, prospect, fitted))
            seconds.append(time.process_time() - start)
            for name in ("expected", "assured"):
                case = getattr(made, name)
                if case is None:
                    refused[goal] += name == "assured"
                    continue
                ends, raters = pilot + case.outputs, case.raters or RATERS
                if (ends, raters) not in after:
                    made_of = replay if raters <= RATERS else Replay(kind, 5000 + run, raters)
                    after[ends, raters] = half_widths(fit(made_of.campaign(ends, pilot)))
                reached[goal, name].append(after[ends, raters][goal] <= limit * (1 + 1e-9))
                if name == "assured":
                    more[goal] += raters > RATERS
                    items[goal].append(ends)
            start = time.process_time()
    for goal, limit in limits.items():
        assured, expected = (reached[goal, name] or [np.nan] for name in ("assured", "expected"))
        error = np.sqrt(0.16 / len(assured))
        yield (
            f"{kind:<20}{pilot:>6} {goal:<6}{limit:>8.3f}{np.mean(assured):>9.2f}{error:>7.2f}"
            f"{np.mean(expected):>9.2f}{np.median(items[goal] or [np.nan]):>7.0f}{more[goal]:>7d}"
            f"{refused[goal]:>9d}{np.median(seconds or [np.nan]):>8.2f}"
        )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    parser.add_argument("--pilots", nargs="+", type=int, default=[15, 30, 60])
    parser.add_argument("--runs", type=int, default=100)
    options = parser.parse_args()
    print(
        f"{'kind':<20}{'pilot':>6} {'goal':<6}{'limit':>8}{'assured':>9}{'error':>7}{'expected':>9}{'items':>7}{'raters':>7}"
        f"{'refused':>9}{'seconds':>8}"
    )
    for kind in options.kinds:
        limits = reachable(kind)
        for pilot in options.pilots:
            for line in measured(kind, pilot, options.runs, limits):
                print(line, flush=True)


if __name__ == "__main__":
    main()
