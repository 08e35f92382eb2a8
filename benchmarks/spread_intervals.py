"""Coverage and width of intervals after spread draws and simple ones, for `benchmarks.spread`."""

from itertools import combinations

import numpy as np

from benchmarks.spread_worlds import KINDS, SIZES, generated, papers
from steelyard.design.spread import spread_sample
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.differences import Shared, campaign_differences
from steelyard.estimate.estimator import plain_mean
from steelyard.estimate.options import Options

FIXED = Options(raters_as="fixed")


def covered(systems, truth):
    """Whether each plain mean's interval holds the truth, and its length, (k, 2)."""
    found = [plain_mean(one.sample, one.draw, options=FIXED) for one in systems]
    return [
        (one.low <= mean <= one.high, one.high - one.low)
        for one, mean in zip(found, truth, strict=True)
    ]


def cover_row(worlds, n, runs, seed):
    """Coverage after a simple draw, a spread one, and of the first n of a longer spread one; widths."""
    found = []
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        world = worlds(rng)
        size = world.human.shape[1]
        drawn = spread_sample(world.value(), n, rng=rng)
        longer = (one[:n] for one in spread_sample(world.value(), 4 * n // 3, rng=rng))
        ways = (rng.choice(size, n, replace=False), None), drawn, longer
        judged = [world.judged(*way, rng) for way in ways]
        if any(np.ptp(one.sample.mean) == 0 for systems in judged for one in systems):
            continue
        found.append([covered(systems, world.truth) for systems in judged])
    found = np.array(found)
    held, width = found[..., 0].mean(axis=2), found[..., 1].mean(axis=(0, 2))
    more = held[:, 1] - held[:, 0]
    each = " / ".join(f"{100 * one:.1f}" for one in held.mean(axis=0))
    doubt = 100 * more.std(ddof=1) / np.sqrt(len(more))
    return f"{each} | {100 * more.mean():+.1f} ± {doubt:.1f} | {width[1] / width[0]:.3f}"


COVER = "simple / spread / first part of a spread one | spread less simple | width"


def coverage(runs=300):
    print(f"{runs} worlds of 4 systems: coverage of the plain mean's interval, in percent")
    print(f"| metrics | n | {COVER} |\n|---|---|---|---|---|")
    for kind in KINDS:
        for n in SIZES:
            row = cover_row(lambda rng, kind=kind: generated(kind, 4, rng), n, runs, n)
            print(f"| {kind} | {n} | {row} |", flush=True)


def default_row(worlds, n, runs, seed):
    """The same of the default: means, and differences of all pairs, alone and together."""
    found = []
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        world = worlds(rng)
        simple = rng.choice(world.human.shape[1], n, replace=False), None
        ways = simple, spread_sample(world.value(), n, rng=rng)
        judged = [world.judged(*way, rng) for way in ways]
        found.append([(*_means(one, world), *_differences(one, world, n)) for one in judged])
    found = np.array(found)
    (a, wide, pairs, every, longer), (b, narrow, spread_pairs, spread_every, shorter) = (
        found[:, way].mean(axis=0) for way in (0, 1)
    )
    more = found[:, 1, 0] - found[:, 0, 0]
    doubt = 100 * more.std(ddof=1) / np.sqrt(runs)
    return (
        f"{100 * a:.1f} / {100 * b:.1f} | {100 * (b - a):+.1f} ± {doubt:.1f} | {narrow / wide:.3f} | "
        f"{100 * pairs:.1f} / {100 * spread_pairs:.1f} | {100 * every:.1f} / {100 * spread_every:.1f} | {shorter / longer:.3f}"
    )


def _means(systems, world):
    """Share of the default's intervals that hold, and their mean length over the spread of scores."""
    found = campaign_means(systems, options=FIXED, beside=False)
    pairs = list(zip(found, world.truth, world.human.std(axis=1), strict=True))
    held = np.mean([one.low <= truth <= one.high for one, truth, _ in pairs])
    return held, np.mean([(one.high - one.low) / scale for one, _, scale in pairs])


def _differences(systems, world, n):
    """Share of differences that hold, whether all do together, and mean length."""
    pairs = list(combinations(range(len(systems)), 2))
    shared = Shared(world.human.shape[1], 0, (np.ones(n, bool),) * 2)
    found = campaign_differences(systems, pairs, [shared] * len(pairs), options=FIXED)
    truths = [world.truth[a] - world.truth[b] for a, b in pairs]
    both = list(zip(found, truths, strict=True))
    return (
        np.mean([one.low <= truth <= one.high for one, truth in both]),
        all(one.simultaneous_low <= truth <= one.simultaneous_high for one, truth in both),
        np.mean([one.high - one.low for one in found]),
    )


DEFAULT = "means: simple / spread | spread less simple | width | pairs | all pairs together | width of pairs"


def intervals(runs=80, sizes=(10, 50, 200)):
    print(f"{runs} worlds of 4 systems: coverage of the default's intervals, in percent")
    print(f"| metrics | n | {DEFAULT} |\n" + "|---" * 8 + "|")
    for kind in KINDS:
        for n in sizes:
            row = default_row(lambda rng, kind=kind: generated(kind, 4, rng), n, runs, n)
            print(f"| {kind} | {n} | {row} |", flush=True)


def paper_intervals(runs=60, sizes=(10, 50, 200)):
    print(
        f"{runs} runs of the paper's data, raters fixed: coverage of the plain mean's interval, in percent"
    )
    print(f"| prompt | n | {COVER} |\n|---|---|---|---|---|")
    for prompt, world in papers():
        for n in sizes:
            print(
                f"| {prompt} | {n} | {cover_row(lambda _, world=world: world, n, 4 * runs, n)} |",
                flush=True,
            )
    print(f"the default's intervals\n| prompt | n | {DEFAULT} |\n" + "|---" * 8 + "|")
    for prompt, world in papers():
        for n in sizes:
            print(
                f"| {prompt} | {n} | {default_row(lambda _, world=world: world, n, runs, n)} |",
                flush=True,
            )
