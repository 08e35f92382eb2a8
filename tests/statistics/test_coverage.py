"""Intervals cover at their level, on seeded populations, judged by binomial tests."""

import itertools

import numpy as np
import pytest
from populations import (
    covers_at_least,
    covers_exactly,
    judged_items,
    population,
)

from steelyard import control_variates

GRID = [
    (kind, n)
    for kind, sizes in {
        "normal": (10, 20, 50, 200),
        "binary": (50, 200),
        "three-level": (50, 200),
    }.items()
    for n in sizes
]
SHARES = (0.01, 0.3, 0.9)
CORRELATIONS = (0.0, 0.5, 0.95)


def hits(kind, n, *, share, judgments, correlation, runs, seed, **options):
    """Whether each run's interval holds the pool's mean human score."""
    rng = np.random.default_rng(seed)
    size = round(n / share)
    found = []
    for _ in range(runs):
        pool = population(kind, rng, size=size, correlation=correlation)
        items = judged_items(rng, size=size, n=n, judgments=judgments)
        human = pool.judge(items, rng)
        got = control_variates(
            human,
            pool.metric[items],
            pool.metric,
            items=items,
            **options,
        )
        found.append(got.low <= pool.mean <= got.high)
    return found


@pytest.mark.parametrize(("kind", "n"), GRID)
def test_interval_covers_at_its_nominal_level(kind, n):
    found = hits(kind, n, share=0.3, judgments=2, correlation=0.5, runs=1000, seed=n + len(kind))
    assert covers_exactly(found, 0.95)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n"), GRID)
@pytest.mark.parametrize("judgments", [1, 2, "unequal"])
def test_interval_covers_at_every_share_count_and_correlation(kind, n, judgments):
    for number, (share, correlation) in enumerate(itertools.product(SHARES, CORRELATIONS)):
        found = hits(
            kind,
            n,
            share=share,
            judgments=judgments,
            correlation=correlation,
            runs=1000,
            seed=[n, number, len(kind)],
        )
        # with one judgment an output the correction for the finite pool is left out, and where few
        # outputs tell the rater noise that is most of the error it is guarded against: conservative
        assert covers_at_least(found, 0.95), (share, correlation, np.mean(found))
        if judgments != 1 and (share < 0.9 or n >= 50):
            assert covers_exactly(found, 0.95), (share, correlation, np.mean(found))
        if judgments != 1:
            assert np.mean(found) < 0.99


@pytest.mark.parametrize("slope", ["plug-in", 0.4])
def test_every_slope_covers(slope):
    found = hits(
        "normal", 30, share=0.3, judgments=2, correlation=0.6, runs=1000, seed=3, slope=slope
    )
    assert covers_at_least(found, 0.95)
    assert np.mean(found) < 0.975


def test_rater_variance_from_a_pilot_restores_the_correction():
    # a pool of 200, 60 judged once: with the known noise of this population (1/2) the level is met
    found = hits(
        "normal",
        60,
        share=0.5,
        judgments=1,
        correlation=0.7,
        runs=1500,
        seed=5,
        rater_variance=0.5,
    )
    assert covers_exactly(found, 0.95)


@pytest.mark.parametrize(
    ("size", "n", "repeated", "judgments"),
    [
        (40, 40, 1, 2),
        (40, 40, 3, 2),
        (40, 40, 8, 2),
        (40, 36, 3, 2),
        (60, 60, 3, 20),
        (60, 54, 8, 2),
    ],
)
def test_few_second_judgments_do_not_make_the_interval_too_short(size, n, repeated, judgments):
    # a few pairs of judgments often agree by chance: their variance alone would cover 20% to 80%
    rng = np.random.default_rng([size, n, repeated])
    found, widths = [], []
    for _ in range(500):
        score = rng.choice([0.1, 0.9], size=size)
        metric = score + 0.5 * rng.normal(size=size)
        chosen = rng.permutation(size)[:n]
        items = np.concatenate([chosen, np.repeat(chosen[:repeated], judgments - 1)])
        human = (rng.random(len(items)) < score[items]).astype(float)
        got = control_variates(human, metric[items], metric, items=items)
        found.append(got.low <= score.mean() <= got.high)
        widths.append(got.half_width)
    assert covers_at_least(found, 0.95)
    assert min(widths) > 0


def test_rater_variance_of_half_the_outputs_covers_at_the_level():
    rng = np.random.default_rng(12)
    found = []
    for _ in range(1000):
        pool = population("normal", rng, size=60, correlation=0.5)
        items = np.concatenate([np.arange(60), np.arange(30)])
        got = control_variates(pool.judge(items, rng), pool.metric[items], pool.metric, items=items)
        found.append(got.low <= pool.mean <= got.high)
    assert covers_exactly(found, 0.95)


def test_superpopulation_interval_covers_the_mean_of_pools():
    rng = np.random.default_rng(7)
    found = []
    for _ in range(1500):
        pool = population("normal", rng, size=100, correlation=0.8)
        items = judged_items(rng, size=100, n=40, judgments=1)
        got = control_variates(
            pool.judge(items, rng),
            pool.metric[items],
            pool.metric,
            items=items,
            target="superpopulation",
        )
        found.append(got.low <= 0 <= got.high)
    assert covers_exactly(found, 0.95)


@pytest.mark.parametrize("slope", [0.5, 1.5, "plug-in"])
@pytest.mark.parametrize("size", [100, 150])
def test_superpopulation_interval_covers_with_any_slope(slope, size):
    # without what residual and metric share, slope 0.5 covers 85% and 87%
    rng = np.random.default_rng(size)
    found = []
    for _ in range(1000):
        metric = rng.normal(size=size)
        human = metric + 0.3 * rng.normal(size=size)
        got = control_variates(
            human[:100],
            metric[:100],
            metric,
            items=range(100),
            slope=slope,
            target="superpopulation",
        )
        found.append(got.low <= 0 <= got.high)
    assert covers_exactly(found, 0.95)


def test_a_worthless_metric_costs_at_most_the_lost_degree_of_freedom():
    # expected length relative to the plain mean: the slope's uncertainty adds 1/(n - 3) to 1/n
    rng = np.random.default_rng(9)
    n, ratio = 30, []
    for _ in range(2000):
        pool = population("normal", rng, size=3000, correlation=0.0)
        items = judged_items(rng, size=3000, n=n, judgments=1)
        got = control_variates(pool.judge(items, rng), pool.metric[items], pool.metric, items=items)
        ratio.append((got.standard_error / got.baseline.standard_error) ** 2)
    assert np.mean(ratio) == pytest.approx(1 + 1 / (n - 3), rel=0.01)
