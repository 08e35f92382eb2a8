"""Races against fixed designs: who wins wrongly, what a decision costs, and what it must cost.

Usage: ``python -m benchmarks.races [RUNS [SYSTEMS [GAP]]]``: RUNS campaigns of each kind, 100 by default; all kinds, or those of so many
systems and of this gap. One line for each number of systems, shape and gap: the share of campaigns in which the best system was ever let go, the share that decided,
judgments, and judgments over those of a fixed design that decides as often: in 80%, in 95% and in all campaigns that the race
decides. For the first two the race has a budget, too: it is broken off after the item at which this share was decided. In the
fixed design all systems are judged on the same n items and the leader must beat all others by paired t tests at alpha/(K-1); n is the
smallest that decides in this share. The last column is judgments over a bound that no race can beat which is valid for all scores of this range.
``python -m benchmarks.races RUNS claims`` counts the campaigns in which a race for the order, or for differences, ever said something false.
"""

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from steelyard.design.race import Race, RaceGoal, RaceOptions
from steelyard.design.race.fixed_design import fixed_decisions
from steelyard.study.race_replay import false_claims

Floats = NDArray[np.float64]

_ITEMS = 1000
_SHARED = 0.4
_ALPHA = 0.05
_CHUNK = 25
GRID = np.unique(np.geomspace(4, _ITEMS - 1, 60).astype(int))


@dataclass(frozen=True)
class Kind:
    """One kind of campaign: gap and margin are in standard deviations, `spread`, of a score."""

    systems: int
    shape: str
    gap: float
    spread: float
    margin: float | None = None
    method: str = "betting"

    @property
    def means(self) -> Floats:
        """The best first; "ladder" has each a gap below the one before, at most to 0.1."""
        steps = np.arange(self.systems) if self.shape == "ladder" else np.arange(self.systems) > 0
        return np.asarray(np.maximum(0.75 - self.gap * self.spread * steps, 0.1))


@dataclass(frozen=True)
class Outcome:
    """What came of campaigns of one kind; one entry each."""

    wrong: NDArray[np.bool_]
    decided: NDArray[np.bool_]
    judgments: Floats
    fixed: NDArray[np.bool_]
    far: NDArray[np.bool_]
    ended: NDArray[np.int64]
    stops: NDArray[np.int64]


def pools(rng: np.random.Generator, kind: Kind, runs: int) -> Floats:
    """Return pools of scores in random order, (R, N, K)."""
    item = np.sqrt(_SHARED) * rng.standard_normal((runs, _ITEMS, 1))
    own = np.sqrt(1 - _SHARED) * rng.standard_normal((runs, _ITEMS, kind.systems))
    return np.asarray(np.clip(kind.means + kind.spread * (item + own), 0, 1))


def raced(scores: Floats, kind: Kind) -> Outcome:
    """Race over pools, and look at fixed designs of every size on the grid."""
    runs, items, systems = scores.shape
    apart = items * (1 - np.eye(systems, dtype=np.int64))
    margin = None if kind.margin is None else kind.margin * kind.spread
    options = RaceOptions(margin=margin, level=1 - _ALPHA, method=kind.method)  # type: ignore[arg-type]
    race = Race(apart, items, options, runs=runs)
    judgments = np.zeros(runs)
    for place in range(items):
        if not race.running.any():
            break
        judgments += (race.inside & race.running[:, np.newaxis]).sum(axis=1)
        race.judge(scores[:, place])
    means = scores.mean(axis=1)
    best = means.argmax(axis=1)
    named = means[np.arange(runs), race.winner]
    far = ~race.running & (means.max(axis=1) - named > (margin or 0) + 1e-12)
    fixed = fixed_decisions(scores, GRID.tolist(), RaceOptions(level=1 - _ALPHA))
    wrong = race.out_at[np.arange(runs), best] > 0
    ended = np.where(race.running, items, race.decided_at)
    stops = np.where(race.out_at > 0, race.out_at, ended[:, np.newaxis])
    return Outcome(wrong, ~race.running, judgments, fixed, far, ended, stops)


def outcome(kind: Kind, runs: int, *, seed: int = 0) -> Outcome:
    """Run campaigns of one kind, a few at a time."""
    rng = np.random.default_rng([seed, kind.systems, round(100 * kind.gap), len(kind.shape)])
    parts = []
    for start in range(0, runs, _CHUNK):
        scores = pools(rng, kind, min(_CHUNK, runs - start))
        parts.append(raced(scores, kind))
    names = ("wrong", "decided", "judgments", "fixed", "far", "ended", "stops")
    return Outcome(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def fixed_judgments(found: Outcome, systems: int, share: float = 1.0) -> float | None:
    """Return the judgments of the smallest fixed design that decides in a share of those that the race decides."""
    enough = np.flatnonzero(found.fixed.mean(axis=0) >= share * found.decided.mean())
    return float(GRID[enough[0]] * systems) if len(enough) else None


def race_judgments(found: Outcome, share: float = 1.0) -> float:
    """Return the mean judgments of a race that is broken off when this share is decided."""
    ended = np.sort(np.where(found.decided, found.ended, _ITEMS))
    budget = (
        ended[int(np.ceil(share * found.decided.mean() * len(ended))) - 1] if share < 1 else _ITEMS
    )
    return float(np.minimum(found.stops, budget).sum(axis=1).mean())


def least_judgments(kind: Kind, *, seed: int = 0) -> float:
    """Return the mean judgments that every valid race needs, of draws with replacement.

    To let system a go wrongly in at most alpha of campaigns takes log(1/alpha)/D items on average, where D is the
    least Kullback-Leibler divergence from the scores to any scores of the same range whose best system is a: by duality, the
    greatest growth of a bet on the best system against a. The best is judged as long as the last of the others.
    """
    scores = pools(np.random.default_rng([seed, 1]), kind, 20).reshape(-1, kind.systems)
    bets = np.linspace(0, 1, 101)[:-1]
    items = [
        -np.log(_ALPHA) / max(np.log1p(bet * (scores[:, 0] - other)).mean() for bet in bets)
        for other in scores[:, 1:].T
    ]
    return float(np.sum(items) + np.max(items))


def kinds() -> list[Kind]:
    """Return all kinds of campaigns."""
    found = []
    for spread in (0.12, 0.25):
        for systems in (2, 5, 10, 25):
            for shape in ("one ahead", "ladder"):
                gaps = (0.1, 0.2, 0.5, 1.0, 2.0)
                found += [Kind(systems, shape, gap, spread) for gap in gaps]
            found += [Kind(systems, "one ahead", 0.0, spread, margin) for margin in (None, 0.25)]
    return found


def claims(kind: Kind, goal: RaceGoal, runs: int, *, seed: int = 0) -> tuple[int, int, float]:
    """Return the campaigns that ever said something false, those decided, and the mean judgments."""
    rng = np.random.default_rng([seed, kind.systems, round(100 * kind.gap), len(kind.shape)])
    margin = None if kind.margin is None else kind.margin * kind.spread
    options = RaceOptions(goal=goal, margin=margin, level=1 - _ALPHA)
    false = decided = 0
    judgments = 0.0
    for start in range(0, runs, _CHUNK):
        scores = pools(rng, kind, min(_CHUNK, runs - start))
        apart = _ITEMS * (1 - np.eye(kind.systems, dtype=np.int64))
        race = Race(apart, _ITEMS, options, runs=len(scores))
        for place in range(_ITEMS):
            if not race.running.any():
                break
            judgments += float((race.inside & race.running[:, np.newaxis]).sum())
            race.judge(scores[:, place])
        false += int(false_claims(race, scores.mean(axis=1)).sum())
        decided += int((~race.running).sum())
    return false, decided, judgments / runs


def _claims_table(runs: int) -> None:
    print(
        "| spread | systems | shape | gap | goal | campaigns with a false claim | decided | judgments |"
    )
    print("|" + "---|" * 8)
    goals: list[tuple[RaceGoal, float | None]] = [("order", None), ("difference", 0.25)]
    for spread in (0.12, 0.25):
        for systems in (2, 5, 10):
            for shape, gap in (("one ahead", 0.0), ("ladder", 0.1), ("ladder", 0.25)):
                for goal, margin in goals:
                    kind = Kind(systems, shape, gap, spread, margin)
                    false, decided, judgments = claims(kind, goal, runs)
                    named = goal if margin is None else f"{goal}={margin:g}"
                    cells = [
                        spread,
                        systems,
                        shape,
                        gap,
                        named,
                        false,
                        decided,
                        f"{judgments:,.0f}",
                    ]
                    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def _line(kind: Kind, runs: int) -> str:
    found = outcome(kind, runs)
    share = found.wrong if kind.margin is None else found.far
    cells = [
        f"{kind.spread:g}",
        str(kind.systems),
        kind.shape,
        f"{kind.gap:g}",
        "" if kind.margin is None else f"{kind.margin:g}",
        f"{share.sum()} of {len(share)}",
        f"{found.decided.mean():.0%}",
        f"{found.judgments.mean():,.0f}",
    ]
    for part in (0.8, 0.95, 1.0):
        fixed = None if kind.gap == 0 else fixed_judgments(found, kind.systems, part)
        cells.append("" if fixed is None else f"{race_judgments(found, part) / fixed:.2f}")
    least = None if kind.gap == 0 else least_judgments(kind)
    cells.append("" if least is None else f"{found.judgments.mean() / least:.2f}")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print one line for each kind."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    chosen = sys.argv[2:]
    if chosen == ["claims"]:
        _claims_table(runs)
        return
    print(
        "| spread | systems | shape | gap | margin | best let go | decided | judgments "
        "| of fixed, 80% | 95% | all | over the bound |"
    )
    print("|" + "---|" * 12)
    for kind in kinds():
        if [str(kind.systems), f"{kind.gap:g}"][: len(chosen)] != chosen:
            continue
        print(_line(kind, runs), flush=True)


if __name__ == "__main__":
    main()
