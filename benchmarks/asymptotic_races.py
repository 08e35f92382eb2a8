"""The asymptotic race: from how many items on it may speak, and where it is shorter than the exact one.

``python -m benchmarks.asymptotic_races`` prints two tables. In the first, systems have equal means in the pool, and the first system
is let go by mistake at some look; the race may speak from 50, 30 or 20 items on. The second has judgments until decided, exact and asymptotic.
"""

import numpy as np
from steelyard.design.race import Race, RaceOptions, accounts

from benchmarks.races import Kind, outcome

_ITEMS, _RUNS, _LEFT = 400, 300, 50
STARTS = (50, 30, 20)


def equal_pools(kind, rng):
    """Scores (runs, items, 2) of two systems whose means over the pool are the same."""
    shape = (_RUNS, _ITEMS, 2)
    chance = rng.uniform(size=shape)
    steady = 0.9 + 0.05 * rng.standard_normal(shape)
    scores = {
        "normal": rng.standard_normal(shape),
        "coins": 1.0 * (chance < 0.5),
        "squared exponential": rng.exponential(size=shape) ** 2,
        "events of 5%": 1.0 * (chance < 0.05),
        "the other fails in 10%": np.where([False, True], 1.0 * (chance >= 0.1), steady),
        "the first fails in 10%": np.where([True, False], 1.0 * (chance >= 0.1), steady),
    }[kind]
    return scores - scores.mean(axis=1, keepdims=True)


KINDS = (
    "normal",
    "coins",
    "squared exponential",
    "events of 5%",
    "the other fails in 10%",
    "the first fails in 10%",
)


def ever_let_go(kind, start, *, seed=5):
    """The share of campaigns in which the first of two equal systems is let go at some look."""
    scores = equal_pools(kind, np.random.default_rng(seed))
    before, accounts.LEAST_ITEMS = accounts.LEAST_ITEMS, start
    try:
        options = RaceOptions(method="asymptotic", bounds=None)
        race = Race(_ITEMS * (1 - np.eye(2, dtype=np.int64)), _ITEMS, options, runs=_RUNS)
        ever = np.zeros(_RUNS, dtype=bool)
        for place in range(_ITEMS - _LEFT):
            race.judge(scores[:, place])
            ever |= race.out_at[:, 0] > 0
            # nobody leaves, so that every look counts
            race.inside[:], race.decided_at[:] = True, 0
    finally:
        accounts.LEAST_ITEMS = before
    return float(ever.mean())


def judgments(spread, gap, method):
    kind = Kind(5, "one ahead", gap, spread, method=method)
    return float(outcome(kind, 100).judgments.mean())


def main():
    print("| scores | " + " | ".join(f"from {start} items" for start in STARTS) + " |")
    print("|---|" + "---|" * len(STARTS))
    for kind in KINDS:
        shares = " | ".join(f"{100 * ever_let_go(kind, start):.1f}%" for start in STARTS)
        print(f"| {kind} | {shares} |", flush=True)
    gaps = (0.5, 1.0, 2.0)
    names = [f"gap {gap:g}: {way}" for gap in gaps for way in ("exact", "asymptotic")]
    print("\n| standard deviation, of the range | " + " | ".join(names) + " |")
    print("|---|" + "---|" * len(names))
    for spread in (0.05, 0.12, 0.25):
        found = [judgments(spread, g, way) for g in gaps for way in ("betting", "asymptotic")]
        print(f"| {spread} | " + " | ".join(f"{one:.0f}" for one in found) + " |", flush=True)


if __name__ == "__main__":
    main()
