"""Looks at campaigns under way: what is missed, decided and saved, beside one look and a fixed plan.

Usage: ``python -m benchmarks.looks [RUNS [old=SRC]]``: RUNS campaigns of each kind, 40 by default. Three tables:

- Looks from the tenth judged item on, at every item up to 20 and at every tenth percent after that, to 400 items of two systems whose means
  are equal: the share of means, and of differences, that an interval ever misses; the share of pairs ever decided; half-widths at 400
  over those of one look. With 400 planned, and without a plan. "one look" shows what naive looks at 10, 20, 40, ... 400 would miss.
- Judgments until the best of 2, 5 and 10 systems is known, over those of the fixed number of items that decides as often (80% of
  campaigns, all pairs together at one look); with ``old=SRC`` the betting races of that source tree on the same scores.
- Seconds of a look at 3,000 judgments of 10 systems, and of 200 replays of a campaign of three systems, with looks at every tenth of 200 outputs.
"""

import os
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.campaigns.worlds import Cell
from steelyard.campaign.part import part_of
from steelyard.errors import NotEstimableError
from steelyard.model.anytime import looks_at, same_variances
from steelyard.model.campaign import Campaign, Pools
from steelyard.model.fit import fit
from steelyard.model.intervals import intervals
from steelyard.model.simultaneous import together
from steelyard.study import Study

KINDS = (
    *("normal", "binary", "rare", "skewed", "ceiling", "useless", "shape-skewed"),
    *("shape-ceiling", "shares-ceiling"),
)
LAST = 400
POOL = 1000
RACES = (
    *((2, "ahead", 0.3), (2, "ahead", 0.6), (5, "ahead", 0.3), (5, "ladder", 0.3)),
    (10, "ladder", 0.2),
)
# Looks of a race: each after about 3% more items, as the old races looked after every item.
LOOKS = 150
SPREAD, SHARED = 0.2, 0.4


def main(runs=40, old=None):
    print(
        f"{'kind':16}{'one look':>9}{'planned: missed':>17}{'pair':>6}{'decided':>9}{'width':>7}"
        f"{'no plan: missed':>17}{'pair':>6}{'decided':>9}{'width':>7}{'seconds':>9}"
    )
    for kind in KINDS:
        print(
            looked(Cell(kind, k=2, n=LAST, p=3, pool=POOL, raters=0, equal=True), runs), flush=True
        )
    print(f"\n{'race':16}{'fixed':>7}{'without plan':>14}{'planned':>9}{'old':>7}{'wrong':>7}")
    for race in RACES:
        print(raced(*race, max(runs // 2, 8), old), flush=True)
    print(speed())
    print(replayed())


def times():
    """After how many items is looked."""
    found = list(range(10, 21))
    while found[-1] < LAST:
        found.append(min(max(found[-1] + 1, int(found[-1] * 1.1)), LAST))
    return found


def numbered(world):
    """A campaign of the worlds as the model takes it, and the place of each judgment in the draw."""
    k, size, p = world.metrics.shape
    first = {int(one): place for place, one in enumerate(dict.fromkeys(world.item.tolist()))}
    place = np.array([first[int(one)] for one in world.item])
    order = np.lexsort((world.system, place))
    item, system = world.item[order], world.system[order]
    key, output = np.unique(np.stack([item, system], 1), axis=0, return_inverse=True)
    covariance = np.array([np.cov(one.T, bias=True).reshape(p, p) for one in world.metrics])
    items, number = np.unique(key[:, 0], return_inverse=True)
    rater = None if world.rater is None else world.rater[order]
    pools = Pools.apart(
        np.full(k, size), world.metrics.mean(1), covariance, np.full((k, k), float(size))
    )
    found = Campaign(
        systems=tuple(f"s{one}" for one in range(k)),
        metrics=tuple(f"m{one}" for one in range(p)),
        score=world.score[order].astype(float),
        output=output.ravel(),
        item=number,
        writers=np.eye(k)[key[:, 1]],
        metric=world.metrics[key[:, 1], key[:, 0]],
        pools=pools,
        in_pool=np.ones((len(items), k), dtype=bool),
        rater=rater,
    )
    return found, place[order]


def models(campaign, place, at):
    """The model at each look; variances are learned again after a quarter more judgments."""
    near = None
    for n in at:
        part = part_of(campaign, place < n)
        known = None
        if near is not None and part.n < 1.25 * near.campaign.n:
            known = same_variances(near, part)
        if known is None:
            try:
                known = near = fit(part)
            except NotEstimableError:
                continue
        yield n, known


def looked(cell, runs):
    """One line of the first table."""
    start, k = time.process_time(), cell.k
    means, pair = np.eye(k), np.array([[1.0, -1.0]])
    ways = {"planned": lambda n: np.full(k, n / LAST), "none": lambda _: None}
    missed, apart = dict.fromkeys((*ways, "once"), 0), dict.fromkeys(ways, 0)
    decided, width = dict.fromkeys(ways, 0), {way: [] for way in ways}
    for run in range(runs):
        world = cell.campaign(run)
        campaign, place = numbered(world)
        ever = {way: np.zeros(k, dtype=bool) for way in missed}
        pairs, told = dict.fromkeys(ways, False), dict.fromkeys(ways, False)
        for n, found in models(campaign, place, times()):
            answers = found.answers()
            once = intervals(found, answers, means)
            if n in {10, 20, 40, LAST} or n % 80 < n * 0.1:
                ever["once"] |= _misses(once, world.truth)
            for way, share in ways.items():
                looks = looks_at(found, answers, means, share(n))
                shown = intervals(found, answers, means, 0.95, looks)
                ever[way] |= _misses(shown, world.truth)
                looks = looks_at(found, answers, pair, share(n))
                both = together(found, answers, pair, 0.95, looks)
                told[way] |= bool(both.decided[0])
                truth = world.truth[0] - world.truth[1]
                pairs[way] |= not both.low[0] - 1e-9 <= truth <= both.high[0] + 1e-9
                if n == LAST:
                    ratio = (shown.high - shown.low) / (once.high - once.low)
                    width[way].append(float(ratio.mean()))
        for way in missed:
            missed[way] += int(ever[way].sum())
        for way in ways:
            apart[way] += pairs[way]
            decided[way] += told[way]
    shown = f"{cell.kind:16}{missed['once'] / runs / k:9.1%}"
    for way in ways:
        shown += f"{missed[way] / runs / k:17.1%}{apart[way] / runs:6.1%}{decided[way] / runs:9.1%}"
        shown += f"{np.mean(width[way]):7.2f}"
    return f"{shown}{time.process_time() - start:9.0f}"


def _misses(shown, truth):
    return (truth < shown.low - 1e-9) | (truth > shown.high + 1e-9)


def scores(k, shape, gap, runs):
    """Scores of runs x items x systems; the first system is the best."""
    rng = np.random.default_rng([k, len(shape), round(100 * gap)])
    steps = np.arange(k) if shape == "ladder" else (np.arange(k) > 0) * 1.0
    means = np.maximum(0.75 - gap * SPREAD * steps, 0.1)
    item = np.sqrt(SHARED) * rng.standard_normal((runs, POOL, 1))
    own = np.sqrt(1 - SHARED) * rng.standard_normal((runs, POOL, k))
    return np.clip(means + SPREAD * (item + own), 0, 1)


def raced(k, shape, gap, runs, old):
    """One line of the second table."""
    made = scores(k, shape, gap, runs)
    grid = sorted({int(one) for one in np.geomspace(10, POOL - 1, LOOKS)})
    fixed = np.array([[_best_at_once(one, n) is not None for n in grid] for one in made])
    enough = next(
        (n for n, share in zip(grid, fixed.mean(0), strict=True) if share >= 0.8), grid[-1]
    )
    found, wrong = [], 0
    for planned in (None, 1.2 * enough):
        ends = [_race(one, grid, planned) for one in made]
        last = np.sort([end for _, end, _ in ends])[int(np.ceil(0.8 * runs)) - 1]
        used = np.mean([np.minimum(stops, last).sum() for stops, _, _ in ends])
        found.append(used / (k * enough))
        wrong += sum(
            winner not in {None, one.mean(0).argmax()}
            for one, (_, _, winner) in zip(made, ends, strict=True)
        )
    before = "" if old is None else f"{_old_race(made, old) / (k * enough):.2f}"
    return (
        f"{k} {shape} {gap:<8}{enough:7}{found[0]:14.2f}{found[1]:9.2f}{before:>7}"
        f"{wrong / 2 / runs:7.1%}"
    )


def _of_scores(score, n, inside):
    """The campaign of the first n items, of the systems that are still judged or were."""
    k = score.shape[1]
    item, system = np.repeat(np.arange(POOL), k), np.tile(np.arange(k), POOL)
    kept = item < np.minimum(inside[system], n)
    item, system = item[kept], system[kept]
    size = np.full(k, POOL)
    count = np.arange(len(item))
    return Campaign(
        systems=tuple(str(one) for one in range(k)),
        metrics=(),
        score=score[item, system],
        output=count,
        item=item,
        writers=np.eye(k)[system],
        metric=np.zeros((len(item), 0)),
        pools=Pools.apart(
            size, np.zeros((k, 0)), np.zeros((k, 0, 0)), np.full((k, k), float(POOL))
        ),
        in_pool=np.ones((n, k), dtype=bool),
    )


def _left(found, inside, share):
    """Systems that may be the best, as `monitor --goal best` has it."""
    answers, inside = found.answers(), list(inside)
    while len(inside) > 1:
        out = set()
        for a in inside:
            forms = np.array([np.eye(found.campaign.k)[[b, a]] for b in inside if b != a])
            forms = forms[:, 0] - forms[:, 1]
            ahead = forms @ answers.mean
            error = np.sqrt(np.einsum("fk,kl,fl->f", forms, answers.covariance, forms))
            if (ahead > 1.64 * error).any():
                looks = looks_at(found, answers, forms, share)
                if (together(found, answers, forms, 0.90, looks).decided > 0).any():
                    out.add(a)
        if not out:
            break
        inside = [one for one in inside if one not in out]
    return inside


def _best_at_once(score, n):
    """The system that beats all others at one look, all pairs together, by paired t statistics."""
    k = score.shape[1]
    means = score[:n].mean(0)
    lead = int(means.argmax())
    off = score[:n, [lead]] - np.delete(score[:n], lead, 1)
    ratio = off.mean(0) / np.maximum(off.std(0, ddof=1) / np.sqrt(n), 1e-12)
    return lead if (ratio > _TUKEY[k]).all() else None


# Two-sided 5% points of the largest of all pairs of k means.
_TUKEY = {2: 1.96, 5: 2.728, 10: 3.164}


def _race(score, grid, planned):
    """Items of each system until the best is known, the last look, and who it is."""
    k = score.shape[1]
    stops, inside, near = np.full(k, POOL), list(range(k)), None
    for n in grid:
        part = _of_scores(score, n, stops)
        known = None
        if near is not None and part.n < 1.25 * near.campaign.n:
            known = same_variances(near, part)
        if known is None:
            known = near = fit(part)
        share = None
        if planned is not None:
            share = np.bincount(part.writers[part.output].argmax(1), minlength=k) / planned
        left = _left(known, inside, share)
        for one in set(inside) - set(left):
            stops[one] = n
        inside = left
        if len(inside) == 1:
            stops[inside[0]] = n
            return stops, n, inside[0]
    return stops, POOL, None


def _old_race(made, source):
    """Mean judgments of the betting races of another source tree, broken off where 80% are decided."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "scores.npy", made)
        script = (
            "import sys, numpy as np\n"
            "from steelyard.design.race import Race, RaceOptions\n"
            "s = np.load(sys.argv[1]); runs, items, k = s.shape\n"
            "apart = items * (1 - np.eye(k, dtype=np.int64))\n"
            "race = Race(apart, items, RaceOptions(level=0.95, method='betting'), runs=runs)\n"
            "for place in range(items):\n"
            "    if not race.running.any(): break\n"
            "    race.judge(s[:, place])\n"
            "ended = np.where(race.running, items, race.decided_at)\n"
            "stops = np.where(race.out_at > 0, race.out_at, ended[:, None])\n"
            "last = np.sort(ended)[int(np.ceil(0.8 * runs)) - 1]\n"
            "print(np.minimum(stops, last).sum(1).mean())\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(Path(folder) / "scores.npy")],
            env=os.environ | {"PYTHONPATH": source},
            capture_output=True,
            text=True,
            check=True,
        )
    return float(done.stdout)


def speed():
    """Seconds of one look at 3,000 judgments of 10 systems."""
    world = Cell("normal", k=10, n=250, p=6, pool=POOL, raters=8).campaign(0)
    campaign, _ = numbered(world)
    forms = np.array([np.eye(10)[a] - np.eye(10)[b] for a, b in combinations(range(10), 2)])
    start = time.process_time()
    found = fit(campaign)
    answers = found.answers()
    for those in (np.eye(10), forms):
        looks = looks_at(found, answers, those, np.full(10, 0.5))
        intervals(found, answers, those, 0.95, looks)
        together(found, answers, those, 0.95, looks)
    return (
        f"\na look at {campaign.n:,} judgments of 10 systems: {time.process_time() - start:.2f} s"
    )


def replayed(runs=8):
    """Processor seconds of 200 replays, by goal."""
    rng = np.random.default_rng(0)
    item, metric = rng.normal(size=300), rng.normal(size=(3, 300))
    pool = [(f"i{i}", name, metric[s, i]) for s, name in enumerate("ABC") for i in range(300)]
    judged = [
        (f"i{i}", name, f"r{rng.integers(6)}", item[i] + mean + metric[s, i] + 0.5 * rng.normal())
        for i in rng.permutation(300)[:200]
        for s, (name, mean) in enumerate(zip("ABC", (0.0, 0.1, 1.2), strict=True))
    ]
    study = Study.read(
        pl.DataFrame(pool, schema=["item", "system", "length"], orient="row"),
        pl.DataFrame(judged, schema=["item", "system", "rater", "score"], orient="row"),
    )
    study.replay(50, runs=1)
    found = []
    for goal in ({"goal": "best"}, {"half_width": 0.32}, {"goal": "order"}):
        start = time.process_time()
        [one] = study.replay(200, look=10, runs=runs, **goal)
        seconds = (time.process_time() - start) / runs * 200
        found.append(f"{one.goal} {seconds:.0f} s ({one.judgments:.0f} judgments of 600)")
    return f"200 replays: {', '.join(found)}"


if __name__ == "__main__":
    given = [one for one in sys.argv[1:] if not one.startswith("old=")]
    tree = next((one[4:] for one in sys.argv[1:] if one.startswith("old=")), None)
    main(*(int(one) for one in given[:1]), old=tree)
