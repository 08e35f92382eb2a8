"""What the results say together: averages over cells, with standard errors, and who is best."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from benchmarks.honesty import paper
from benchmarks.honesty.kinds import BROKEN, KINDS

DEFAULT = "steelyard estimate"
LEVEL, POINT = 0.95, 0.01
# A way that refuses more often is no rival: it answers only where it is easy.
_SELDOM = 0.02
# A draw of few outputs seldom has the tail that decides the mean.
LONG_TAILS = {"skewed", "curved"}
# A way covers if its coverage is not below the level less one point by more than one standard error, if that
# is small enough to say so; it falls short if it is below by more than two.
LEAST, SURE = 0.94, 0.012
FROM = 20
KNOWN_RATERS = {kind.name for kind in KINDS if kind.raters != "unknown"}
_SYSTEMS = {kind.name: kind.systems for kind in (*KINDS, *paper.KINDS)}


@dataclass(frozen=True)
class Average:
    """One way over several cells, each cell counting alike."""

    way: str
    cells: int
    intervals: int
    coverage: float
    coverage_se: float
    width: float
    cost: float
    cost_se: float
    bias: float
    bias_se: float
    refused: float
    worst: tuple  # coverage, its standard error, cell, n

    @property
    def below(self):
        """Whether it falls short."""
        return self.coverage + 2 * self.coverage_se < LEAST


def rows(results, part):
    """Each way in each cell as one flat record."""
    return [
        {name: record[name] for name in ("cell", "n", "who", "runs")} | {"way": way} | counts
        for record in results.of(part)
        for way, counts in record["ways"].items()
    ]


def averages(found, by=lambda row: row["way"]):
    """Averages by a key, of rows that were answered at all."""
    groups = defaultdict(list)
    for row in found:
        groups[by(row)].append(row)
    return {key: average(group) for key, group in groups.items()}


def average(group):
    known = [row for row in group if "coverage" in row]
    refused = float(np.mean([row["refused"] for row in group]))
    if not known:
        return None

    def mean(name):
        return float(np.mean([row[name] for row in known]))

    def error(name):
        return float(np.sqrt(np.sum([row[name] ** 2 for row in known])) / len(known))

    low = min(known, key=lambda row: row["coverage"])
    return Average(
        way=known[0]["way"],
        cells=len(known),
        intervals=round(
            sum(row["runs"] * _SYSTEMS[row["cell"]] * (1 - row["refused"]) for row in known)
        ),
        coverage=mean("coverage"),
        coverage_se=error("coverage_se"),
        width=mean("width_ratio"),
        cost=mean("cost"),
        cost_se=error("cost_se"),
        bias=mean("bias"),
        bias_se=error("bias_se"),
        refused=refused,
        worst=(low["coverage"], low["coverage_se"], low["cell"], low["n"]),
    )


def kept(found, least=FROM):
    """Rows of kinds that keep what the intervals assume, from so many judgments on."""
    return [row for row in found if row["cell"] not in BROKEN and row["n"] >= least]


def alike(found, least=FROM):
    """The same without the kinds whose raters are known, whom most tools cannot see as a sample."""
    return [row for row in kept(found, least) if row["cell"] not in KNOWN_RATERS]


def common(found):
    """Rows of the cells that every contestant has, so that all are averaged over the same draws."""
    every = {row["who"] for row in found}
    seen = defaultdict(set)
    for row in found:
        seen[row["cell"], row["n"]].add(row["who"])
    return [row for row in found if seen[row["cell"], row["n"]] == every]


def off(rows):
    """Rows of the default whose coverage is below, and above, the level by more than a point and two standard errors."""
    below = [row for row in rows if row["coverage"] + 2 * row["coverage_se"] < LEVEL - POINT]
    above = [row for row in rows if row["coverage"] - 2 * row["coverage_se"] > LEVEL + POINT]
    return below, above


def default_rows(found, least=FROM):
    return [row for row in kept(found, least) if row["way"] == DEFAULT and "coverage" in row]


def best_peer(rows, kind):
    """The narrowest way of another tool that covers in a kind, on average and short in no cell; or None."""
    own = [row for row in rows if row["cell"] == kind and not row["way"].startswith("steelyard")]
    short = {row["way"] for row in own if (one := average([row])) is None or one.below}
    known = {
        way: one
        for way, one in averages(own).items()
        if one and one.coverage_se <= SURE and one.refused <= _SELDOM
    }
    able = [one for way, one in known.items() if way not in short and one.coverage >= LEAST]
    return min(able, key=lambda one: one.width, default=None)
