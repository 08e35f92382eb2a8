"""Spread draws against simple ones: error, coverage and width. Behind docs/decisions/0007.

    python -m benchmarks.spread [error] [useless] [several] [coverage] [intervals] [paper] [paper_intervals] [looks] [RUNS]

Each run has a world of its own, with 600 items. The same items of all systems are drawn, and each drawn output is judged once. Errors are root mean squared errors over
that of the plain mean of a simple draw in the same worlds, which is known exactly; what judgments add to a plain mean is known too. Standard errors are over worlds.

error: the plain mean of a spread draw; slopes after a simple draw, the best that only the whole pool shows, and those that the sample shows (least
squares, shrunk, the default of `estimate`); and the default after a spread draw. useless: the same for metrics that are worthless, along
one value and over several. several: what to spread by when metrics are several. coverage: of the plain mean's interval.
intervals: of the default, and of differences. paper, paper_intervals: the same for the judgments that Chaganty et al. (2018) released. looks: several looks at one draw.
"""

import sys

import numpy as np

from benchmarks.spread_intervals import coverage, intervals, looks, paper_intervals
from benchmarks.spread_worlds import (
    DRAWS,
    KINDS,
    SIZE,
    SIZES,
    along,
    cube,
    from_sample,
    generated,
    ordered_pivotals,
    papers,
    standardised,
)
from steelyard.design.spread import common_value, spread_sample
from steelyard.estimate.controlled import controlled


def ratio(ours, other):
    """The root of the sum of ours over that of the other, rows being worlds, with its standard error."""
    ours, other = (np.reshape(one, (len(one), -1)).mean(axis=1) for one in (ours, other))
    square = ours.mean() / other.mean()
    doubt = (ours - square * other).std(ddof=1) / np.sqrt(len(ours)) / other.mean()
    return np.sqrt(square), doubt / (2 * np.sqrt(square))


def times(one, other):
    """The product of two independent ratios."""
    return one[0] * other[0], np.hypot(one[1] * other[0], one[0] * other[1])


def told(found):
    return f"{found[0]:.3f} ± {found[1]:.3f}"


def plain_errors(world, n, chosen):
    """Squared errors (3, k) of plain means with noise: after spread draws of items, after simple ones, and those with the known slope."""
    off = world.human[:, chosen].mean(axis=2) - world.truth[:, np.newaxis]
    noise = world.noise / n
    return (
        np.square(off).mean(axis=1) + noise,
        world.simple_error(n) + noise,
        world.known_slope_error(n) + noise,
    )


def sample_errors(world, chosen, place, rng):
    """Squared errors (6, k).

    Of plain mean, least squares, shrunk and default after a simple draw; of plain mean and default
    after a spread one.
    """
    size, n = world.human.shape[1], len(chosen)
    simple = world.judged(rng.choice(size, n, replace=False), None, rng)
    spread = world.judged(chosen, place, rng)
    plain, other = ([one.sample.mean.mean() for one in systems] for systems in (simple, spread))
    learned, after = (
        [one.mean.mean() for one in controlled(systems).samples] for systems in (simple, spread)
    )
    found = np.array([plain, *from_sample(simple), learned, other, after])
    return np.square(found - world.truth)


ERRORS = "plain, spread | pool's slope | least squares | shrunk | default | default, spread | plain, spread over the best of the sample's slopes"


def error_row(worlds, n, runs, *, size=SIZE):
    """The columns of ERRORS; worlds is a function of a generator."""
    places = ordered_pivotals(size, n, runs * (1 + DRAWS), np.random.default_rng(n))
    exact, sampled = [], []
    for run, own in enumerate(places.reshape(runs, 1 + DRAWS, n)):
        rng = np.random.default_rng([n, run])
        world = worlds(rng)
        order = along(world, rng)
        exact.append(plain_errors(world, n, order[own[1:]]))
        sampled.append(sample_errors(world, order[own[0]], (own[0] + 0.5) / size, rng))
    exact, sampled = np.array(exact), np.array(sampled)
    spread, known = (ratio(exact[:, one], exact[:, 1]) for one in (0, 2))
    slopes = [ratio(sampled[:, one], sampled[:, 0]) for one in (1, 2, 3)]
    after = times(ratio(sampled[:, 5], sampled[:, 4]), spread)
    best = min(slopes)
    over = times(spread, (1 / best[0], best[1] / best[0] ** 2))
    return " | ".join(told(one) for one in (spread, known, *slopes, after, over))


def error(runs=500):
    print(f"{runs} worlds in each row; plain mean of a simple draw = 1")
    print(f"| systems | metrics | n | {ERRORS} |\n" + "|---" * 10 + "|")
    for k, kinds in ((4, KINDS), (1, KINDS[:5])):
        for kind in kinds:
            for n in SIZES:
                row = error_row(lambda rng, kind=kind, k=k: generated(kind, k, rng), n, runs)
                print(f"| {k} | {kind} | {n} | {row} |", flush=True)


def useless(runs=200, scores=200):
    """Scores that know nothing of the metrics, many for each draw; a new draw and new metrics in every run."""
    print(
        f"{runs} draws, each over metrics of its own, {scores} sets of scores each; squared error over a simple draw's"
    )
    print("| scores | n | along one value | over five, local pivotal |\n|---|---|---|---|")
    for shape, make in (("normal", lambda z: z), ("skewed", lambda z: np.exp(1.2 * z))):
        for n in SIZES:
            found = {1: [], 5: []}
            for run in range(runs):
                rng = np.random.default_rng([n, run])
                human = make(rng.standard_normal((scores, SIZE)))
                simple = np.mean(human.var(axis=1, ddof=1) * (1 / n - 1 / SIZE))
                for p, own in found.items():
                    metric = rng.standard_normal((SIZE, p))
                    chosen = spread_sample(metric if p > 1 else metric[:, 0], n, rng=rng)[0]
                    off = human[:, chosen].mean(axis=1) - human.mean(axis=1)
                    own.append((np.mean(off**2), simple))
            cells = []
            for own in found.values():
                root, doubt = ratio(*np.array(own).T)
                cells.append(told((root**2, 2 * root * doubt)))
            print(f"| {shape} | {n} | {' | '.join(cells)} |", flush=True)


def _together(p, share):
    """Metrics (N, p) of which each has this share of its variance in common with the others."""
    return lambda rng: (
        np.sqrt(share) * rng.standard_normal((SIZE, 1))
        + np.sqrt(1 - share) * rng.standard_normal((SIZE, p))
    )


# How metrics are made, and what scores follow of them.
SEVERAL = {
    "five weak, alike": (_together(5, 0.3), lambda x: x.sum(axis=1)),
    "four, two of opposite sign": (
        lambda rng: _together(4, 0.3)(rng) * [1, 1, -1, -1],
        lambda x: x @ [1, 1, -1, -1],
    ),
    "two independent": (_together(2, 0.0), lambda x: x.sum(axis=1)),
    "two independent, opposite": (_together(2, 0.0), lambda x: x[:, 0] - x[:, 1]),
    "ten, one of use": (_together(10, 0.0), lambda x: x[:, 0]),
    "ten alike": (_together(10, 0.7), lambda x: x.sum(axis=1)),
    "three, product of two": (_together(3, 0.0), lambda x: x[:, 0] * x[:, 1]),
}
WAYS = {
    "mean of metrics": lambda x, n, rng: spread_sample(standardised(x).mean(axis=1), n, rng=rng)[0],
    "first component": lambda x, n, rng: spread_sample(common_value(x), n, rng=rng)[0],
    "local pivotal": lambda x, n, rng: spread_sample(standardised(x), n, rng=rng)[0],
    "cube": cube,
}


def several(runs=80, share=0.5):
    """Scores follow metrics by half of their variance; what the rest of it adds is known."""
    print(
        f"{runs} worlds; squared error of the plain mean over a simple draw's; metrics explain {share} of the variance"
    )
    print(f"| metrics | n | {' | '.join(WAYS)} |\n" + "|---" * 6 + "|")
    for name, (metrics, follow) in SEVERAL.items():
        for n in (10, 50, 200):
            found = {way: [] for way in WAYS}
            for run in range(runs):
                rng = np.random.default_rng([n, run])
                x = metrics(rng)
                followed = follow(x)
                followed = (followed - followed.mean()) / followed.std(ddof=1)
                for way, draw in WAYS.items():
                    off = followed[draw(x, n, rng)].mean()
                    found[way].append(share * off**2 / (1 / n - 1 / SIZE) + 1 - share)
            cells = [
                told((np.mean(own), np.std(own, ddof=1) / np.sqrt(runs))) for own in found.values()
            ]
            print(f"| {name} | {n} | {' | '.join(cells)} |", flush=True)


def paper(runs=250):
    """The paper's campaigns, four systems on the same items, raters fixed."""
    worlds = list(papers())
    print("the paper's data: plain mean of a spread draw; plain mean of a simple one = 1")
    print("| prompt | correlation | n | between outputs | with the noise of a judgment |")
    print("|---|---|---|---|---|")
    for prompt, world in worlds:
        value = world.value()
        relation = np.mean([abs(np.corrcoef(value, human)[0, 1]) for human in world.human])
        for n in SIZES:
            print(f"| {prompt} | {relation:.2f} | {n} | {paper_row(world, n)} |", flush=True)
    print(f"{runs} runs: slopes, as in error\n| prompt | n | {ERRORS} |\n" + "|---" * 9 + "|")
    for prompt, world in worlds:
        size = world.human.shape[1]
        for n in SIZES:
            row = error_row(lambda _, world=world: world, n, runs, size=size)
            print(f"| {prompt} | {n} | {row} |", flush=True)


def paper_row(world, n, blocks=40, draws=1000):
    """Errors of the plain mean in one pool, system by system over its spread; ties in another order in each block."""
    rng = np.random.default_rng(n)
    simple, noise, scale = world.simple_error(n), world.noise / n, world.human.var(axis=1)
    found = []
    for _ in range(blocks):
        chosen = along(world, rng)[ordered_pivotals(world.human.shape[1], n, draws, rng)]
        off = world.human[:, chosen].mean(axis=2) - world.truth[:, np.newaxis]
        found.append((off**2).mean(axis=1))
    ways = ((np.array(found) + more) / scale for more in (0.0, noise))
    bases = ((simple + more) / scale for more in (0.0, noise))
    return " | ".join(
        told(ratio(ours, np.broadcast_to(base, ours.shape)))
        for ours, base in zip(ways, bases, strict=True)
    )


PARTS = {
    "error": error,
    "useless": useless,
    "several": several,
    "coverage": coverage,
    "intervals": intervals,
    "paper": paper,
    "paper_intervals": paper_intervals,
    "looks": looks,
}


def main(words=()):
    runs = [int(word) for word in words if word.isdigit()]
    for part in [word for word in words if not word.isdigit()] or PARTS:
        print(f"\n{part}", flush=True)
        PARTS[part](*runs)


if __name__ == "__main__":
    main(sys.argv[1:])
