"""Coverage and width of intervals after spread draws and simple ones, for `benchmarks.spread`."""

from itertools import combinations

import numpy as np
from scipy.special import stdtrit

from benchmarks.spread_worlds import (
    DRAWS,
    KINDS,
    SIZE,
    SIZES,
    along,
    generated,
    ordered_pivotals,
    papers,
)
from steelyard.arrays import judged_outputs, spread_draw
from steelyard.design.spread import spread_sample
from steelyard.estimate.campaign import campaign_means
from steelyard.estimate.differences import Shared, campaign_differences
from steelyard.estimate.estimator import plain_mean
from steelyard.estimate.options import Options

FIXED = Options(raters_as="fixed")


def reach_of_neighbours(n, rng, options=FIXED):
    """Half the length of the plain mean's interval after a spread draw, over the standard deviation of neighbours, as `plain_mean` has it."""
    score, place = rng.standard_normal(n), np.sort(rng.random(n))
    sample = judged_outputs(score, None, np.arange(n))
    found = plain_mean(sample, spread_draw(sample, 1 + place, 10 * n), options=options)
    return (found.high - found.low) / 2 / neighbour_deviation(score)


def neighbour_deviation(scores):
    """Root of half the mean squared difference of scores (..., n) one and two steps apart."""
    squares = [np.square(scores[..., by:] - scores[..., :-by]) for by in (1, 2)]
    return np.sqrt(np.concatenate(squares, axis=-1).mean(axis=-1) / 2)


def cover_row(worlds, n, runs, *, size=SIZE):
    """Coverage after a simple draw, a spread one, and of the first n of a longer spread one; widths."""
    start = np.random.default_rng(n)
    student, neighbours = stdtrit(n - 1, 0.975) / np.sqrt(n), reach_of_neighbours(n, start)
    places = ordered_pivotals(size, n, runs * DRAWS, start).reshape(runs, DRAWS, n)
    held, width = [], []
    for run in range(runs):
        rng = np.random.default_rng([n, run])
        world = worlds(rng)
        order = along(world, rng)
        simple = np.array([rng.choice(size, n, replace=False) for _ in range(DRAWS)])
        # Neighbours lie side by side along the value.
        longer = spread_sample(np.argsort(order), 4 * n // 3, rng=rng)[0][:n]
        part = order[np.sort(np.argsort(order)[longer])]
        scores = [world.judge(rng, one) for one in (simple, order[places[run]], part[np.newaxis])]
        reach = [student * scores[0].std(axis=-1, ddof=1)]
        reach += [neighbours * neighbour_deviation(one) for one in scores[1:]]
        off = [np.abs(one.mean(axis=-1) - world.truth[:, np.newaxis]) for one in scores]
        held.append([np.mean(a <= b) for a, b in zip(off, reach, strict=True)])
        width.append([np.mean(one / world.human.std(axis=1)[:, np.newaxis]) for one in reach])
    held, width = np.array(held), np.mean(width, axis=0)
    more = 100 * (held[:, 1] - held[:, 0])
    each = " / ".join(f"{100 * one:.1f}" for one in held.mean(axis=0))
    doubt = more.std(ddof=1) / np.sqrt(runs)
    return f"{each} | {more.mean():+.2f} ± {doubt:.2f} | {width[1] / width[0]:.3f}"


COVER = "simple / spread / first part of a spread one | spread less simple | width"


def coverage(runs=400):
    print(
        f"{runs} worlds of 4 systems, {DRAWS} draws of each: coverage of the plain mean's interval, in percent"
    )
    print(f"| metrics | n | {COVER} |\n|---|---|---|---|---|")
    for kind in KINDS:
        for n in SIZES:
            row = cover_row(lambda rng, kind=kind: generated(kind, 4, rng), n, runs)
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


def intervals(runs=30, sizes=(10, 50)):
    print(f"{runs} worlds of 4 systems: coverage of the default's intervals, in percent")
    print(f"| metrics | n | {DEFAULT} |\n" + "|---" * 8 + "|")
    for kind in KINDS:
        for n in sizes:
            row = default_row(lambda rng, kind=kind: generated(kind, 4, rng), n, runs, n)
            print(f"| {kind} | {n} | {row} |", flush=True)


def paper_intervals(runs=25, sizes=(10, 50)):
    print(
        f"{10 * runs} times {DRAWS} draws of the paper's data, raters fixed: coverage of the plain mean's interval, in percent"
    )
    print(f"| prompt | n | {COVER} |\n|---|---|---|---|---|")
    campaigns = list(papers())
    for prompt, world in campaigns:
        for n in SIZES:
            row = cover_row(lambda _, world=world: world, n, 10 * runs, size=world.human.shape[1])
            print(f"| {prompt} | {n} | {row} |", flush=True)
    print(f"{runs} runs: the default's intervals\n| prompt | n | {DEFAULT} |\n" + "|---" * 8 + "|")
    for prompt, world in campaigns:
        for n in sizes:
            row = default_row(lambda _, world=world: world, n, runs, n)
            print(f"| {prompt} | {n} | {row} |", flush=True)


def looks(runs=400, at=(20, 40, 60, 80), size=400):
    print(
        f"{runs} campaigns: looks at {at} of {size} outputs of a spread draw, each at the level 0.9875; at least one interval of the four missed"
    )
    print("| metric | missed, percent |\n|---|---|")
    reach = [reach_of_neighbours(n, np.random.default_rng(n), Options(level=0.9875)) for n in at]
    for kind in KINDS[:5]:
        missed = []
        for run in range(runs):
            rng = np.random.default_rng([5, run])
            world = generated(kind, 1, rng, size)
            value = world.value()
            drawn = spread_sample(value, max(at), rng=rng)[0]
            score = world.judge(rng, drawn)[0]
            off = []
            for n, own in zip(at, reach, strict=True):
                first = score[:n][np.argsort(value[drawn[:n]])]
                off.append(abs(first.mean() - world.truth[0]) > own * neighbour_deviation(first))
            missed.append(any(off))
        share = np.mean(missed)
        doubt = np.sqrt(share * (1 - share) / runs)
        print(f"| {kind} | {100 * share:.1f} ± {100 * doubt:.1f} |", flush=True)
