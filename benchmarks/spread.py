"""Spread draws against simple ones: error, coverage and width. Behind docs/decisions/0007.

    python -m benchmarks.spread [error] [several] [coverage] [campaign] [paper]

Four systems on the same items, one judgment of each drawn output. error: the root mean squared error over that of the plain
mean of a simple draw, for the plain mean of a spread draw, the best slope (known from the whole pool) after a simple one, and
the default after either draw. several: what to spread by when metrics are several. coverage: of the plain mean's interval, each
system by itself. campaign: of the default's intervals and of differences. paper: the judgments that Chaganty et al. (2018)
released.
"""

import sys
from itertools import combinations

import numpy as np

from benchmarks.replays import PROMPTS, Drawn, System, released
from steelyard.arrays import spread_draw
from steelyard.design.spread import common_value, spread_sample
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.controlled import controlled
from steelyard.estimate.differences import Shared, campaign_differences
from steelyard.estimate.estimator import plain_mean
from steelyard.estimate.options import Options

KINDS = ("linear", "curved", "binary", "skewed", "useless", "five weak", "four opposite")
SIZES = (10, 20, 50, 100, 200)
FIXED = Options(raters_as="fixed")
POOL = 600


def generated(rng, kind, k=4, size=POOL):
    """Generate systems whose qualities share half of their variance by item, with metrics of a kind."""
    item = rng.standard_normal(size)
    return [
        _generated(rng, kind, np.sqrt(0.5) * (item + rng.standard_normal(size))) for _ in range(k)
    ]


def _generated(rng, kind, quality):
    size = len(quality)
    loadings = {"five weak": [0.4] * 5, "four opposite": [0.5, 0.5, -0.5, -0.5], "useless": [0.0]}
    own = np.array(loadings.get(kind, [0.6]))
    metrics = own * quality[:, None] + np.sqrt(1 - own**2) * rng.standard_normal((size, len(own)))
    human = {
        "curved": metrics[:, 0] ** 2 + 0.5 * quality,
        "binary": 1 / (1 + np.exp(-2 * quality)),
        "skewed": np.exp(1.2 * quality),
    }.get(kind, quality)

    def judge(rng, chosen):
        f = human[chosen]
        if kind == "binary":
            return (rng.random(len(f)) < f).astype(float), None
        return f + 0.5 * human.std() * rng.standard_normal(len(f)), None

    return System(human, metrics, np.arange(size), judge)


def value_of(systems, way="component"):
    """What items are spread by: one value, or several, that systems share."""
    each = np.mean([_standard(one.metrics) for one in systems], axis=0)
    if each.shape[1] == 1:
        return each[:, 0]
    return {"component": common_value, "mean": lambda x: x.mean(axis=1), "local": lambda x: x}[way](
        each
    )


def _standard(values):
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def drawn(systems, n, value, *, rng):
    """Draw the same n items of all systems, spread by a value, or simply if there is none."""
    size = len(systems[0].items)
    if value is None:
        position, place = rng.choice(size, n, replace=False), None
    else:
        position, place = spread_sample(value, n, rng=rng)
    order = np.argsort(position)
    chosen = position[order]
    found = []
    for one in systems:
        judged = Drawn(one, chosen, *one.judge(rng, chosen)).judged()
        if place is not None:
            draw = spread_draw(judged.sample, 1 + place[order], size)
            object.__setattr__(judged, "draw", draw)
        found.append(judged)
    return found


def simple_error(one, n, slope=None):
    """The error of a simple draw's plain mean, or after the pool's own slope; without its noise."""
    rest = one.human if slope is None else one.human - one.metrics @ slope
    return rest.var(ddof=1) * (1 / n - 1 / len(rest))


def noise(one, kind):
    f = one.human
    return float(np.mean(f * (1 - f))) if kind == "binary" else 0.25 * f.var()


def error(runs=240, pools=12):
    print(
        f"{runs} runs in {pools} pools of {POOL}; error over the plain mean's after a simple draw"
    )
    print(f"{'':22}spread, plain   best slope   default, simple   default, spread")
    for kind in KINDS:
        for n in SIZES:
            rng = np.random.default_rng(n)
            base, slope, found = [], [], {"plain": [], False: [], True: []}
            for _ in range(pools):
                systems = generated(rng, kind)
                value = value_of(systems)
                for one in systems:
                    fit = np.linalg.lstsq(one.metrics - one.metrics.mean(0), one.human, rcond=None)[
                        0
                    ]
                    base.append(simple_error(one, n) + noise(one, kind) / n)
                    slope.append(simple_error(one, n, fit) + noise(one, kind) / n)
                for _ in range(runs // pools):
                    for spread in (False, True):
                        judged = drawn(systems, n, value if spread else None, rng=rng)
                        means = [one.mean.mean() for one in controlled(judged).samples]
                        found[spread].append(
                            [m - s.truth for m, s in zip(means, systems, strict=True)]
                        )
                    found["plain"].append(
                        [
                            j.sample.mean.mean() - s.truth
                            for j, s in zip(judged, systems, strict=True)
                        ]
                    )
            whole = np.mean(base)
            shown = [np.mean(np.square(found[name])) / whole for name in ("plain", False, True)]
            plain, simple, spread = np.sqrt(shown)
            best = np.sqrt(np.mean(slope) / whole)
            print(
                f"{kind:14} n = {n:<4}{plain:12.3f}{best:14.3f}{simple:15.3f}{spread:18.3f}",
                flush=True,
            )


def several(runs=400, pools=8):
    print(
        f"{runs} runs in {pools} pools of {POOL}: squared error of the plain mean over a simple draw's"
    )
    for kind in ("five weak", "four opposite", "useless"):
        for n in (10, 50):
            line = f"{kind:14} n = {n:<4}"
            for way in ("mean", "component", "local"):
                rng = np.random.default_rng(n)
                ratios = []
                for _ in range(pools):
                    systems = generated(rng, kind)
                    value = value_of(systems, way)
                    off = [
                        [one.human[chosen].mean() - one.truth for one in systems]
                        for chosen in (
                            spread_sample(value, n, rng=rng)[0] for _ in range(runs // pools)
                        )
                    ]
                    base = [simple_error(one, n) for one in systems]
                    ratios.append(np.mean(np.mean(np.square(off), axis=0) / base))
                line += f"   {way} {np.mean(ratios):.2f}"
            print(line, flush=True)


def coverage(runs=400, pools=20):
    print(f"{runs} runs in {pools} pools of {POOL}: plain mean of each of 4 systems by itself")
    print("coverage after a simple draw, a spread one, and of the first 3/4 of a spread one; width")
    for kind in KINDS:
        for n in SIZES:
            found = {name: [] for name in ("simple", "spread", "part")}
            rng = np.random.default_rng(n)
            for run in range(runs):
                if run % (runs // pools) == 0:
                    systems = generated(rng, kind)
                    value = value_of(systems)
                _cover(found["simple"], systems, drawn(systems, n, None, rng=rng))
                _cover(found["spread"], systems, drawn(systems, n, value, rng=rng))
                _cover(found["part"], systems, _first(systems, n, value, rng))
            (a, wide), (b, narrow), (c, _) = (np.mean(one, axis=0) for one in found.values())
            print(
                f"{kind:14} n = {n:<4}{a:8.3f}{b:8.3f}{c:8.3f}   width {narrow / wide:.3f}",
                flush=True,
            )


def _first(systems, n, value, rng):
    """Return the first n of a spread draw of 4n/3 outputs."""
    size = len(value)
    position, place = spread_sample(value, 4 * n // 3, rng=rng)
    position, place = position[:n], place[:n]
    order = np.argsort(position)
    found = []
    for one in systems:
        judged = Drawn(one, position[order], *one.judge(rng, position[order])).judged()
        object.__setattr__(judged, "draw", spread_draw(judged.sample, 1 + place[order], size))
        found.append(judged)
    return found


def _cover(found, systems, judged):
    for one, system in zip(judged, systems, strict=True):
        if np.ptp(one.sample.mean) > 0:
            got = plain_mean(one.sample, one.draw, options=FIXED)
            found.append((got.low <= system.truth <= got.high, got.high - got.low))


def campaign(runs=60, sizes=(10, 20, 50)):
    print(
        f"{runs} runs: coverage of the default after a simple and a spread draw, width; of differences"
    )
    for kind in KINDS:
        for n in sizes:
            rng = np.random.default_rng(n)
            _print(kind, n, lambda rng=rng, kind=kind: generated(rng, kind), runs, rng)


def paper(runs=40, sizes=(10, 20, 50, 100, 200)):
    print(
        f"{runs} runs, raters fixed: coverage of the default after either draw, width, error over the plain mean's"
    )
    for task, prompt in PROMPTS:
        systems = _common_items(released(task, prompt)[0])
        for n in sizes:
            if n <= len(systems[0].items) // 2:
                _print(prompt, n, lambda systems=systems: systems, runs, np.random.default_rng(n))


def _common_items(systems):
    common = systems[0].items
    for one in systems[1:]:
        common = np.intersect1d(common, one.items)
    return [_part(one, np.isin(one.items, common)) for one in systems]


def _part(one, inside):
    where = np.flatnonzero(inside)
    return System(
        one.human[where],
        one.metrics[where],
        one.items[where],
        lambda rng, chosen: one.judge(rng, where[chosen]),
    )


def _print(name, n, made, runs, rng):
    held = {False: [], True: []}
    pairs = {False: [], True: []}
    for run in range(runs):
        if run % 10 == 0:
            systems = made()
            value = value_of(systems)
        for spread in (False, True):
            judged = drawn(systems, n, value if spread else None, rng=rng)
            for got, one in zip(campaign_means(judged, options=FIXED), systems, strict=True):
                plain = got.baseline or got
                scale = one.human.std()
                held[spread].append(
                    (
                        got.low <= one.truth <= got.high,
                        got.high - got.low,
                        ((got.estimate - one.truth) / scale) ** 2,
                        ((plain.estimate - one.truth) / scale) ** 2,
                    )
                )
            pairs[spread].append(_differences(systems, judged, n))
    (a, wide, d0, p0), (b, narrow, d1, p1) = (np.mean(held[one], axis=0) for one in (False, True))
    (pa, ja, wa, ea), (pb, jb, wb, eb) = (np.mean(pairs[one], axis=0) for one in (False, True))
    print(
        f"{name:14} n = {n:<4} {a:.3f} {b:.3f} width {narrow / wide:.3f} error: default {np.sqrt(d0 / p0):.3f}, spread plain "
        f"{np.sqrt(p1 / p0):.3f}, default {np.sqrt(d1 / p0):.3f} | pairs {pa:.3f} {pb:.3f} all {ja:.3f} {jb:.3f} "
        f"width {wb / wa:.3f} error {np.sqrt(eb / ea):.3f}",
        flush=True,
    )


def _differences(systems, judged, n):
    """Share of pairs that hold, whether all do together, mean width, and squared error."""
    pairs = list(combinations(range(len(systems)), 2))
    shared = Shared(len(systems[0].items), 0, (np.ones(n, bool),) * 2)
    found = campaign_differences(judged, pairs, [shared] * len(pairs), options=FIXED)
    truths = [systems[a].truth - systems[b].truth for a, b in pairs]
    both = list(zip(found, truths, strict=True))
    return (
        np.mean([one.low <= truth <= one.high for one, truth in both]),
        all(one.simultaneous_low <= truth <= one.simultaneous_high for one, truth in both),
        np.mean([one.high - one.low for one in found]),
        np.mean([(one.difference - truth) ** 2 for one, truth in both]),
    )


PARTS = {
    "error": error,
    "several": several,
    "coverage": coverage,
    "campaign": campaign,
    "paper": paper,
}


def main(parts=tuple(PARTS)):
    for part in parts:
        print(f"\n{part}", flush=True)
        PARTS[part]()


if __name__ == "__main__":
    main(sys.argv[1:] or tuple(PARTS))
